import { LRUCache } from 'lru-cache';
import type { AnswerSource } from '../operation-calls.ts';
import type { CacheCounts } from './cache-counts.ts';

interface WholeAnswersOptions {
  readonly counts: CacheCounts;
  /** The clock of kept answers, in milliseconds. */
  readonly now: () => number;
  /** The most memory for all whole answers, in bytes. */
  readonly maxBytes: number;
}

/** The answer to a whole query, made of kept answers alone. */
interface WholeAnswer {
  readonly text: string;
  /** The size of the text in UTF-8. */
  readonly mostBytes: number;
  /** A hash of the text, once a client has needed it. */
  tag?: string | undefined;
  /** The time until which all of its sources are fresh. */
  readonly freshUntil: number;
  readonly sources: readonly AnswerSource[];
}

/** The memory for an answer's entry and its places in maps and lists, in bytes. */
const bytesOfEntry = 500;

/** The bytes for one source of an answer. The answer may keep it longer than the cache does. */
const bytesOfSource = 100;

/** The largest part of `maxBytes` that one answer may take, so that it does not drive out all others. */
const largestPart = 1 / 8;

/**
 * The whole answers of queries in one process, by names made of caller, epoch, operation and variables. An answer is
 * used as long as each kept answer that it was made of is fresh and still kept.
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

  /** The number of times that a whole answer was used. */
  get reused(): number {
    return this.#reused;
  }

  /** The answer of this name, if it may be given. Each of its sources then counts as a hit. */
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

  /** Keeps an answer that was made of these sources alone, if all of them are still kept. */
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
