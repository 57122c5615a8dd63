import type { Claim } from '../../memory.ts';
import { isUnauthenticated, noRoomForBodies, RefusedCall, UpstreamError } from '../errors.ts';
import { type EndListener, isOverdue } from '../operation-deadline.ts';
import { toDomainError } from '../response-errors.ts';
import type { RestRun, TraceContext } from '../rest-run.ts';
import { SharedWork } from '../single-flight.ts';
import type { DecodedResponse } from '../transport/decode-response.ts';
import type { CallRequest } from './gate.ts';
import { type Repeat, repeatOf, retryPolicy } from './retry-policy.ts';
import { UpstreamAttempt } from './upstream-attempt.ts';
import type { UpstreamResources } from './upstream-resources.ts';

/**
 * One REST call: the operations that wait for it, and its attempts, one after the other. A read whose attempt fails may
 * be repeated by a new attempt. The call ends early when the last operation that waits for it has left.
 */
export class UpstreamCall extends SharedWork<Waiter> {
  readonly run: RestRun;
  readonly request: CallRequest;
  /** The latest deadline of the operations that wait for it, on the clock of `performance.now()`. */
  endsAt = Number.NEGATIVE_INFINITY;
  /** True if no client waits for it. */
  isBackground = true;
  /** The number of attempts that were handed to the transport, even if there was no connection for them. */
  sends = 0;
  /** The trace context of the attempt that was sent last; undefined without tracing. */
  trace: TraceContext | undefined;
  /** The error of the previous attempt. */
  failure: unknown;
  /** The attempt that has begun last. */
  attempt: UpstreamAttempt;
  readonly #upstream: UpstreamResources;
  #retriesLeft: number = retryPolicy.limit;

  constructor(upstream: UpstreamResources, run: RestRun, request: CallRequest) {
    super();
    this.#upstream = upstream;
    this.run = run;
    this.request = request;
    this.attempt = new UpstreamAttempt(upstream, this, !request.isWrite);
  }

  /**
   * Adds an operation as a waiter. Rejects with an UpstreamError, or with the deadline's error if the operation ends
   * first.
   */
  join(run: RestRun): Promise<unknown> {
    const { deadline, isBackground = false } = run;
    this.isBackground &&= isBackground;
    if (deadline.endsAt > this.endsAt) this.endsAt = deadline.endsAt;
    return new Promise((resolve, reject) => {
      const waiter = new Waiter(this, run, resolve, reject);
      this.add(waiter);
      deadline.addListener(waiter);
    });
  }

  start(): void {
    this.attempt.start();
  }

  /** Notes that an attempt is sent. */
  noteSent(trace: TraceContext | undefined): void {
    this.sends += 1;
    this.trace = trace;
  }

  protected override cancel(): void {
    this.attempt.cancel();
  }

