import { LRUCache } from 'lru-cache';
import type { BodyRoom, KeptBody } from '../transport/body-room.ts';
import { bytesOnceParsed } from '../transport/json-weight.ts';
import type { AnswerVersion } from './given-answers.ts';

/** An answer of the upstream as it was read; all operations that are given it share it, and none may change it. */
export interface ReadAnswer {
  readonly value: unknown;
  /** Characters of its text. */
  readonly size: number;
  /** Memory that it takes, estimated generously, in bytes. */
  readonly bytes: number;
  readonly version: AnswerVersion;
}

/** What the cache keeps beside a value and its name: the entry, its places in maps and lists. In bytes. */
const bytesOfEntry = 600;

/** The memory that an answer takes in the cache, in bytes. Texts count twice, as if they were all beyond Latin-1. */
export function weightOf(name: string, text: string): number {
  return bytesOfEntry + 2 * name.length + text.length + bytesOnceParsed(text);
}

/** One answer in the cache. */
export class CachedAnswer {
  readonly value: unknown;
  readonly size: number;
  readonly bytes: number;
  readonly version: AnswerVersion;
  /** True if a newer one is being read. */
  isRefreshing = false;
  /** From when on a newer one may be read, on the clock of its cache: a while after that has failed. */
  refreshFrom = Number.NEGATIVE_INFINITY;
  /** Counts its memory while operations have it: then it outlives its place in the cache. */
  #lent: KeptBody | undefined;

  constructor({ value, size, bytes, version }: ReadAnswer) {
    this.value = value;
    this.size = size;
    this.bytes = bytes;
    this.version = version;
  }

  /** Until when it is fresh, on the clock of its cache. */
  get freshUntil(): number {
    return this.version.freshUntil;
  }

  /** What an operation holds while it has the answer, held once for it; undefined if there is no room for it. */
  lend(bodies: BodyRoom): KeptBody | undefined {
    if (this.#lent?.isHeld === true) this.#lent.hold();
    else this.#lent = bodies.keepBytes(this.bytes);
    return this.#lent;
  }
}

/** No answer may take more than this part of the cache: it would drive out all others. */
const largestPart = 1 / 4;

/** The answers of one process, by name. Those that were not asked for the longest make room for new ones. */
export class CachedAnswers {
  readonly #answers: LRUCache<string, CachedAnswer>;
  readonly #onKept: ((bytes: number) => void) | undefined;

  /** `onKept` is called with the bytes of each answer that is kept. */
  constructor(maxBytes: number, onKept?: (bytes: number) => void) {
    this.#answers = new LRUCache({ maxSize: maxBytes, maxEntrySize: maxBytes * largestPart });
    this.#onKept = onKept;
  }

  /** The memory that they take, in bytes. */
  get bytes(): number {
    return this.#answers.calculatedSize;
  }

  find(name: string): CachedAnswer | undefined {
    return this.#answers.get(name);
  }

  keep(answer: CachedAnswer): void {
    this.#answers.set(answer.version.name, answer, { size: answer.bytes });
    this.#onKept?.(answer.bytes);
  }
}
