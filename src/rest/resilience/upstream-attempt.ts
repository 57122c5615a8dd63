import { isRateLimited, isUnauthenticated, statusOf, UpstreamError } from '../errors.ts';
import { reasonOf } from '../failure-reasons.ts';
import type { CallEnded } from '../operation-calls.ts';
import type { CallSpan, RestRun } from '../rest-run.ts';
import { largestBody } from '../transport/body-room.ts';
import { type DecodedResponse, decodeText, toDecoded } from '../transport/decode-response.ts';
import { type RawResponse, type ResponseListener, type SentRequest, TransportError } from '../transport/transport.ts';
import type { Attempt, CallRequest, Outcome } from './gate.ts';
import type { UpstreamCall } from './upstream-call.ts';
import type { UpstreamResources } from './upstream-resources.ts';

/** The error on the span of an attempt that had no answer in time. */
const timedOut = new UpstreamError('UPSTREAM_TIMEOUT');

const notSent: Outcome = { kind: 'not-sent' };

/**
 * One attempt of a REST call, from its gates to the socket and back:
 *
 *     start → gates → sent → response decoded → gates left → the call has its answer
 *                       ↓            ↓
 *                       └── failed ──┴────────→ gates left → the call makes a new attempt, or fails
 *
 * Each gate may keep it waiting, or refuse it. A retry is a new attempt, so that each field describes one attempt only.
 */
export class UpstreamAttempt implements Attempt, ResponseListener {
  readonly run: RestRun;
  readonly request: CallRequest;
  readonly mayBeStale: boolean;
  isUrgent = false;
  slot: Attempt['slot'];
  reserved: Attempt['reserved'];
  isTrial = false;
  readonly #upstream: UpstreamResources;
  readonly #call: UpstreamCall;
  readonly #isPaidRetry: boolean;
  readonly #beganAt = performance.now();
  /** The number of gates that it is in; it may wait at the last one. */
  #entered = 0;
  #timer: NodeJS.Timeout | undefined;
  #sentAt = 0;
  /** The request in flight. */
  #sent: SentRequest | undefined;
  #onEnd: CallEnded | undefined;
  #span: CallSpan | undefined;
  /** The number of operations whose deadline passed while the upstream had the attempt. */
  #timeouts = 0;
  /** The status of its response; 0 as long as none has arrived. */
  #status = 0;
  /** The time from sending it to its response or failure, in milliseconds. */
  #tookMs = 0;
  /** The response, until it is read. A busy process may read it late. */
  #unread: RawResponse | undefined;
  #isGivenUp = false;

  constructor(upstream: UpstreamResources, call: UpstreamCall, mayBeStale: boolean, isPaidRetry = false) {
    this.#upstream = upstream;
    this.#call = call;
    this.run = call.run;
    this.request = call.request;
    this.mayBeStale = mayBeStale;
    this.#isPaidRetry = isPaidRetry;
  }

  get endsAt(): number {
    return this.#call.endsAt;
  }

  get isBackground(): boolean {
    return this.#call.isBackground;
  }

  /** True if the response has arrived, so that only the gateway's own work is left. */
  get hasArrived(): boolean {
    return this.#status !== 0;
  }

  /**
   * Starts the attempt, or goes on with it after a wait: enters the remaining gates, and sends the request. Nearly
   * always no gate holds it back, and all of this happens at once.
   */
  start(): void {
    const { gates, transport, prefix, retries } = this.#upstream;
    try {
      for (let gate = gates[this.#entered]; gate !== undefined; gate = gates[this.#entered]) {
        const waiting = gate.enter(this);
        this.#entered += 1;
        if (waiting !== undefined) return this.startAfter(waiting);
      }
    } catch (error) {
      return this.#refused(error);
    }
    const { calls, spans } = this.run;
    const { endpoint, target, headers, body, isWrite } = this.request;
    if (this.#isPaidRetry) retries.sent += 1;
    this.#sentAt = performance.now();
    this.#onEnd = calls.begin(endpoint.method, target, this.#call.failure);
    this.#span = spans?.begin(endpoint, this.#call.sends);
    this.#call.noteSent(this.#span?.trace);
    const tracedHeaders = this.#span === undefined ? headers : { ...headers, ...this.#span.trace };
    this.#sent = transport.send(
      {
        method: endpoint.method,
        target: prefix + target,
        headers: tracedHeaders,
        body,
        isWrite,
        needsNewConnection: !this.mayBeStale,
      },
      this,
    );
  }

  /** Starts the attempt, or goes on with it, once `waiting` has resolved. */
  startAfter(waiting: Promise<void>): void {
    waiting.then(
      () => {
        if (!this.#isGivenUp) this.start();
      },
      (error: unknown) => {
        if (!this.#isGivenUp) this.#refused(error);
      },
    );
  }

  sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      this.#timer = setTimeout(resolve, milliseconds);
    });
  }

  failEarly(error: Error): void {
    setTimeout(() => this.#giveUp(), this.endsAt - performance.now()).unref();
    this.#call.fail(error);
  }

  /**
   * Notes that the deadline of a waiter has passed. It is a timeout only if the upstream has had the attempt for at
   * least as long as the gateway had held it back.
   */
  overdue(): void {
    const heldBackMs = this.#sentAt - this.#beganAt;
    if (this.#sent !== undefined && performance.now() - this.#sentAt >= heldBackMs) this.#timeouts += 1;
  }

  /**
   * Gives the attempt up, unless its answer will show whether its key is known. Such an attempt goes on until its
   * deadline: otherwise clients that keep leaving could make any number of calls with an invented key.
   */
  cancel(): void {
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
      if (!this.hasArrived) this.#leaveGates(notSent);
      return;
    }
    // An attempt that still waits for a connection no longer counts as sent. If a deadline has passed meanwhile, the
    // upstream may be failing, and the attempt stays counted.
    if (sent.isWaiting && this.#timeouts === 0) {
      this.run.calls.withdraw();
      this.#onEnd = undefined;
      this.#leaveGates(notSent);
    }
    sent.abort();
  }

  /** Ends an attempt that a gate has refused. A retry fails with the error of the attempt before it. */
  #refused(error: unknown): void {
    this.#leaveGates(notSent);
    this.#call.fail(this.#call.failure ?? error);
  }

  /** Reports the end of the attempt to every gate that it is in. */
  #leaveGates(outcome: Outcome): void {
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
    this.#noteUpstreamDone();
    const text = decodeText(response, largestBody, this);
    if (text instanceof Promise) void text.then((whole) => this.#decoded(response, whole));
    else this.#decoded(response, text);
  }

  /** Reads a response; `text` is undefined if its body could not be decoded. */
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
    this.#onEnd?.(status);
    this.#span?.answered(status);
    this.run.calls.hasSucceeded = true;
    this.#leaveGates({ kind: 'answered', status, error: undefined, provesKey: true, tookMs: this.#tookMs });
    this.#call.answered(response, this.#sentAt);
  }

  /** Receives the failure of the attempt: no response, or one whose status or body is an error. */
  failed(reason: unknown): void {
    const error = this.#isGivenUp && this.hasArrived ? new TransportError('aborted') : reason;
    if (!this.hasArrived) this.#noteUpstreamDone();
    this.#onEnd?.(statusOf(error));
    this.#span?.failed(this.#timeouts > 0 ? timedOut : error);
    this.#leaveGates(this.#outcomeOf(error));
    this.#call.repeatOrFail(error);
  }

  /** Notes that the upstream is done with the attempt. */
  #noteUpstreamDone(): void {
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
}
