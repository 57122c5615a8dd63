import { namesGlobally } from '../graphql/ids.ts';
import { checkedWrite, ownerArgumentOf, textIn } from '../graphql/mutation-body.ts';
import { mutationReach } from '../graphql/narrowing.ts';
import { answersScopes } from '../look-ahead/needs.ts';
import { type SelectedField } from '../look-ahead/selection-tree.ts';
import { type Endpoint, rowEndpoint } from '../rest/endpoints.ts';
import type { Noun } from '../rest/nouns.ts';
import { current, type Key } from '../rest/paths.ts';
import { isObject } from '../rest/values.ts';
import { keyed, type Objects, type Stage, toObjects } from './objects.ts';
import { type Arguments, type PlanBuilder, pathOf } from './plan-builder.ts';

/**
 * Plans mutations, each as one write after the previous one. Rows that were read before a write are not used after it.
 * Agrees with `resolvers/writes.ts`.
 */
export function planMutations(builder: PlanBuilder, fields: readonly SelectedField[]): void {
  for (const selected of fields) {
    const { role } = selected;
    if (role.kind !== 'write') continue;
    builder.withArguments(selected, (args) => planWrite(builder, selected, role.endpoint, args));
    builder.run();
    builder.forget();
  }
}

function planWrite(builder: PlanBuilder, selected: SelectedField, endpoint: Endpoint, args: Arguments): void {
  const payload = selected.inside;
  if (payload === undefined) return;
  const target = targetOf(builder, endpoint, selected, args);
  const wave = Math.max(0, ...builder.calls.all.map((call) => call.wave));
  const path = selected.responseKey;
  const one = { upper: 1, rows: 1, paths: [path] };
  for (const noun of target.reads) {
    builder.calls.add({ ...one, endpoint: rowEndpoint(noun), stage: { wave, earlier: undefined }, lower: 1 });
  }
  const asked = target.reads.length === 0 ? wave : wave + 1;
  const lower = target.mayBeRefused ? 0 : 1;
  builder.calls.add({ ...one, endpoint, stage: { wave: asked, earlier: undefined }, lower });
  const stage: Stage = { wave: asked + 1, earlier: undefined };
  const isAnything = payload.type.getFields()['body'] !== undefined;
  const objects = writtenObjects(endpoint, target, stage, isAnything);
  const known = isAnything ? 'answered' : 'listed';
  for (const field of payload.fields) {
    if (field.inside?.type.name !== endpoint.noun) continue;
    const place = { objects, selection: field.below, path: pathOf(path, field), known } as const;
    builder.schedule.at(stage, () => builder.plan(place));
  }
}

/** The object of a write, and the facts about its project or organization that have to be known. */
interface Target {
  /** The key of the object. Its id is empty for objects that are created. */
  readonly key: Key;
  /** True if the owner is the project or organization that `@current` stands for, and not the owner in the key. */
  readonly isOwnerRead: boolean;
  /**
   * The objects that are read before the write: the one that `@current` stands for, and those that the input of a
   * narrowed caller names.
   */
  readonly reads: readonly Noun[];
  /** True if the write is sent only if these reads show that its input names nothing of another owner. */
  readonly mayBeRefused: boolean;
}

/** The target of a write. Throws before any call if the resolver would refuse the input. */
function targetOf(
  builder: PlanBuilder,
  { noun, isRow }: Endpoint,
  { parent, field, inside }: SelectedField,
  args: Arguments,
): Target {
  const given = args.all['input'];
  const input = isObject(given) ? given : {};
  const owner = textIn(input, ownerArgumentOf(noun));
  const info = { parentType: parent, fieldName: field.name };
  const reach = mutationReach(builder.options.tenant, field.name);
  const { key, toShow } = checkedWrite({ noun, isNew: !isRow, input }, owner, info, reach);
  const answersIds = inside !== undefined && answersScopes(inside);
  const isCompared = owner === current && namesGlobally(input);
  const isOwnerRead = owner === current && (answersIds || isCompared);
  const shown = toShow.map((one) => one.noun);
  const reads = isOwnerRead ? (['Project', ...shown] as const) : shown;
  return { key, isOwnerRead, reads, mayBeRefused: isCompared || shown.length > 0 };
}

/** The object that a write answers. It has all its columns, unless the upstream may answer anything. */
function writtenObjects(
  { noun, method }: Endpoint,
  { key, isOwnerRead, mayBeRefused }: Target,
  stage: Stage,
  isAnything: boolean,
): Objects {
  // Plans assume that writes succeed. Most upstreams do not answer a deleted object.
  const certain = method !== 'DELETE' && !mayBeRefused;
  const { owner } = keyed(key, stage, certain);
  const real = isOwnerRead && owner !== undefined ? toObjects({ type: owner.type, group: realOwner, stage }) : owner;
  const view = isAnything ? undefined : 'detail';
  return toObjects({ type: noun, group: `the ${noun} that was written`, owner: real, view, stage, certain });
}

/** The group of the project or organization that `@current` stands for: no key of the operation names it. */
const realOwner = 'what @current stands for';
