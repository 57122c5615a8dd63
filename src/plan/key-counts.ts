import type { Kind } from '../rest/paths.ts';

/** A collection of which rows are wanted by key. */
export interface KeyedCollection {
  readonly kind: Kind;
  readonly collection: string;
  /** Whether it is known whose collection it is. */
  readonly isKnown: boolean;
}

interface Count extends KeyedCollection {
  readonly keys: number;
}

/** How many rows of collections are wanted by key at moments of which nobody knows whether they are one. */
export class KeyCounts {
  readonly #counts = new Map<string, Count>();

  add(wanted: KeyedCollection, keys: number): void {
    const before = this.#counts.get(wanted.collection)?.keys ?? 0;
    this.#counts.set(wanted.collection, { ...wanted, keys: before + keys });
  }

  /** How many may be wanted at once of a collection, and of others that may turn out to be the same. */
  of(wanted: KeyedCollection): number {
    let keys = 0;
    for (const count of this.#counts.values()) if (mayBeOne(count, wanted)) keys += count.keys;
    return keys;
  }

  clear(): void {
    this.#counts.clear();
  }
}

/** Whether two collections may turn out to be the same. */
export function mayBeOne(one: KeyedCollection, other: KeyedCollection): boolean {
  return one.collection === other.collection || (one.kind === other.kind && !(one.isKnown && other.isKnown));
}
