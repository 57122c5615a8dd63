import { LRUCache } from 'lru-cache';
import type { BodyRoom, KeptBody } from '../transport/body-room.ts';
import { bytesOnceParsed } from '../transport/json-weight.ts';
import type { AnswerVersion } from './given-answers.ts';

/** An answer of the upstream as it was read. All operations that are given it share the value, and none may change it. */
export interface ReadAnswer {
  readonly value: unknown;
  /** Characters of its text. */
  readonly size: number;
  /** The memory that it takes in bytes, a generous estimate. */
  readonly bytes: number;
  readonly version: AnswerVersion;
}

/** The overhead of one answer beside its value and its name, in bytes: the entry and its places in maps and lists. */
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
  /** True while a refresh is in flight. */
  isRefreshing = false;
  /** The earliest time of the next refresh, on the clock of its cache. It is moved on after a refresh has failed. */
  refreshFrom = Number.NEGATIVE_INFINITY;
  /** Accounts for its memory while operations use it, even after the cache has evicted it. */
  #held: KeptBody | undefined;

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

  /**
   * The room that an operation holds while it uses the answer, counted once for all of them; undefined if there is no room.
   */
  hold(bodies: BodyRoom): KeptBody | undefined {
    if (this.#held?.isHeld === true) this.#held.hold();
    else this.#held = bodies.keepBytes(this.bytes);
    return this.#held;
  }
}

/** No answer may take more than this part of the cache: it would drive out all others. */
const largestPart = 1 / 4;

/** The answers of one process, by name, as a least-recently-used cache. */
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
