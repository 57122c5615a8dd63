import { UpstreamError } from './errors.ts';

/** Why an operation ended before its calls did. */
export type EndReason =
  // Its total deadline passed.
  | 'deadline'
  // Its client closed the connection.
  | 'left';

/**
 * How long one operation may go on: a total deadline, retries and waiting included, and the client's patience.
 * Calls listen to it and stop when it ends. Call `finish` when the answer is ready, or its timer lives on.
 */
export class Lifetime {
  /** On the clock of `performance.now()`, in milliseconds. */
  readonly endsAt: number;
  readonly #timer: NodeJS.Timeout;
  readonly #listeners = new Set<(error: UpstreamError) => void>();
  #ended: UpstreamError | undefined;

  constructor(milliseconds: number) {
    this.endsAt = performance.now() + milliseconds;
    this.#timer = setTimeout(() => this.end('deadline'), milliseconds);
  }

  /** The error that calls of this operation fail with since it ended; undefined while it goes on. */
  get ended(): UpstreamError | undefined {
    return this.#ended;
  }

  /** Calls back once when the operation ends early. Returns what takes the listener away. */
  onEnd(listener: (error: UpstreamError) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Ends the operation: every listener hears of it once, later calls fail at once. */
  end(reason: EndReason): void {
    clearTimeout(this.#timer);
    if (this.#ended !== undefined) return;
    this.#ended = new UpstreamError('UPSTREAM_TIMEOUT', undefined, reason);
    for (const listener of [...this.#listeners]) listener(this.#ended);
    this.#listeners.clear();
  }

  /** The answer is complete. */
  finish(): void {
    clearTimeout(this.#timer);
  }
}

/** Whether an error of a lifetime's end says that its deadline passed, rather than that its client left. */
export function isOverdue({ cause }: UpstreamError): boolean {
  return cause === ('deadline' satisfies EndReason);
}
