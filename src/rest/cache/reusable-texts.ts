import { LRUCache } from 'lru-cache';
import type { CacheCounts } from './cache-counts.ts';
import type { CachedAnswers } from './cached-answers.ts';
import type { GivenAnswers } from './given-answers.ts';

/** Settings of the reusable texts. */
export interface ReusableTextsOptions {
  readonly answers: Pick<CachedAnswers, 'find'>;
  readonly counts: Pick<CacheCounts, 'add' | 'addAge'>;
  /** The clock of the answers, in milliseconds. */
  readonly now: () => number;
  /** Most memory for the texts, in bytes. */
  readonly maxBytes: number;
  /** Called with the bytes of each text that is kept. */
  readonly onKept?: ((bytes: number) => void) | undefined;
}

/** A text that was made of answers in the cache alone. */
export interface ReusableText {
  readonly text: string;
  /** In UTF-8. */
  readonly bytes: number;
  readonly given: GivenAnswers;
}

/** The overhead of one text beside itself and its name, in bytes: the entry and its places in maps and lists. */
const bytesOfEntry = 500;

/** No text may take more than this part of their memory: it would drive out all others. */
const largestPart = 1 / 8;

/**
 * Texts that operations of one process have made of cached answers, by name. The cache is asked for the answers at each use.
 * So the end of one answer, by age, a newer one, a failure or eviction, also ends the texts made of it.
 */
export class ReusableTexts {
  readonly #options: ReusableTextsOptions;
  readonly #texts: LRUCache<string, ReusableText>;
  #reused = 0;

  constructor(options: ReusableTextsOptions) {
    const { maxBytes } = options;
    this.#options = options;
    this.#texts = new LRUCache({ maxSize: maxBytes, maxEntrySize: maxBytes * largestPart });
  }

  /** The memory that they take, in bytes. */
  get bytes(): number {
    return this.#texts.calculatedSize;
  }

  /** The number of times that a text was reused so far. */
  get reused(): number {
    return this.#reused;
  }

  /** The text of this name, if the cache would give all of its answers again. Counts these answers as read. */
  reuse(name: string): ReusableText | undefined {
    const known = this.#texts.get(name);
    if (known === undefined) return undefined;
    const now = this.#options.now();
    if (!this.#givesAgain(known.given, now)) {
      this.#texts.delete(name);
      return undefined;
    }
    this.#reused += 1;
    const { counts } = this.#options;
    for (const { noun, freshMs, freshUntil } of known.given.versions) {
      counts.add(noun, 'hit');
      counts.addAge(freshMs - (freshUntil - now));
    }
    return known;
  }

  /** Keeps a text that was made of these answers alone, unless it is too large. */
  keep(name: string, text: string, given: GivenAnswers): void {
    const size = bytesOfEntry + 2 * (name.length + text.length) + given.bytes;
    this.#texts.set(name, { text, bytes: Buffer.byteLength(text), given }, { size });
    this.#options.onKept?.(size);
  }

  /** True if an operation that was given these answers would be given the same ones now, all of them fresh. */
  #givesAgain({ versions, missing, freshUntil }: GivenAnswers, now: number): boolean {
    if (now >= freshUntil) return false;
    const { answers } = this.#options;
    if (!versions.every((version) => answers.find(version.name)?.version === version)) return false;
    return missing.every((name) => (answers.find(name)?.freshUntil ?? now) <= now);
  }
}