  /**
   * Receives the answer to its attempt. If the GraphQL answer of any waiter is large, all of them wait until the event
   * loop has time.
   */
  answered(response: DecodedResponse, sentAt: number): void {
    if (this.waiters.length === 0) return;
    const { bodies, eventLoop } = this.#upstream;
    const body = bodies.keep(response.text, this.request.isWrite);
    if (body === undefined) return this.fail(noRoomForBodies);
    const isLarge = this.waiters.some(({ run }) => run.deadline.isLarge);
    if (isLarge) eventLoop.doLarge(() => this.#resolve(response, body, sentAt), this.endsAt);
    else this.#resolve(response, body, sentAt);
  }

  /** Makes a new attempt after one that has failed, if the call may be repeated. */
  repeatOrFail(error: unknown): void {
    const repeat = this.#mayRepeat(error);
    if (repeat === undefined) return this.fail(error);
    this.failure = error;
    const mayBeStale = this.attempt.mayBeStale && repeat.kind !== 'free';
    const attempt = new UpstreamAttempt(this.#upstream, this, mayBeStale, repeat.kind === 'paid');
    this.attempt = attempt;
    if (repeat.delayMs > 0) attempt.startAfter(attempt.sleep(repeat.delayMs));
    else attempt.start();
  }

  /**
   * The way in which a failed read is repeated; undefined if it is not. A paid retry takes a retry token, and one of the
   * calls of its operation. There is none while the upstream's breaker is open, or while calls wait for a slot.
   */
  #mayRepeat(error: unknown): Repeat | undefined {
    if (this.request.isWrite || this.waiters.length === 0) return undefined;
    const repeat = repeatOf(error, this.attempt.mayBeStale);
    if (repeat?.kind !== 'paid') return repeat;
    const { retries, breakers, limiter } = this.#upstream;
    const isStrained = breakers.isOpen || limiter.queued > 0;
    const startsAt = performance.now() + repeat.delayMs + repeat.pauseMs;
    if (this.#retriesLeft === 0 || isStrained || startsAt >= this.endsAt) return undefined;
    if (!this.run.calls.reserve() || !retries.spend()) return undefined;
    this.#retriesLeft -= 1;
    return repeat;
  }

  /**
   * Gives the value to each waiter whose operation has memory left for it. For the answer to a write there is no
   * such limit. Of the waiters whose operations are large, all but the first get the value in later turns of the event
   * loop. Before those turns, the answer may be compared with the OpenAPI document.
   */
  #resolve(response: DecodedResponse, body: Claim, sentAt: number): void {
    const { endpoint, target, isWrite, decode, onResult } = this.request;
    const { bodies, eventLoop, drift } = this.#upstream;
    const limit = isWrite ? Number.POSITIVE_INFINITY : bodies.limits.operation;
    // An operation that would keep more memory than it may ends here, and its waiter leaves.
    for (const { run } of [...this.waiters]) run.deadline.keep(body, limit);
    body.release();
    if (this.waiters.length === 0) return;
    let value: unknown;
    let settled: unknown;
    try {
      value = decode(response);
      settled = onResult?.({ value, response, sentAt })?.then(() => value) ?? value;
    } catch (error) {
      return this.fail(error);
    }
    const size = response.text.length;
    let isFirst = true;
    for (const waiter of this.end()) {
      const { isLarge, endsAt } = waiter.run.deadline;
      if (!isLarge || isFirst) waiter.resolve(settled, size);
      else eventLoop.doLater(() => waiter.resolve(settled, size), endsAt);
      if (isLarge) isFirst = false;
    }
    drift?.answered(endpoint, target, value);
  }

  /** Fails the call for its waiters. */
  fail(error: unknown): void {
    // An earlier refusal may have ended the operation. Its further calls then have no waiters, and do not count.
    if (error instanceof RefusedCall && this.waiters.length > 0 && !this.isBackground)
      this.#upstream.onRefused?.(error);
    this.#reject(toDomainError(error));
  }

  /**
   * Ends the call with an error. Some errors also end the waiting operations, because all of their reads would fail
   * alike. These, too, fail only once `onResult` is done.
   */
  #reject(error: unknown): void {
    const settling = this.request.onResult?.({ error });
    const waiters = this.end();
    for (const waiter of waiters) waiter.reject(error, settling);
    if (settling === undefined) endOperations(waiters, error);
    else void settling.then(() => endOperations(waiters, error));
  }
}

function endOperations(waiters: readonly Waiter[], error: unknown): void {
  for (const { run } of waiters) if (endsOperation(error, run)) run.deadline.fail(error);
}

/**
 * True if the error ends the whole operation: the key is unknown, there is no room for bodies, or the gateway refuses a
 * call of an operation that has sent none.
 */
function endsOperation(error: unknown, { calls }: RestRun): error is UpstreamError {
  return isUnauthenticated(error) || error === noRoomForBodies || (error instanceof RefusedCall && calls.mayBeRefused);
}

/** The error if the process was too busy to read a response that had come before the deadline. */
const readTooLate = new UpstreamError('OVERLOADED', undefined, 'read too late');

/** One operation that waits for a call. */
class Waiter implements EndListener {
  settled = false;
  readonly run: RestRun;
  readonly #call: UpstreamCall;
  readonly #resolve: (value: unknown) => void;
  readonly #reject: (error: unknown) => void;

  constructor(call: UpstreamCall, run: RestRun, resolve: (value: unknown) => void, reject: (error: unknown) => void) {
    this.#call = call;
    this.run = run;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  resolve(value: unknown, size: number): void {
    this.settled = true;
    this.run.deadline.received += size;
    this.#resolve(value);
  }

  /** Rejects at once, or once `settling` has resolved. */
  reject(error: unknown, settling?: Promise<void>): void {
    this.settled = true;
    if (settling === undefined) this.#reject(error);
    else void settling.then(() => this.#reject(error));
  }

  /**
   * Called when the operation ends before the call. An operation counts as one timeout for each request that it
   * answers.
   */
  ended(error: UpstreamError): void {
    const isLate = isOverdue(error);
    this.reject(isLate && this.#call.attempt.hasArrived ? readTooLate : error);
    if (isLate) for (let left = this.run.deadline.operations; left > 0; left -= 1) this.#call.attempt.overdue();
    this.#call.leave(this);
  }
}
