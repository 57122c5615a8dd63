import type { GraphQLObjectType } from 'graphql';
import { parseIdWithOwner, parseOwnerId } from '../graphql/ids.ts';
import { toRequestBody } from '../graphql/request-body.ts';
import type { Key } from '../rest/paths.ts';
import { isObject } from '../rest/values.ts';
import { type Arguments, type Draft, pathOf } from './draft.ts';
import type { Endpoint } from './endpoints.ts';
import type { Moment } from './moments.ts';
import { keyed, type Objects, toObjects } from './objects.ts';
import { roleOf } from './roles.ts';
import type { SelectedField } from './selection.ts';

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
  const wave = Math.max(0, ...draft.ledger.calls.map((call) => call.wave));
  const target = targetOf(endpoint, type, selected, args);
  const path = selected.responseKey;
  draft.ledger.add({
    endpoint,
    moment: { wave, earlier: undefined },
    lower: 1,
    upper: 1,
    rows: 1,
    paths: [path],
  });
  const payload = draft.answerOf(selected);
  if (payload === undefined) return;
  const moment: Moment = { wave: wave + 1, earlier: undefined };
  const fields = draft.fields(payload, selected);
  // Where the answer may be anything, the object is read when it is not there.
  const isAnything = payload.getFields()['body'] !== undefined;
  for (const field of fields) {
    if (draft.answerOf(field)?.name !== endpoint.kind) continue;
    const objects = writtenObjects(endpoint, target, moment, isAnything);
    const known = isAnything ? 'assumed' : 'listed';
    draft.schedule.at(moment, () => draft.plan({ objects, nodes: field.nodes, path: pathOf(path, field), known }));
  }
}

/** What a write is about: its own key, or only its owner's id. */
interface Target {
  readonly key: Key | undefined;
  readonly ownerId: string;
}

/** Throws where the resolver would refuse the input, before any call. */
function targetOf(endpoint: Endpoint, type: GraphQLObjectType, { field }: SelectedField, args: Arguments): Target {
  const { kind, isRow } = endpoint;
  const given = args.all['input'];
  const input = isObject(given) ? given : {};
  const text = (name: string): string | undefined => (typeof input[name] === 'string' ? input[name] : undefined);
  const ownerArgument = kind === 'Plugin' ? 'organizationId' : 'projectId';
  const info = { parentType: type, fieldName: field.name };
  if (isRow) {
    const key = parseIdWithOwner(kind, text('id') ?? '', text(ownerArgument), ownerArgument);
    toRequestBody(input, info, kind === 'Project' ? key.id : key.scope);
    return { key, ownerId: key.scope };
  }
  if (kind === 'Project') {
    toRequestBody(input, info);
    return { key: undefined, ownerId: '' };
  }
  const ownerType = kind === 'Plugin' ? 'Organization' : 'Project';
  const ownerId = parseOwnerId(ownerType, text(ownerArgument) ?? '', ownerArgument);
  toRequestBody(input, info, ownerId);
  return { key: undefined, ownerId };
}

/** The object that a write answers, with all its columns. */
function writtenObjects({ kind }: Endpoint, { key, ownerId }: Target, moment: Moment, isAnything: boolean): Objects {
  const known = keyed({ kind, scope: ownerId, id: key?.id ?? '' }, moment, false);
  if (isAnything && key !== undefined) return known;
  return toObjects({ type: kind, group: `the ${kind} that was written`, owner: known.owner, view: 'detail', moment });
}
