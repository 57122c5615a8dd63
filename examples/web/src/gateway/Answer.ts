import type { GatewayError } from './GatewayError.ts';

/** The data that an operation has given so far, and its first failure. If a relation fails, its siblings are there. */
export interface Result<Data> {
  readonly data: Data;
  readonly failure: GatewayError | undefined;
  /** The paths of all that failed, such as `project.organization`. */
  readonly failedPaths: ReadonlySet<string>;
  /** True if nothing more is to come. Fields that are not there by then have failed. */
  readonly isComplete: boolean;
}

/** An answer that may come in parts: the same object from the first part on, with a result that grows. */
export class Answer<Data> {
  #result: Result<Data>;
  #parts = 1;
  readonly #listeners = new Set<() => void>();

  constructor(first: Result<Data>) {
    this.#result = first;
  }

  /** The result so far; another object after each part. */
  get result(): Result<Data> {
    return this.#result;
  }

  /** The number of parts so far. */
  get parts(): number {
    return this.#parts;
  }

  /** Takes what is there with one part more. */
  grow(result: Result<Data>): void {
    this.#parts += 1;
    const { failure, failedPaths } = this.#result;
    this.#result = {
      ...result,
      failure: failure ?? result.failure,
      failedPaths: new Set([...failedPaths, ...result.failedPaths]),
    };
    for (const listener of this.#listeners) listener();
  }

  /** Calls `onChange` whenever more is there, until the returned function is called. */
  subscribe(onChange: () => void): () => void {
    this.#listeners.add(onChange);
    return () => void this.#listeners.delete(onChange);
  }
}
