import { namesGlobally } from '../graphql/ids.ts';
import { checkedWrite, ownerArgumentOf, textIn } from '../graphql/mutation-body.ts';
import { mutationReach } from '../graphql/reach-refusals.ts';
import { answersOwnerIds } from '../look-ahead/needs.ts';
import { type SelectedField } from '../look-ahead/selection-tree.ts';
import type { Noun } from '../rest/nouns.ts';
import { current } from '../rest/paths.ts';
import { type RestOperation, rowOperations } from '../rest/rest-operations.ts';
import { objectByKey, pathOf, type Stage, toObjects } from './objects.ts';
import type { Arguments, PlanBuilder } from './plan-builder.ts';

/** Plans mutations, one after the other. Agrees with `resolvers/writes.ts`. */
export function planMutations(builder: PlanBuilder, fields: readonly SelectedField[]): void {
  for (const selected of fields) {
    const { origin } = selected;
    if (origin.kind !== 'write') continue;
    builder.withArguments(selected, (args) => planWrite(builder, selected, origin.endpoint, args));
    builder.run();
    builder.forget();
  }
}

function planWrite(builder: PlanBuilder, selected: SelectedField, endpoint: RestOperation, args: Arguments): void {
  const { parent, field, inside: payload, responseKey: path } = selected;
  if (payload === undefined) return;
  const { noun, method, isRow } = endpoint;
  const { input = {} } = args;
  const ownerText = textIn(input, ownerArgumentOf(noun));
  const reach = mutationReach(builder.options.rights, field.name);
  const info = { parentType: parent, fieldName: field.name };
  // Throws if the resolver would refuse the input. The `key` of a new object has an empty id.
  const { key, keysToRead } = checkedWrite({ noun, isNew: !isRow, input }, ownerText, info, reach);
  const isCompared = ownerText === current && namesGlobally(input);
  const isOwnerRead = isCompared || (ownerText === current && answersOwnerIds(payload));
  const reads: readonly Noun[] = [...(isOwnerRead ? (['Project'] as const) : []), ...keysToRead.map((one) => one.noun)];
  // The write is not sent if these reads show that its input names something of another owner.
  const mayBeRefused = isCompared || keysToRead.length > 0;
  const wave = Math.max(0, ...builder.calls.all.map((call) => call.wave));
  const one = { upper: 1, rows: 1, paths: [path] };
  for (const read of reads) {
    builder.calls.add({ ...one, endpoint: rowOperations[read].get, stage: { wave, earlier: undefined }, lower: 1 });
  }
  const asked = reads.length === 0 ? wave : wave + 1;
  builder.calls.add({ ...one, endpoint, stage: { wave: asked, earlier: undefined }, lower: mayBeRefused ? 0 : 1 });
  const stage: Stage = { wave: asked + 1, earlier: undefined };
  // Most upstreams answer a delete without the deleted object.
  const certain = method !== 'DELETE' && !mayBeRefused;
  const { owner: named } = objectByKey({ ...key, type: noun }, stage, certain);
  const isReal = isOwnerRead && named !== undefined;
  const owner = isReal ? toObjects({ type: named.type, group: realOwner, stage }) : named;
  const isAnything = payload.type.getFields()['body'] !== undefined;
  const view = isAnything ? undefined : 'detail';
  const objects = toObjects({ type: noun, group: `the ${noun} that was written`, owner, view, stage, certain });
  for (const member of payload.fields) {
    if (member.inside?.type.name !== noun) continue;
    const existence = isAnything ? 'answered' : 'listed';
    const place = { objects, selection: member.below, path: pathOf(path, member), existence } as const;
    builder.schedule.at(stage, () => builder.plan(place));
  }
}

/** The group of the project or organization that `@current` stands for. */
const realOwner = 'what @current stands for';
