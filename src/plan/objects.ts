import type { View } from '../loaders/row-store.ts';
import { type NodeType, type Noun, ownerTypeOf } from '../rest/nouns.ts';
import { current, type Key } from '../rest/paths.ts';
import type { Stage } from './schedule.ts';

/** Objects that an operation may come upon in one place of its answer. */
export interface Objects {
  readonly type: NodeType;
  /** Equal for objects of one list, or with one key; with `from` and `to` it says which objects these are. */
  readonly group: string;
  readonly from: number;
  readonly to: number;
  /** The upstream id, where the arguments tell it. */
  readonly id: string | undefined;
  readonly owner: Objects | undefined;
  /** At how many owners such objects are, at most. */
  readonly owners: number;
  /** Whether what they need is read in any case. */
  readonly certain: boolean;
  /** The view of the row that they come with. */
  readonly view: View | undefined;
  /** When their keys are known. */
  readonly stage: Stage;
}

/** What objects can be made of. */
type Parts = Pick<Objects, 'type' | 'group' | 'stage'> & Partial<Objects>;

/** One object at each owner, unless `from` and `to` say otherwise. */
export function toObjects(parts: Parts): Objects {
  const { owner, owners = owner === undefined ? 1 : most(owner) } = parts;
  return { from: 0, to: 1, id: undefined, owner, certain: false, view: undefined, ...parts, owners };
}

/** The object with a key, and its owner by its scope. */
export function keyed({ noun, scope, id }: Key, stage: Stage, certain: boolean): Objects {
  const owner = scope === '' ? undefined : ownerOf(noun, scope, stage, certain);
  return toObjects({ type: noun, group: `${noun}:${scope}:${id}`, id, owner, owners: 1, stage, certain });
}

/** An organization by its id. */
export function keyedOrganization(id: string, stage: Stage, certain: boolean): Objects {
  return toObjects({ type: 'Organization', group: `Organization:${id}`, id, stage, certain });
}

function ownerOf(noun: Noun, scope: string, stage: Stage, certain: boolean): Objects {
  if (ownerTypeOf(noun) === 'Organization') return keyedOrganization(scope, stage, certain);
  return keyed({ noun: 'Project', scope: '', id: scope }, stage, certain);
}

/** How many objects these are at most. */
export function most({ owners, from, to }: Objects): number {
  return owners * (to - from);
}

/** The objects as text: equal for equal objects. */
export function textOf({ group, from, to }: Objects): string {
  return from === 0 && to === 1 ? group : `${group}[${from},${to})`;
}

/** The collection of a noun at an owner as text. */
export function collectionText(noun: Noun, owner: Objects | undefined): string {
  return owner === undefined ? noun : `${noun} of ${textOf(owner)}`;
}

/** Whether the owner of objects is known by its id; if not, it may be one that is known otherwise. */
export function isOwnerKnown(owner: Objects | undefined): boolean {
  return owner === undefined || owner.id !== undefined;
}

/** Whether an object is the `@current` one: only the row of that project can tell which it is. */
export function isCurrent(objects: Objects | undefined): boolean {
  return objects?.id === current;
}

/** The project whose row tells what `@current` stands for. */
export function currentProject(stage: Stage, certain: boolean): Objects {
  return keyed({ noun: 'Project', scope: '', id: current }, stage, certain);
}
