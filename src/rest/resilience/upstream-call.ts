import type { Claim } from '../../memory.ts';
import { isRateLimited, isUnauthenticated, noRoomForBodies, RefusedCall, statusOf, UpstreamError } from '../errors.ts';
import { reasonOf } from '../failure-reasons.ts';
import type { CallEnded } from '../operation-calls.ts';
import { type EndListener, isOverdue } from '../operation-deadline.ts';
import { toDomainError } from '../response-errors.ts';
import type { CallSpan, RestRun, TraceContext } from '../rest-run.ts';
import { SharedWork } from '../single-flight.ts';
import { largestBody } from '../transport/body-room.ts';
import { type DecodedResponse, decodeText, toDecoded } from '../transport/decode-response.ts';
import { type RawResponse, type ResponseListener, type SentRequest, TransportError } from '../transport/transport.ts';
import type { Attempt, CallRequest, Outcome } from './gate.ts';
import { type Repeat, repeatOf, retryPolicy } from './retry-policy.ts';
import type { UpstreamResources } from './upstream-resources.ts';

/** The error on the span of a call that had no answer in time. */
const timedOut = new UpstreamError('UPSTREAM_TIMEOUT');

const notSent: Outcome = { kind: 'not-sent' };

/**
 * One REST call, from the operations that wait for it to the socket and back:
 *
 *     start → gates → sent → decoded → gates left → resolved
 *               ↑                            ↓ failed
 *               └── repeated, if it may be ──┘
 *
 * Each gate may keep it waiting, or refuse it. It ends early when the last operation that waits for it has left.
 */
export class UpstreamCall extends SharedWork<Waiter> implements Attempt, ResponseListener {
  readonly run: RestRun;
  readonly request: CallRequest;
  endsAt = Number.NEGATIVE_INFINITY;
  isBackground = true;
  mayBeStale: boolean;
  isUrgent = false;
  slot: Attempt['slot'];
  reserved: Attempt['reserved'];
  isTrial = false;
  readonly #upstream: UpstreamResources;
  /** The number of gates that the attempt has entered; it may wait at the last one. */
  #entered = 0;
  /** The time that it was held back before it was sent, in milliseconds. */
  #heldBackMs = 0;
  /** The attempt in flight. */
  #sent: SentRequest | undefined;
  #sentAt = 0;
  /** The response of the attempt, until it is read. A busy process may read it late. */
  #unread: RawResponse | undefined;
  /** The status of its response; 0 as long as none has arrived. */
  #status = 0;
  /** The time from sending the attempt to its response, in milliseconds. */
  #tookMs = 0;
  /** The number of operations whose deadline passed while the upstream had the attempt. */
  #timeouts = 0;
  #sends = 0;
  #ended: CallEnded | undefined;
  #span: CallSpan | undefined;
  /** The error of the previous attempt. */
  #failure: unknown;
  #retriesLeft: number = retryPolicy.limit;
  /** True if the next attempt is a paid retry. */
  #isPaid = false;
  #timer: NodeJS.Timeout | undefined;
  #isGivenUp = false;

  constructor(upstream: UpstreamResources, run: RestRun, request: CallRequest) {
    super();
    this.#upstream = upstream;
    this.run = run;
    this.request = request;
    this.mayBeStale = !request.isWrite;
  }

  /** The trace context of the attempt in flight; undefined without tracing. */
  get trace(): TraceContext | undefined {
    return this.#span?.trace;
  }

  /** True once it was handed to the transport, even if there was no connection for it. */
  get wasSent(): boolean {
    return this.#sends > 0;
  }

