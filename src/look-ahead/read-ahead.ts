import { defaultFieldResolver, type GraphQLFieldResolver, type GraphQLResolveInfo, type GraphQLSchema } from 'graphql';
import { AnswerCounter } from '../answer-counter.ts';
import type { GatewayContext } from '../context.ts';
import { objectFields } from '../graphql/attach-resolvers.ts';
import { isRowType } from '../graphql/field-mapping.ts';
import { RowRecord, type StartedRelations } from '../graphql/records.ts';
import { memoize } from '../memoize.ts';
import { MemoryRoom } from '../memory.ts';
import { withRow } from './early-records.ts';
import { originOf } from './field-origins.ts';
import { variablesOf } from './operation-trees.ts';
import { type ObjectSelection, type SelectedField } from './selection-tree.ts';

// The executor resolves the fields of an object only once it has the object, and may have to wait for the object's row.
// Reads that need only the object's key begin before that. `fetchRecord` (resolvers/by-id.ts) starts them:
//   - Relations of the object are started (`startRelations`). The executor later gets their answers.
//   - What is selected below them is read ahead (`readAhead`). The answers are dropped, but the loaders keep what was
//     read.
//   - In an answer in parts, the executor may get the object itself before its row (`withLaterForms` in
//     early-records.ts).

const nothingStarted: StartedRelations = new Map();

/**
 * Starts the relations of an object whose key is known. Their resolvers run with a record that holds only the key.
 * Later, the fields find the answers on the record that their parent answers (see `attachStarted`).
 */
export function startRelations(
  relations: readonly SelectedField[],
  record: RowRecord,
  context: GatewayContext,
  info: GraphQLResolveInfo,
): StartedRelations {
  if (relations.length === 0) return nothingStarted;
  const started = new Map<string, Promise<unknown>>();
  for (const relation of relations) {
    const answer = resolveField(relation, record, context, info);
    // The failure of an answer that the executor does not ask for must not be an unhandled rejection.
    answer.catch(ignore);
    started.set(relation.responseKey, answer);
  }
  return started;
}

async function resolveField(
  selected: SelectedField,
  parent: unknown,
  context: GatewayContext,
  info: GraphQLResolveInfo,
): Promise<unknown> {
  const args = selected.argumentsWith(() => variablesOf(info));
  const resolve = selected.field.resolve ?? defaultFieldResolver;
  return resolve(parent, args, context, infoOf(selected, info));
}

/** The `info` that the executor would give the resolver of a field. `above` is the `info` of the field's parent. */
function infoOf({ parent, field, nodes, responseKey }: SelectedField, above: GraphQLResolveInfo): GraphQLResolveInfo {
  const path = { prev: above.path, key: responseKey, typename: parent.name };
  return { ...above, fieldName: field.name, fieldNodes: nodes, returnType: field.type, parentType: parent, path };
}

/**
 * Reads what is selected below each of `relations` as soon as the relation is answered, until `row` has settled. From
 * then on, the executor makes these reads. `row` is the row of the object that has the relations.
 */
export function readAhead(
  relations: readonly SelectedField[],
  started: StartedRelations,
  row: Promise<unknown>,
  context: GatewayContext,
  info: GraphQLResolveInfo,
): void {
  const withCalls = relations.filter(needsCallBelow);
  if (withCalls.length === 0) return;
  let isRowAwaited = true;
  const end = (): void => {
    isRowAwaited = false;
  };
  row.then(end, end);
  const isStillAhead = (): boolean => isRowAwaited && context.isStillAhead?.() !== false;
  // The executor counts the objects, so they are not counted here. Without `parts`, the reads are those of an answer
  // that is sent whole. Otherwise, answers in parts would make further calls.
  const answerCounter = new AnswerCounter(unlimited, endlessRoom, context.answerCounter.deadline);
  const ahead = { ...context, answerCounter, isStillAhead, parts: undefined };
  // An answer may arrive in the same turn as `row`. Each `then` here and in `readBelow` lets callbacks of the row run
  // first: if the object turns out to be absent, nothing is read below it.
  for (const relation of withCalls) {
    const goOn = (value: unknown): Promise<void> => readBelow(relation, value, ahead, infoOf(relation, info));
    const answer = started.get(relation.responseKey);
    (context.parts === undefined ? answer : answer?.then(completed))?.then(goOn).catch(ignore);
  }
}

/** The value of a relation as in an answer that is sent whole: a record has its row. */
function completed(value: unknown): unknown {
  return (value instanceof RowRecord ? withRow(value) : undefined) ?? value;
}

/**
 * Resolves what is selected below `field` and may need calls. `value` is the answer of `field`, and `info` is what its
 * resolver gets. Ends when the executor takes over, or if the object does not exist.
 */
async function readBelow(
  field: SelectedField,
  value: unknown,
  context: GatewayContext,
  info: GraphQLResolveInfo,
): Promise<void> {
  const source = await value;
  if (context.isStillAhead?.() === false) return;
  if (source === null || source === undefined || source instanceof Error) return;
  if (Array.isArray(source)) {
    for (const item of source) readBelow(field, item, context, info).catch(ignore);
    return;
  }
  for (const selected of field.inside?.fields ?? []) {
    if (!needsCall(selected)) continue;
    resolveField(selected, source, context, info)
      .then(completed)
      .then((answer) => readBelow(selected, answer, context, infoOf(selected, info)))
      .catch(ignore);
  }
}

/** True if a field, or anything selected below it, may need a REST call. */
function needsCall(selected: SelectedField): boolean {
  const { origin } = selected;
  return 'endpoint' in origin || ('view' in origin && origin.view === 'detail') || needsCallBelow(selected);
}

function needsCallBelow({ inside }: SelectedField): boolean {
  return inside !== undefined && needsCallInside(inside);
}

const needsCallInside: (selection: ObjectSelection) => boolean = memoize(({ fields }) => fields.some(needsCall));

const unlimited = { maxAnswerObjects: Infinity, maxAnswerBytes: Infinity };
const endlessRoom = new MemoryRoom(Infinity);

function ignore(): void {
  // The executor makes the same read and reports the failure.
}

/** Makes every relation of a row's object answer with what was started for it. If nothing was, its resolver runs. */
export function attachStarted(schema: GraphQLSchema): void {
  for (const field of objectFields(schema)) {
    const isOfRow = isRowType(field.parentType?.name ?? '');
    if (isOfRow && field.resolve !== undefined && 'endpoint' in originOf(field))
      field.resolve = preferStarted(field.resolve);
  }
}

function preferStarted(
  resolve: GraphQLFieldResolver<unknown, GatewayContext>,
): GraphQLFieldResolver<{ readonly started?: StartedRelations }, GatewayContext> {
  return (parent, args, context, info) =>
    parent.started?.get(String(info.path.key)) ?? resolve(parent, args, context, info);
}
