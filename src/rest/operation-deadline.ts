import { UpstreamError } from './errors.ts';
import type { KeptBody } from './transport/body-room.ts';

/** Why an operation ended before its calls did. */
export type EndReason =
  // Its total deadline passed.
  | 'deadline'
  // Its client closed the connection.
  | 'left'
  // Its answer has, or it keeps of what the upstream answered, as much as it may.
  | 'limit';

/** What the bodies that an operation keeps would have taken, and what they may take, in bytes of memory. */
export interface BodyExcess {
  readonly count: number;
  readonly limit: number;
}

/** Wants to know when an operation ends before it has what it waits for. */
export interface EndListener {
  /** True if it has that: then it is not told. */
  readonly settled: boolean;
  readonly ended: (error: UpstreamError) => void;
}

/**
 * How long one operation may go on: until its total deadline, retries and waiting included, or until its client leaves.
 * Calls listen to it and stop when it ends. Call `finish` when the answer is ready, or its timer lives on.
 */
export class OperationDeadline {
  /** On the clock of `performance.now()`, in milliseconds. */
  readonly endsAt: number;
  /** How many operations end with it, for equal ones may be executed as one. Each counts as a timeout if its deadline passes. */
  operations = 1;
  /** True if much is made of what its calls answer: each of them is told of it in a turn of the event loop of its own. */
  isLarge = false;
  /** How many characters of decoded bodies its calls have answered. */
  received = 0;
  /** Why the operation ended if it would have kept too much of what the upstream answered. */
  bodyExcess: BodyExcess | undefined;
  readonly #bodies: KeptBody[] = [];
  #keptBytes = 0;
  readonly #milliseconds: number;
  /** Runs from the first listener on: without one there is nothing to end. */
  #timer: NodeJS.Timeout | undefined;
  readonly #listeners: EndListener[] = [];
  #ended: UpstreamError | undefined;

  constructor(milliseconds: number) {
    this.endsAt = performance.now() + milliseconds;
    this.#milliseconds = milliseconds;
  }

  /** The error that calls of this operation fail with since it ended; undefined while it goes on. */
  get ended(): UpstreamError | undefined {
    return this.#ended;
  }

  /** Calls back once if the operation ends before the listener is settled. */
  onEnd(listener: EndListener): void {
    this.#listeners.push(listener);
    this.#timer ??= setTimeout(endByDeadline, this.#milliseconds, this);
  }

  /** Ends the operation: each listener that is not settled is called once, later calls fail at once. */
  end(reason: EndReason): void {
    clearTimeout(this.#timer);
    if (this.#ended !== undefined) return;
    this.fail(errorOf(reason));
  }

  /** Ends the operation with an error that all of its calls would meet. */
  fail(error: UpstreamError): void {
    clearTimeout(this.#timer);
    if (this.#ended !== undefined) return;
    this.#ended = error;
    for (const listener of this.#listeners) if (!listener.settled) listener.ended(error);
    this.#listeners.length = 0;
  }

  /**
   * Keeps what a body says until the operation is finished. One beyond the limit ends the operation: false. Of a body that is
   * kept by others anyway, only the share that the operation wants counts for it.
   */
  keep(body: KeptBody, limit: number, share = 1): boolean {
    const count = this.#keptBytes + Math.ceil(body.bytes * share);
    if (count > limit) {
      this.bodyExcess ??= { count, limit };
      this.end('limit');
      return false;
    }
    body.hold();
    this.#bodies.push(body);
    this.#keptBytes = count;
    return true;
  }

  /** The answer is complete: what is still under way for it ends, and later calls fail at once. */
  finish(): void {
    this.end('left');
    for (const body of this.#bodies) body.release();
    this.#bodies.length = 0;
  }
}

/** One for all: it is made for every operation, and says the same each time. */
const hasLeft = new UpstreamError('UPSTREAM_TIMEOUT', undefined, 'left' satisfies EndReason);

function errorOf(reason: EndReason): UpstreamError {
  if (reason === 'left') return hasLeft;
  return new UpstreamError(reason === 'limit' ? 'COST_LIMIT_EXCEEDED' : 'UPSTREAM_TIMEOUT', undefined, reason);
}

/** Once what has arrived by now has been read: timers run before that, and a busy process may be late for both. */
function endByDeadline(deadline: OperationDeadline): void {
  setImmediate(endOverdue, deadline);
}

function endOverdue(deadline: OperationDeadline): void {
  deadline.end('deadline');
}

/** True if an error of a deadline's end says that its deadline passed, rather than that its client left. */
export function isOverdue({ cause }: UpstreamError): boolean {
  return cause === ('deadline' satisfies EndReason);
}
