import type { Noun } from '../rest/nouns.ts';

/** A collection of which rows are wanted by key. */
export interface KeyedCollection {
  readonly noun: Noun;
  readonly collection: string;
  /** Whether it is known whose collection it is. */
  readonly isKnown: boolean;
}

interface Count extends KeyedCollection {
  /** How many rows each text stands for. */
  readonly rows: Map<string, number>;
}

/** How many rows of collections are wanted by key at stages that may turn out to be one. */
export class KeyCounts {
  readonly #counts = new Map<string, Count>();

  /** Adds rows by a text that is equal for equal ones. */
  add(wanted: KeyedCollection, text: string, count: number): void {
    const rows = this.#counts.get(wanted.collection)?.rows ?? new Map<string, number>();
    this.#counts.set(wanted.collection, { ...wanted, rows: rows.set(text, count) });
  }

  /** How many may be wanted at once of a collection, and of others that may turn out to be the same. */
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

/** Whether two collections may turn out to be the same. */
export function mayBeOne(one: KeyedCollection, other: KeyedCollection): boolean {
  return one.collection === other.collection || (one.noun === other.noun && !(one.isKnown && other.isKnown));
}
