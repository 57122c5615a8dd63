import type { Claim } from '../memory.ts';
import { UpstreamError } from './errors.ts';

/** The reason for which an operation ended before its calls. */
export type EndReason =
  // Its total deadline passed.
  | 'deadline'
  // Its client closed the connection.
  | 'left'
  // Its answer is complete.
  | 'answered'
  // Its answer, or the memory of the upstream bodies that it keeps, reached the limit.
  | 'limit';

/** The memory that the upstream bodies of an operation would have taken, and the limit, in bytes. */
export interface BodyExcess {
  readonly count: number;
  readonly limit: number;
}

/** A listener that waits for a result. */
export interface EndListener {
  /** True if the listener has its result, and is not to be called. */
  readonly settled: boolean;
  readonly ended: (error: UpstreamError) => void;
}

/**
 * Ends one operation when its time has passed (retries and waiting included), when its client leaves, or when it
 * reaches a limit. Its REST calls then stop. The timer runs until `finish` is called, once the answer is ready.
 */
export class OperationDeadline {
  /** On the clock of `performance.now()`, in milliseconds. */
  readonly endsAt: number;
  /**
   * The number of equal operations that share this execution, this one included. Each counts as a timeout if the
   * deadline passes.
   */
  operations = 1;
  /**
   * True if answers to its calls cause much work. If several such operations wait for one call, each gets the answer in
   * a turn of the event loop of its own.
   */
  isLarge = false;
  /** The number of characters in the decoded answers to its calls. */
  received = 0;
  /** Set if the operation was ended because it would have kept too many bytes of the upstream's answers. */
  bodyExcess: BodyExcess | undefined;
  readonly #bodies: Claim[] = [];
  #keptBytes = 0;
  readonly #milliseconds: number;
  /** Starts with the first listener, because only listeners are told of the end. */
  #timer: NodeJS.Timeout | undefined;
  readonly #listeners: EndListener[] = [];
  #ended: UpstreamError | undefined;

  constructor(milliseconds: number) {
    this.endsAt = performance.now() + milliseconds;
    this.#milliseconds = milliseconds;
  }

  /** The error of the end, which later calls get; undefined while the operation goes on. */
  get ended(): UpstreamError | undefined {
    return this.#ended;
  }

  /** Calls back once if the operation ends before the listener is settled. */
  addListener(listener: EndListener): void {
    this.#listeners.push(listener);
    this.#timer ??= setTimeout(endByDeadline, this.#milliseconds, this);
  }

  end(reason: EndReason): void {
    this.fail(errors[reason]);
  }

  /** Ends the operation: each listener that is not settled is called once, and later calls fail at once. */
  fail(error: UpstreamError): void {
    clearTimeout(this.#timer);
    if (this.#ended !== undefined) return;
    this.#ended = error;
    for (const listener of this.#listeners) if (!listener.settled) listener.ended(error);
    this.#listeners.length = 0;
  }

  /**
   * Holds the memory of a body until the operation is finished. Ends the operation instead if all of its bodies
   * together would exceed the limit.
   */
  keep(body: Claim, limit: number): void {
    if (this.count(body.bytes, limit) !== undefined) return;
    body.hold();
    this.#bodies.push(body);
  }

  /**
   * Counts the memory of a value that the operation uses. If all of its values together would exceed the limit, ends
   * the operation and returns its error.
   */
  count(bytes: number, limit: number): UpstreamError | undefined {
    const count = this.#keptBytes + bytes;
    if (count > limit) {
      this.bodyExcess ??= { count, limit };
      this.end('limit');
      return this.#ended;
    }
    this.#keptBytes = count;
    return undefined;
  }

  /** Ends the operation because its answer is complete, and releases its bodies. */
  finish(): void {
    this.end('answered');
    for (const body of this.#bodies) body.release();
    this.#bodies.length = 0;
  }
}

const errors: Readonly<Record<EndReason, UpstreamError>> = {
  deadline: new UpstreamError('UPSTREAM_TIMEOUT', undefined, 'deadline'),
  left: new UpstreamError('UPSTREAM_TIMEOUT', undefined, 'left'),
  answered: new UpstreamError('UPSTREAM_TIMEOUT', undefined, 'answered'),
  limit: new UpstreamError('COST_LIMIT_EXCEEDED', undefined, 'limit'),
};

/**
 * First lets the process read the responses that have arrived. The event loop runs timers before it reads input, so in
 * a busy process the timer may run before a response that came in time is read.
 */
function endByDeadline(deadline: OperationDeadline): void {
  setImmediate(() => deadline.end('deadline'));
}

/** True if the error of an operation's end says that its deadline passed, and not that its client left. */
export function isOverdue(error: UpstreamError): boolean {
  return error === errors.deadline;
}
