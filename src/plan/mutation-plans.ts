import type { GraphQLObjectType } from 'graphql';
import { namesGlobally, parseIdWithOwner, parseOwnerId } from '../graphql/ids.ts';
import { toRequestBody } from '../graphql/request-body.ts';
import { type Endpoint, rowEndpoint } from '../look-ahead/endpoints.ts';
import { roleOf } from '../look-ahead/roles.ts';
import type { SelectedField } from '../look-ahead/selection.ts';
import { current, type Kind } from '../rest/paths.ts';
import { isObject } from '../rest/values.ts';
import { type Arguments, type Draft, pathOf } from './draft.ts';
import type { Moment } from './moments.ts';
import { keyed, type Objects, toObjects } from './objects.ts';

/** Plans mutations: one write each, one after the other, and nothing that was read before one is true after it. */
export function planMutations(draft: Draft, type: GraphQLObjectType, fields: readonly SelectedField[]): void {
  for (const selected of fields) {
    const role = roleOf(type, selected.field);
    if (role.kind !== 'write') continue;
    draft.withArguments(selected, (args) => planWrite(draft, type, selected, role.endpoint, args));
    draft.run();
    draft.forget();
  }
}

function planWrite(
  draft: Draft,
  type: GraphQLObjectType,
  selected: SelectedField,
  endpoint: Endpoint,
  args: Arguments,
): void {
  const payload = draft.answerOf(selected);
  if (payload === undefined) return;
  const target = targetOf(draft, endpoint, type, selected, args);
  const wave = Math.max(0, ...draft.ledger.calls.map((call) => call.wave));
  const path = selected.responseKey;
  const one = { upper: 1, rows: 1, paths: [path] };
  if (target.owner === 'read') {
    draft.ledger.add({ ...one, endpoint: rowEndpoint('Project'), moment: { wave, earlier: undefined }, lower: 1 });
  }
  const asked = target.owner === 'read' ? wave + 1 : wave;
  const lower = target.isCompared ? 0 : 1;
  draft.ledger.add({ ...one, endpoint, moment: { wave: asked, earlier: undefined }, lower });
  const moment: Moment = { wave: asked + 1, earlier: undefined };
  const isAnything = payload.getFields()['body'] !== undefined;
  const objects = writtenObjects(endpoint, target, moment, isAnything);
  const known = isAnything ? 'answered' : 'listed';
  for (const field of draft.fields(payload, selected)) {
    if (draft.answerOf(field)?.name !== endpoint.kind) continue;
    draft.schedule.at(moment, () => draft.plan({ objects, nodes: field.nodes, path: pathOf(path, field), known }));
  }
}

/** What a write is about, and what has to be known of its project or organization. */
interface Target {
  /** Undefined for objects that are created. */
  readonly id: string | undefined;
  readonly scope: string;
  /** Whether what `@current` stands for is read before the write. */
  readonly owner: 'given' | 'read';
  /** Whether the write is refused if that is another than a global id of the input names. */
  readonly isCompared: boolean;
}

/** Throws where the resolver would refuse the input, before any call. */
function targetOf(
  draft: Draft,
  { kind, isRow }: Endpoint,
  type: GraphQLObjectType,
  selected: SelectedField,
  args: Arguments,
): Target {
  const given = args.all['input'];
  const input = isObject(given) ? given : {};
  const ownerArgument = kind === 'Project' ? 'id' : kind === 'Plugin' ? 'organizationId' : 'projectId';
  const text = (name: string): string | undefined => (typeof input[name] === 'string' ? input[name] : undefined);
  const { id, scope } = keyOf(kind, isRow, text, ownerArgument);
  const info = { parentType: type, fieldName: selected.field.name };
  toRequestBody(input, info, kind === 'Project' ? id : scope);
  const payload = draft.answerOf(selected);
  const isTold = payload !== undefined && draft.answersScopes(payload, selected.nodes);
  const isCompared = text(ownerArgument) === current && namesGlobally(input);
  const isRead = text(ownerArgument) === current && (isTold || isCompared);
  return { id, scope, owner: isRead ? 'read' : 'given', isCompared };
}

function keyOf(
  kind: Kind,
  isRow: boolean,
  text: (name: string) => string | undefined,
  ownerArgument: string,
): { readonly id: string | undefined; readonly scope: string } {
  if (isRow) return parseIdWithOwner(kind, text('id') ?? '', text(ownerArgument), ownerArgument);
  if (kind === 'Project') return { id: undefined, scope: '' };
  const ownerType = kind === 'Plugin' ? 'Organization' : 'Project';
  return { id: undefined, scope: parseOwnerId(ownerType, text(ownerArgument) ?? '', ownerArgument) };
}

/** The object that a write answers, with all its columns unless the answer may be anything. */
function writtenObjects(
  { kind, method }: Endpoint,
  { id = '', scope, owner: from, isCompared }: Target,
  moment: Moment,
  isAnything: boolean,
): Objects {
  // A write that is planned succeeds; what was deleted is mostly not answered.
  const certain = method !== 'DELETE' && !isCompared;
  const { owner } = keyed({ kind, scope, id }, moment, certain);
  const real =
    from === 'read' && owner !== undefined ? toObjects({ type: owner.type, group: realOwner, moment }) : owner;
  const view = isAnything ? undefined : 'detail';
  return toObjects({ type: kind, group: `the ${kind} that was written`, owner: real, view, moment, certain });
}

/** The project or organization that `@current` turned out to be: no key of the operation tells it. */
const realOwner = 'what @current stands for';
