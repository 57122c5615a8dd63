import { LRUCache } from 'lru-cache';
import type { Needs } from '../rest/budget/call-budget.ts';
import type { CachedRead, OperationCache } from '../rest/cache/operation-cache.ts';

/** Memory for the reads of operations, in bytes, and what one takes beside its target. */
const mostBytes = 4 * 2 ** 20;
const bytesOfRead = 100;

/** An answer, as far as its end matters: one in parts ends with its last part. */
interface Made {
  readonly parts?: { readonly over: Promise<unknown> } | undefined;
}

/**
 * What operations read when they ran last. A plan knows how many calls an operation surely needs, but not which: an equal
 * one that ran before tells what the cache has of them.
 */
export class KnownReads {
  readonly #reads = new LRUCache<string, readonly CachedRead[]>({ maxSize: mostBytes, sizeCalculation: weightOf });

  /** How many calls of an operation of this name the cache would spare it now, by surface. */
  answered(name: string, cache: OperationCache | undefined): Needs {
    const reads = this.#reads.get(name);
    return reads === undefined || cache === undefined ? {} : cache.countKnown(reads);
  }

  /** Remembers, once an operation of this name has ended, what it has read. Returns what it is given. */
  follow<T extends Made>(name: string, cache: OperationCache | undefined, made: Promise<T> | T): Promise<T> | T {
    if (cache === undefined) return made;
    const remember = (): void => {
      const { reads } = cache;
      if (reads.length > 0) this.#reads.set(name, reads);
    };
    const follow = ({ parts }: Made): void => {
      if (parts === undefined) remember();
      else parts.over.then(remember, remember);
    };
    if (made instanceof Promise) made.then(follow, remember);
    else follow(made);
    return made;
  }
}

function weightOf(reads: readonly CachedRead[], name: string): number {
  return reads.reduce((bytes, { target }) => bytes + 2 * target.length + bytesOfRead, 2 * name.length);
}
