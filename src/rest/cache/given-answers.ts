/** One answer in the cache without its value, which it outlives. Times in milliseconds, on the clock of the cache. */
export interface AnswerVersion {
  /** What the cache finds it by. A newer answer has the same name, and another version. */
  readonly name: string;
  readonly noun: string;
  /** For how long it is fresh in all. */
  readonly freshMs: number;
  readonly freshUntil: number;
}

/** What a version takes beside its name, and what a name takes. In bytes. */
const bytesOfVersion = 100;
const bytesOfName = 40;

/** What one operation was given by the cache. What was made of nothing else can be made of it again without being made. */
export class GivenAnswers {
  readonly #versions: AnswerVersion[] = [];
  readonly #missing: string[] = [];
  #freshUntil = Number.POSITIVE_INFINITY;
  #isAll = true;

  /** In the order in which they were given. */
  get versions(): readonly AnswerVersion[] {
    return this.#versions;
  }

  /** Names of smaller pages that would have been given if the cache had had them in time. */
  get missing(): readonly string[] {
    return this.#missing;
  }

  /** Until when all of them are fresh. */
  get freshUntil(): number {
    return this.#freshUntil;
  }

  /** True if the operation has read something, and all that it read were these answers, each of them in time. */
  get isAll(): boolean {
    return this.#isAll && this.#versions.length > 0;
  }

  /** The memory that they take, in bytes. Texts count twice, as if they were all beyond Latin-1. */
  get bytes(): number {
    const ofVersions = this.#versions.reduce((bytes, { name }) => bytes + 2 * name.length + bytesOfVersion, 0);
    return this.#missing.reduce((bytes, name) => bytes + 2 * name.length + bytesOfName, ofVersions);
  }

  /** The cache has given an answer in time. */
  add(version: AnswerVersion): void {
    this.#versions.push(version);
    if (version.freshUntil < this.#freshUntil) this.#freshUntil = version.freshUntil;
  }

  /** A page is cut from a larger one, because the cache has none of these names in time. */
  addMissing(names: readonly string[]): void {
    this.#missing.push(...names);
  }

  /** The operation calls, waits for a call of another one, writes, or was given what is too old. */
  addOther(): void {
    this.#isAll = false;
  }
}
