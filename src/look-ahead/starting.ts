import { defaultFieldResolver, type GraphQLFieldResolver, type GraphQLResolveInfo, type GraphQLSchema } from 'graphql';
import { AnswerCounter } from '../answer-counter.ts';
import type { GatewayContext } from '../context.ts';
import { objectFields } from '../graphql/attach-resolvers.ts';
import { RowRecord, type StartedRelations } from '../graphql/records.ts';
import { memoize } from '../memoize.ts';
import { MemoryRoom } from '../memory.ts';
import { withRow } from './deferred-records.ts';
import { originOf } from './field-origins.ts';
import { variablesOf } from './operation-trees.ts';
import { type ObjectSelection, type SelectedField } from './selection-tree.ts';

const nothingStarted: StartedRelations = new Map();

/**
 * Starts the relations of an object whose key is known. Their resolvers run with a record that holds only the key.
 * Later, the fields find the results on the record that their parent answers (see `attachStarted`).
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
    const result = startRelation(relation, record, context, info);
    // The failure of a result that the executor does not ask for must not be an unhandled rejection.
    result.catch(() => undefined);
    started.set(relation.responseKey, result);
  }
  return started;
}

async function startRelation(
  selected: SelectedField,
  record: unknown,
  context: GatewayContext,
  info: GraphQLResolveInfo,
): Promise<unknown> {
  const args = selected.argumentsWith(() => variablesOf(info));
  const resolve = selected.field.resolve ?? defaultFieldResolver;
  return resolve(record, args, context, infoBelow(selected, info));
}

function infoBelow({ parent, field, nodes, responseKey }: SelectedField, info: GraphQLResolveInfo): GraphQLResolveInfo {
  const path = { prev: info.path, key: responseKey, typename: parent.name };
  return { ...info, fieldName: field.name, fieldNodes: nodes, returnType: field.type, parentType: parent, path };
}

/**
 * Starts the reads below each of `relations` as soon as the relation is answered, until `awaited` has settled. The
 * executor cannot start them yet, because it waits for `awaited`, the row of the object that has the relations. The
 * loaders keep the results for the executor.
 */
export function startBelow(
  started: StartedRelations,
  relations: readonly SelectedField[],
  awaited: Promise<unknown>,
  context: GatewayContext,
  info: GraphQLResolveInfo,
): void {
  const expensive = relations.filter(costsBelow);
  if (expensive.length === 0) return;
  let isAwaited = true;
  const end = (): void => {
    isAwaited = false;
  };
  awaited.then(end, end);
  const isAhead = (): boolean => isAwaited && context.isAhead?.() !== false;
  // These objects are not counted here, because the executor counts them. They are read as for an answer that is sent
  // whole, so that answers in parts make no further calls.
  const ahead = { ...context, answerCounter: new AnswerCounter(unlimited, endless, ignore), isAhead, parts: undefined };
  for (const relation of expensive) {
    const goOn = (value: unknown): Promise<void> => startFields(relation, value, ahead, infoBelow(relation, info));
    const answer = started.get(relation.responseKey);
    (context.parts === undefined ? answer : answer?.then(completed))?.then(goOn).catch(ignore);
  }
}

/** The value of a relation as in an answer that is sent whole: a record has its row. */
function completed(value: unknown): unknown {
  return (value instanceof RowRecord ? withRow(value) : undefined) ?? value;
}

/**
 * Runs the fields below the field `answering` that cost calls. `value` is the answer of `answering`, and `info` the one
 * that its resolver gets. The results are dropped, but the loaders keep what was read. The run ends when the executor
 * takes over, or if the object does not exist.
 */
async function startFields(
  answering: SelectedField,
  value: unknown,
  context: GatewayContext,
  info: GraphQLResolveInfo,
): Promise<void> {
  const source = await value;
  if (context.isAhead?.() === false) return;
  if (source === null || source === undefined || source instanceof Error) return;
  if (Array.isArray(source)) {
    for (const item of source) startFields(answering, item, context, info).catch(ignore);
    return;
  }
  for (const selected of answering.inside?.fields ?? []) {
    if (!costs(selected)) continue;
    startRelation(selected, source, context, info)
      .then(completed)
      .then((answer) => startFields(selected, answer, context, infoBelow(selected, info)))
      .catch(ignore);
  }
}

/** True if a field, or anything selected below it, may cost a call. */
function costs(selected: SelectedField): boolean {
  const { origin } = selected;
  return 'endpoint' in origin || ('view' in origin && origin.view === 'detail') || costsBelow(selected);
}

function costsBelow({ inside }: SelectedField): boolean {
  return inside !== undefined && costsInside(inside);
}

const costsInside: (selection: ObjectSelection) => boolean = memoize(({ fields }) => fields.some(costs));

const unlimited = { maxAnswerObjects: Infinity, maxAnswerBytes: Infinity };
const endless = new MemoryRoom(Infinity);

function ignore(): void {
  // The executor makes the same read and reports the failure.
}

/** Makes every relation answer with the result that was started for it. If none was started, its own resolver runs. */
export function attachStarted(schema: GraphQLSchema): void {
  for (const [type, field] of objectFields(schema)) {
    const isRoot = type === schema.getQueryType() || type === schema.getMutationType();
    if (isRoot || field.resolve === undefined || !('endpoint' in originOf(type, field))) continue;
    field.resolve = preferStarted(field.resolve);
  }
}

function preferStarted(
  resolve: GraphQLFieldResolver<unknown, GatewayContext>,
): GraphQLFieldResolver<{ readonly started?: StartedRelations }, GatewayContext> {
  return (parent, args, context, info) =>
    parent.started?.get(String(info.path.key)) ?? resolve(parent, args, context, info);
}
