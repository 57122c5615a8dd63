import type { NodeType } from '../graphql/ids.ts';
import type { View } from '../loaders/row-store.ts';
import { current, type Key, type Kind } from '../rest/paths.ts';
import type { Moment } from './moments.ts';

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
  readonly moment: Moment;
}

/** What objects can be made of. */
type Parts = Pick<Objects, 'type' | 'group' | 'moment'> & Partial<Objects>;

/** One object at each owner, unless `from` and `to` say otherwise. */
export function toObjects(parts: Parts): Objects {
  const { owner, owners = owner === undefined ? 1 : most(owner) } = parts;
  return { from: 0, to: 1, id: undefined, owner, certain: false, view: undefined, ...parts, owners };
}

/** The object with a key, and its owner by its scope. */
export function keyed({ kind, scope, id }: Key, moment: Moment, certain: boolean): Objects {
  const owner = scope === '' ? undefined : ownerOf(kind, scope, moment, certain);
  return toObjects({ type: kind, group: `${kind}:${scope}:${id}`, id, owner, owners: 1, moment, certain });
}

/** An organization by its id. */
export function keyedOrganization(id: string, moment: Moment, certain: boolean): Objects {
  return toObjects({ type: 'Organization', group: `Organization:${id}`, id, moment, certain });
}

function ownerOf(kind: Kind, scope: string, moment: Moment, certain: boolean): Objects {
  if (kind === 'Plugin') return keyedOrganization(scope, moment, certain);
  return keyed({ kind: 'Project', scope: '', id: scope }, moment, certain);
}

/** How many objects these are at most. */
export function most({ owners, from, to }: Objects): number {
  return owners * (to - from);
}

/** The objects as text: equal for equal objects. */
export function textOf({ group, from, to }: Objects): string {
  return from === 0 && to === 1 ? group : `${group}[${from},${to})`;
}

/** The collection of a kind at an owner as text. */
export function collectionText(kind: Kind, owner: Objects | undefined): string {
  return owner === undefined ? kind : `${kind} of ${textOf(owner)}`;
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
export function currentProject(moment: Moment, certain: boolean): Objects {
  return keyed({ kind: 'Project', scope: '', id: current }, moment, certain);
}
