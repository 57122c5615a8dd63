import type { View } from '../loaders/row-store.ts';
import type { Existence } from '../look-ahead/needs.ts';
import { type Selection } from '../look-ahead/selection-tree.ts';
import { type NodeType, type Noun, ownerTypeOf } from '../rest/nouns.ts';
import { current, type Key } from '../rest/paths.ts';

/** A point in the run of an operation: the rows that are known after a number of waves. */
export interface Stage {
  readonly wave: number;
  /** The stage before it; undefined at the start of an operation and at the answer of a write. */
  readonly earlier: Stage | undefined;
}

/** The stage at which an operation begins. */
export const start: Stage = { wave: 0, earlier: undefined };

/** The stage at which the answer of a call has arrived that was made at another stage. */
export function after(stage: Stage, waves = 1): Stage {
  return { wave: stage.wave + waves, earlier: stage };
}

/** True if `one` is `other`, or a stage before it. */
export function isBefore(one: Stage, other: Stage): boolean {
  for (let at: Stage | undefined = other; at !== undefined; at = at.earlier) if (at === one) return true;
  return false;
}

/** The objects that one place of an answer may hold. */
export interface Objects {
  readonly type: NodeType;
  /** Equal for objects of one list, or with one key. With `from` and `to` it says which objects these are. */
  readonly group: string;
  readonly from: number;
  readonly to: number;
  /** The upstream id, if the arguments have it. */
  readonly id: string | undefined;
  readonly owner: Objects | undefined;
  /** At how many owners such objects are, at most. */
  readonly owners: number;
  /** True if what they need is read in any case. */
  readonly certain: boolean;
  /** The view of the row that they come with. */
  readonly view: View | undefined;
  /** The stage at which their keys are known. */
  readonly stage: Stage;
}

/** The facts that objects are made of. */
type Facts = Pick<Objects, 'type' | 'group' | 'stage'> & Partial<Objects>;

/** One object at each owner, unless `from` and `to` say otherwise. */
export function toObjects(facts: Facts): Objects {
  const { owner, owners = owner === undefined ? 1 : most(owner) } = facts;
  return { from: 0, to: 1, id: undefined, owner, certain: false, view: undefined, ...facts, owners };
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

/** The most objects that these are. */
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

/** True if the owner is known by its id. If it is not, it may turn out to be one that is. */
export function isOwnerKnown(owner: Objects | undefined): boolean {
  return owner === undefined || owner.id !== undefined;
}

/** True if an object is the `@current` one: only the row of that project can tell which it is. */
export function isCurrent(objects: Objects | undefined): boolean {
  return objects?.id === current;
}

/** The project that `@current` stands for, by its row. */
export function currentProject(stage: Stage, certain: boolean): Objects {
  return keyed({ noun: 'Project', scope: '', id: current }, stage, certain);
}

/** A collection of which rows are wanted by key. */
export interface KeyedCollection {
  readonly noun: Noun;
  readonly collection: string;
  /** True if it is known whose collection it is. */
  readonly isKnown: boolean;
}

interface Count extends KeyedCollection {
  /** The number of rows for which each text stands. */
  readonly rows: Map<string, number>;
}

/** Counts the rows that are wanted by key at stages which may turn out to be the same time. */
export class KeyCounts {
  readonly #counts = new Map<string, Count>();

  /** Adds rows; `text` is equal for equal ones. */
  add(wanted: KeyedCollection, text: string, count: number): void {
    const rows = this.#counts.get(wanted.collection)?.rows ?? new Map<string, number>();
    this.#counts.set(wanted.collection, { ...wanted, rows: rows.set(text, count) });
  }

  /** The most rows that may be wanted at once of a collection, and of collections that may turn out to be the same one. */
  of(wanted: KeyedCollection): number {
    let keys = 0;
    for (const count of this.#counts.values()) {
      if (mayBeOne(count, wanted)) for (const rows of count.rows.values()) keys += rows;
    }
    return keys;
  }

  clear(): void {
    this.#counts.clear();
  }
}

/** True if two collections may turn out to be the same. */
export function mayBeOne(one: KeyedCollection, other: KeyedCollection): boolean {
  return one.collection === other.collection || (one.noun === other.noun && !(one.isKnown && other.isKnown));
}

/** Objects of the answer, their place in it, and what is selected on them. */
export interface SelectedObjects {
  readonly objects: Objects;
  readonly selection: Selection;
  readonly path: string;
  readonly known: Known;
}

/** The way in which the objects of a place are found. */
export type Known =
  | Existence
  // A list or a write answered their rows.
  | 'listed'
  // An action answered them, or they are read by their key if it answered something else.
  | 'answered'
  // As the organization of plugins, whose rows have its name.
  | 'named';
