/** One answer in the cache without its value, which it outlives. Times in milliseconds, on the clock of the cache. */
export interface AnswerVersion {
  /** The name under which the cache keeps it. A newer answer has the same name and another version. */
  readonly name: string;
  readonly noun: string;
  /** The whole time for which it is fresh, from when the upstream gave it. */
  readonly freshMs: number;
  readonly freshUntil: number;
}

/** The overhead of a version and of a missing name beside the text of the name, in bytes. */
const bytesOfVersion = 100;
const bytesOfName = 40;

/**
 * The answers that the cache has given one operation. If it read nothing else, its result can be reused while they are
 * current.
 */
export class GivenAnswers {
  readonly #versions: AnswerVersion[] = [];
  readonly #missing: string[] = [];
  #freshUntil = Number.POSITIVE_INFINITY;
  #isAll = true;

  /** In the order in which they were given. */
  get versions(): readonly AnswerVersion[] {
    return this.#versions;
  }

  /** Names of smaller pages that would have been used if the cache had had fresh answers under them. */
  get missing(): readonly string[] {
    return this.#missing;
  }

  /** Until when all of them are fresh. */
  get freshUntil(): number {
    return this.#freshUntil;
  }

  /** True if the operation has read something, and all that it read were fresh answers of the cache. */
  get isAll(): boolean {
    return this.#isAll && this.#versions.length > 0;
  }

  /** The memory that they take, in bytes. Texts count twice, as if they were all beyond Latin-1. */
  get bytes(): number {
    const ofVersions = this.#versions.reduce((bytes, { name }) => bytes + 2 * name.length + bytesOfVersion, 0);
    return this.#missing.reduce((bytes, name) => bytes + 2 * name.length + bytesOfName, ofVersions);
  }

  /** Notes an answer that the cache gave while it was fresh. */
  add(version: AnswerVersion): void {
    this.#versions.push(version);
    if (version.freshUntil < this.#freshUntil) this.#freshUntil = version.freshUntil;
  }

  /** Notes the names of smaller pages that the cache had no fresh answer for. The page is cut from a larger one instead. */
  addMissing(names: readonly string[]): void {
    this.#missing.push(...names);
  }

  /** Notes that the operation read something else: it calls, joins another's call, writes, or was given a stale answer. */
  addOther(): void {
    this.#isAll = false;
  }
}