  /** True if the response has arrived, so that only the gateway's own work is left. */
  get hasArrived(): boolean {
    return this.#status !== 0;
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

  /**
   * Starts the call, or goes on with it after a wait: enters the remaining gates, and sends the call. Nearly always no
   * gate holds it back, and all of this happens at once.
   */
  start(): void {
    const { gates, transport, prefix, retries } = this.#upstream;
    try {
      for (let gate = gates[this.#entered]; gate !== undefined; gate = gates[this.#entered]) {
        const waiting = gate.enter(this);
        this.#entered += 1;
        if (waiting !== undefined) return this.#startAfter(waiting);
      }
    } catch (error) {
      return this.#refused(error);
    }
    const { calls, spans } = this.run;
    const { operation, target, headers, body, isWrite } = this.request;
    if (this.#isPaid) retries.sent += 1;
    this.#sentAt = performance.now();
    this.#status = 0;
    this.#ended = calls.begin(operation.method, target, this.#failure);
    this.#span = spans?.begin(operation, this.#sends);
    this.#sends += 1;
    const tracedHeaders = this.#span === undefined ? headers : { ...headers, ...this.#span.trace };
    this.#sent = transport.send(
      {
        method: operation.method,
        target: prefix + target,
        headers: tracedHeaders,
        body,
        isWrite,
        needsNewConnection: !this.mayBeStale,
      },
      this,
    );
  }

  /**
   * Notes that the deadline of a waiter has passed. It is a timeout only if the upstream has had the call for at least
   * as long as the gateway had held it back.
   */
  overdue(): void {
    if (this.#sent === undefined || this.hasArrived) return;
    if (performance.now() - this.#sentAt >= this.#heldBackMs) this.#timeouts += 1;
  }

  sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      this.#timer = setTimeout(resolve, milliseconds);
    });
  }

  failEarly(error: Error): void {
    setTimeout(() => this.#giveUp(), this.endsAt - performance.now()).unref();
    this.#fail(error);
  }

  /**
   * Gives the call up, unless its answer will show whether its key is known. Such a call goes on until its deadline:
   * otherwise clients that keep leaving could make any number of calls with an invented key.
   */
  protected override cancel(): void {
    const isMade = this.#sent?.isWaiting === false;
    const leftMs = isMade && this.isTrial ? this.endsAt - performance.now() : 0;
    if (leftMs > 0) setTimeout(() => this.#giveUp(), leftMs).unref();
    else this.#giveUp();
  }

  #giveUp(): void {
    if (this.#isGivenUp) return;
    this.#isGivenUp = true;
    clearTimeout(this.#timer);
    this.#unread?.release();
    const sent = this.#sent;
    if (sent === undefined) {
      if (!this.hasArrived) this.#leave(notSent);
      return;
    }
    // A call that still waits for a connection no longer counts as sent. If a deadline has passed meanwhile, the
    // upstream may be failing, and the call stays counted.
    if (sent.isWaiting && this.#timeouts === 0) {
      this.run.calls.withdraw();
      this.#ended = undefined;
      this.#leave(notSent);
    }
    sent.abort();
  }

  #startAfter(waiting: Promise<void>): void {
    const since = performance.now();
    const ended = (): boolean => {
      this.#heldBackMs += performance.now() - since;
      return this.#isGivenUp;
    };
    waiting.then(
      () => {
        if (!ended()) this.start();
      },
      (error: unknown) => {
        if (!ended()) this.#refused(error);
      },
    );
  }

  /** Ends a call that a gate has refused. A retry fails with the error of the previous attempt. */
  #refused(error: unknown): void {
    this.#leave(notSent);
    this.#fail(this.#failure ?? error);
  }

  /** Reports the end of the attempt to every gate that it has entered. */
  #leave(outcome: Outcome): void {
    const { gates } = this.#upstream;
    const entered = this.#entered;
    this.#entered = 0;
    for (let at = entered - 1; at >= 0; at -= 1) gates[at]?.leave(this, outcome);
  }

  /** Reads a large response when the event loop has time for it. */
  later(read: () => void): void {
    this.#upstream.eventLoop.doLarge(read, this.endsAt);
  }

  responded(response: RawResponse): void {
    this.#unread = response;
    this.#status = response.status;
    this.#release();
    const text = decodeText(response, largestBody, this);
    if (text instanceof Promise) void text.then((whole) => this.#decoded(response, whole));
    else this.#decoded(response, text);
  }

  /**
   * Reads a response; `text` is undefined if its body could not be decoded. If the GraphQL answer of any waiter is
   * large, all of them wait until the event loop has time.
   */
  #decoded(raw: RawResponse, text: string | undefined): void {
    raw.release();
    this.#unread = undefined;
    let response: DecodedResponse;
    try {
      response = toDecoded(raw, text, this.run.caller.key);
    } catch (error) {
      return this.failed(error);
    }
    const { status } = response;
    this.#ended?.(status);
    this.#span?.answered(status);
    this.run.calls.hasSucceeded = true;
    this.#leave({ kind: 'answered', status, error: undefined, provesKey: true, tookMs: this.#tookMs });
    if (this.waiters.length === 0) return;
    const { bodies, eventLoop } = this.#upstream;
    const body = bodies.keep(response.text, this.request.isWrite);
    if (body === undefined) return this.#fail(noRoomForBodies);
    const isLarge = this.waiters.some(({ run }) => run.deadline.isLarge);
    if (isLarge) eventLoop.doLarge(() => this.#resolve(response, body), this.endsAt);
    else this.#resolve(response, body);
  }

  /** Receives the failure of an attempt: no response, or one whose status or body is an error. */
  failed(reason: unknown): void {
    const error = this.#isGivenUp && this.hasArrived ? new TransportError('aborted') : reason;
    this.#unread = undefined;
    if (!this.hasArrived) this.#release();
    this.#ended?.(statusOf(error));
    this.#span?.failed(this.#timeouts > 0 ? timedOut : error);
    this.#leave(this.#outcomeOf(error));
    const repeat = this.#mayRepeat(error);
    if (repeat === undefined) this.#fail(error);
    else this.#sendAgain(repeat, error);
  }

  /** Notes that the upstream is done with the call. */
  #release(): void {
    this.#sent = undefined;
    this.#tookMs = performance.now() - this.#sentAt;
  }

  #outcomeOf(error: unknown): Outcome {
    const tookMs = this.#tookMs;
    if (!(error instanceof TransportError)) {
      const provesKey = reasonOf(error) === undefined && !isUnauthenticated(error) && !isRateLimited(error);
      return { kind: 'answered', status: this.#status, error, provesKey, tookMs };
    }
    const { fault } = error;
    return fault === 'aborted'
      ? { kind: 'given-up', timeouts: this.#timeouts, tookMs }
      : { kind: 'failed', fault, error, tookMs };
  }

  /**
   * The way in which a failed read is retried; undefined if it is not. A paid retry takes a retry token, and one of the
   * calls of its operation. There is none while the upstream's breaker is open, or while calls wait for a slot.
   */
  #mayRepeat(error: unknown): Repeat | undefined {
    if (this.request.isWrite || this.waiters.length === 0) return undefined;
    const repeat = repeatOf(error, this.mayBeStale);
    if (repeat?.kind !== 'paid') {
      if (repeat !== undefined) this.mayBeStale = false;
      return repeat;
    }
    const { retries, breakers, limiter } = this.#upstream;
    const isStrained = breakers.isOpen || limiter.queued > 0;
    const startsAt = performance.now() + repeat.delayMs + repeat.pauseMs;
    if (this.#retriesLeft === 0 || isStrained || startsAt >= this.endsAt) return undefined;
    if (!this.run.calls.reserve() || !retries.spend()) return undefined;
    this.#retriesLeft -= 1;
    return repeat;
  }

  #sendAgain(repeat: Repeat, failure: unknown): void {
    this.#failure = failure;
    this.#status = 0;
    this.#timeouts = 0;
    this.#heldBackMs = 0;
    this.isUrgent = false;
    this.#isPaid = repeat.kind === 'paid';
    if (repeat.delayMs > 0) this.#startAfter(this.sleep(repeat.delayMs));
    else this.start();
  }

  /**
   * Gives the value to each waiter whose operation has memory left for it. For the answer to a write there is no
   * such limit. Of the waiters whose operations are large, all but the first get the value in later turns of the event
   * loop. Before those turns, the answer may be compared with the OpenAPI document.
   */
  #resolve(response: DecodedResponse, body: Claim): void {
    const { operation, target, isWrite, decode, beforeWaiters } = this.request;
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
      settled = beforeWaiters?.({ value, response, sentAt: this.#sentAt })?.then(() => value) ?? value;
    } catch (error) {
      return this.#fail(error);
    }
    const size = response.text.length;
    let isFirst = true;
    for (const waiter of this.end()) {
      const { isLarge, endsAt } = waiter.run.deadline;
      if (!isLarge || isFirst) waiter.resolve(settled, size);
      else eventLoop.doLater(() => waiter.resolve(settled, size), endsAt);
      if (isLarge) isFirst = false;
    }
    drift?.answered(operation, target, value);
  }

  #fail(error: unknown): void {
    // An earlier refusal may have ended the operation. Its further calls then have no waiters, and do not count.
    if (error instanceof RefusedCall && this.waiters.length > 0 && !this.isBackground)
      this.#upstream.onRefused?.(error);
    this.#reject(toDomainError(error));
  }

  /**
   * Ends the call with an error. Some errors also end the waiting operations, because all of their reads would fail
   * alike. These, too, fail only once `beforeWaiters` is done.
   */
  #reject(error: unknown): void {
    const settling = this.request.beforeWaiters?.({ error });
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
    this.reject(isLate && this.#call.hasArrived ? readTooLate : error);
    if (isLate) for (let left = this.run.deadline.operations; left > 0; left -= 1) this.#call.overdue();
    this.#call.leave(this);
  }
}
