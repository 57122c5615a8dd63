import type { NodeId } from '../graphql/ids.ts';
import type { View } from '../loaders/row-store.ts';
import type { Existence } from '../look-ahead/needs.ts';
import type { SelectedField, Selection } from '../look-ahead/selection-tree.ts';
import { type NodeType, type Noun, ownerTypeOf } from '../rest/nouns.ts';
import { current } from '../rest/paths.ts';

/** A point in the execution of an operation, at which the answers of a number of waves have arrived. */
export interface Stage {
  readonly wave: number;
  /** The previous stage; undefined at the start of an operation and at the answer of a write. */
  readonly earlier: Stage | undefined;
}

/** The stage at which an operation begins. */
export const start: Stage = { wave: 0, earlier: undefined };

/** The stage at which the answer to a call that is made at `stage` has arrived. */
export function after(stage: Stage, waves = 1): Stage {
  return { wave: stage.wave + waves, earlier: stage };
}

/** The later of two stages. */
export function later(one: Stage, other: Stage): Stage {
  return one.wave > other.wave ? one : other;
}

/** True if `one` is `other` or an earlier stage. */
export function isBefore(one: Stage, other: Stage): boolean {
  for (let at: Stage | undefined = other; at !== undefined; at = at.earlier) if (at === one) return true;
  return false;
}

/** The objects that one place of an answer may hold. */
export interface PlannedObjects {
  readonly type: NodeType;
  /**
   * The source of the objects, such as a list, the end of a list, or a key. Together with `from` and `to`, it
   * identifies the objects.
   */
  readonly group: string;
  readonly from: number;
  readonly to: number;
  /** The upstream id, if an argument gives it. */
  readonly id: string | undefined;
  readonly owner: PlannedObjects | undefined;
  /** The maximum number of owners that have such objects. */
  readonly ownerCount: number;
  /** True if the rows and relations that the objects need are read in any case. */
  readonly certain: boolean;
  readonly view: View | undefined;
  readonly stage: Stage;
}

type Facts = Pick<PlannedObjects, 'type' | 'group' | 'stage'> & Partial<PlannedObjects>;

/** Makes objects: one for each owner, unless `from` and `to` say otherwise. */
export function toObjects(facts: Facts): PlannedObjects {
  const { owner, ownerCount = mostOf(owner) } = facts;
  return { from: 0, to: 1, id: undefined, owner, certain: false, view: undefined, ...facts, ownerCount };
}

/** The object with this key. Its owner is the project or organization in the key's scope. */
export function objectByKey({ type, scope, id }: NodeId, stage: Stage, certain: boolean): PlannedObjects {
  const ownerType = ownerTypeOf(type);
  const owner = ownerType && objectByKey({ type: ownerType, scope: '', id: scope }, stage, certain);
  return toObjects({ type, group: `${type}:${scope}:${id}`, id, owner, ownerCount: 1, stage, certain });
}

/** The maximum number of the objects. `undefined` stands for the query itself, which is one object. */
export function mostOf(objects: PlannedObjects | undefined): number {
  return objects === undefined ? 1 : objects.ownerCount * (objects.to - objects.from);
}

/** The objects as text. Equal objects have equal texts. */
export function objectsText({ group, from, to }: PlannedObjects): string {
  return from === 0 && to === 1 ? group : `${group}[${from},${to})`;
}

/** The collection of a noun at an owner as text. */
export function collectionText(noun: Noun, owner: PlannedObjects | undefined): string {
  return owner === undefined ? noun : `${noun} of ${objectsText(owner)}`;
}

/** True if an object is the `@current` project or organization. Only the row of that project tells its id. */
export function isCurrent(objects: PlannedObjects | undefined): boolean {
  return objects?.id === current;
}

/** A collection whose rows or pages are wanted. */
export interface PlannedCollection {
  readonly noun: Noun;
  readonly collection: string;
  /** True if the id of the owner is known. Otherwise the owner may turn out to be one whose id is known elsewhere. */
  readonly isKnown: boolean;
}

/** The collection of a noun at an owner. */
export function collectionAt(noun: Noun, owner: PlannedObjects | undefined): PlannedCollection {
  return { noun, collection: collectionText(noun, owner), isKnown: owner === undefined || owner.id !== undefined };
}

/** True if two collections are the same, or may turn out to be. */
export function mayBeOne(one: PlannedCollection, other: PlannedCollection): boolean {
  return one.collection === other.collection || (one.noun === other.noun && !(one.isKnown && other.isKnown));
}

/** The response path of a field of the object at `parent`. */
export function pathOf(parent: string, { responseKey }: Pick<SelectedField, 'responseKey'>): string {
  return parent === '' ? responseKey : `${parent}.${responseKey}`;
}

/** Objects of the answer, their place in it, and what is selected on them. */
export interface SelectedObjects {
  readonly objects: PlannedObjects;
  readonly selection: Selection;
  readonly path: string;
  readonly existence: PlannedExistence;
}

/** The reason to believe that the objects of a place exist. */
export type PlannedExistence =
  | Existence
  // A list or a write answered their rows.
  | 'listed'
  // An action on a plugin answered them. If it answered something else, they are read by their key.
  | 'answered'
  // The row of a plugin names them as its organization, and has their name.
  | 'named';
