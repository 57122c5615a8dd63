import { LRUCache } from 'lru-cache';
import type { AnswerSource } from '../operation-calls.ts';
import type { CacheCounts } from './cache-counts.ts';

interface WholeAnswersOptions {
  readonly counts: CacheCounts;
  /** The clock by which kept answers age, in milliseconds. A whole answer is as fresh as the answers it is made of. */
  readonly now: () => number;
  /** The most memory that all whole answers may take together, in bytes. */
  readonly maxBytes: number;
}

/** The answer to a whole query, made of kept answers alone. */
interface WholeAnswer {
  readonly text: string;
  /** The number of bytes of the text in UTF-8. */
  readonly mostBytes: number;
  /** A hash of the text, once a client has needed it. */
  tag?: string | undefined;
  /** The time until which everything that it was made of is fresh. */
  readonly freshUntil: number;
  readonly sources: readonly AnswerSource[];
}

/** The memory for an answer's entry and its places in maps and lists, in bytes. Text, name and sources are extra. */
const bytesOfEntry = 500;

/**
 * The memory that the facts about one source of an answer take, in bytes. It counts for the answer, because the answer
 * may be kept longer than the source.
 */
const bytesOfSource = 100;

/** The largest part of `maxBytes` that one answer may take: a larger answer would drive out all others. */
const largestPart = 1 / 8;

/**
 * The whole answers of queries in one process. Their names are made of the caller, epoch, operation and variables. An
 * answer is used until the first of the kept answers that it was made of is stale, or is no longer kept.
 */
export class WholeAnswers {
  readonly #options: WholeAnswersOptions;
  readonly #answers: LRUCache<string, WholeAnswer>;
  #reused = 0;

  constructor(options: WholeAnswersOptions) {
    const { maxBytes } = options;
    this.#options = options;
    this.#answers = new LRUCache({ maxSize: maxBytes, maxEntrySize: maxBytes * largestPart });
  }

  get bytes(): number {
    return this.#answers.calculatedSize;
  }

  /** The number of times that a whole answer was used so far. */
  get reused(): number {
    return this.#reused;
  }

  /** The answer of this name, if it may be given. Each kept answer that it was made of counts as a hit. */
  find(name: string): WholeAnswer | undefined {
    const known = this.#answers.get(name);
    if (known === undefined) return undefined;
    const now = this.#options.now();
    if (now >= known.freshUntil || !known.sources.every(isKept)) {
      this.#answers.delete(name);
      return undefined;
    }
    this.#reused += 1;
    const { counts } = this.#options;
    for (const { noun, readAt } of known.sources) {
      counts.add(noun, 'hit');
      counts.addAge(now - readAt);
    }
    return known;
  }

  /** Keeps an answer that was made of these sources alone, unless it is too large or a source is no longer kept. */
  keep(name: string, text: string, sources: readonly AnswerSource[]): void {
    if (!sources.every(isKept)) return;
    const freshUntil = Math.min(...sources.map((source) => source.freshUntil));
    const size = bytesOfEntry + 2 * (name.length + text.length) + bytesOfSource * sources.length;
    this.#answers.set(name, { text, mostBytes: Buffer.byteLength(text), freshUntil, sources }, { size });
  }
}

function isKept(source: AnswerSource): boolean {
  return source.isKept;
}
