import { LRUCache } from 'lru-cache';
import type { AnswerSource } from '../operation-calls.ts';
import { bytesOnceParsed } from '../transport/json-weight.ts';
import type { CachedRead } from './answer-cache.ts';

/** The overhead of one answer beside its value and its name, in bytes: the entry and its places in maps and lists. */
const bytesOfEntry = 600;

/**
 * An answer of the upstream that is kept. All operations that are given it share the value, which none may change.
 * Times in milliseconds, on the clock of its cache.
 */
export class KeptAnswer {
  readonly name: string;
  readonly value: unknown;
  /** In characters of its text. */
  readonly length: number;
  /** Estimated generously: texts count twice, as if every character took two bytes. */
  readonly bytes: number;
  readonly source: AnswerSource;
  /** Undefined if it is not a page. */
  readonly limit: number | undefined;
  /** The time at which its request was sent, on the clock of `performance.now()`. */
  readonly sentAt: number;
  /** The time at which an operation last asked for `limit` rows. */
  limitAskedAt: number;
  isRefreshing = false;
  /** The earliest time of the next refresh. A failed refresh postpones it. */
  refreshFrom = Number.NEGATIVE_INFINITY;

  /** `readAt` is the time at which the upstream gave the value, which was read from `text`. */
  constructor(
    read: Pick<CachedRead, 'name' | 'noun' | 'freshMs' | 'limit' | 'limitAskedAt'>,
    value: unknown,
    text: string,
    { sentAt, readAt }: { readonly sentAt: number; readonly readAt: number },
  ) {
    const { name, noun, freshMs, limit, limitAskedAt } = read;
    this.name = name;
    this.value = value;
    this.length = text.length;
    this.bytes = bytesOfEntry + 2 * name.length + text.length + bytesOnceParsed(text);
    this.source = { noun, readAt, freshUntil: readAt + freshMs, isKept: false };
    this.limit = limit;
    this.sentAt = sentAt;
    this.limitAskedAt = limitAskedAt;
  }
}

/** The largest part of the memory that one answer may take, so that it does not drive out all others. */
const largestPart = 1 / 4;

/** The answers that one process keeps, by name. The least recently used answer makes room for others. */
export class KeptAnswers {
  readonly #answers: LRUCache<string, KeptAnswer>;

  constructor(maxBytes: number) {
    this.#answers = new LRUCache({
      maxSize: maxBytes,
      maxEntrySize: maxBytes * largestPart,
      onInsert: ({ source }) => {
        source.isKept = true;
      },
      dispose: ({ source }) => {
        source.isKept = false;
      },
    });
  }

  get bytes(): number {
    return this.#answers.calculatedSize;
  }

  find(name: string): KeptAnswer | undefined {
    return this.#answers.get(name);
  }

  /**
   * Keeps an answer in place of the kept answer of the same name. If the request for that one was sent later, it stays.
   * Returns the answer that is then kept.
   */
  keep(answer: KeptAnswer): KeptAnswer {
    const known = this.#answers.get(answer.name);
    if (known !== undefined && known.sentAt > answer.sentAt) return known;
    this.#answers.set(answer.name, answer, { size: answer.bytes });
    return answer;
  }
}
