import type { CallSpan, TraceContext } from '../call-spans.ts';
import { isRateLimited, isUnauthenticated, noRoomForBodies, Refusal, UpstreamError } from '../errors.ts';
import { reasonOf } from '../failure-reasons.ts';
import { type OnEnd, statusOf } from '../operation-calls.ts';
import type { KeptBody } from '../transport/body-room.ts';
import {
  type DecodedListener,
  type DecodedResponse,
  decodeResponse,
  toDomainError,
} from '../transport/decode-response.ts';
import { type RawResponse, type ResponseListener, type SentRequest, TransportError } from '../transport/transport.ts';
import { AwaitedCall } from './awaited-call.ts';
import type { Attempt, CallOwner, CallRequest, Outcome } from './gate.ts';
import { type Repeat, repeatOf, retryPolicy } from './retry.ts';
import type { UpstreamResources } from './upstream-resources.ts';

/** What the span of a call says that had no answer in time. */
const late = new UpstreamError('UPSTREAM_TIMEOUT');

const notSent: Outcome = { kind: 'not-sent' };

/**
 * One REST call, from the operations that wait for it to the socket and back:
 *
 *     start → gates → sent → decoded → gates left → settled
 *               ↑                         ↓ failed
 *               └── repeated, if it may be┘
 *
 * Each gate may keep it waiting, or refuse it. It ends early when the last operation that waits for it has left.
 */
export class UpstreamCall<T> extends AwaitedCall<T> implements Attempt, ResponseListener, DecodedListener {
  readonly owner: CallOwner;
  readonly request: CallRequest<T>;
  mayBeStale: boolean;
  isUrgent = false;
  hasSlot = false;
  claim: Attempt['claim'];
  permit: Attempt['permit'];
  isProof = false;
  readonly #upstream: UpstreamResources;
  /** How many gates the attempt has entered; it may wait at the last of them. */
  #entered = 0;
  /** For how long it was kept back before it was sent, in milliseconds. */
  #heldMs = 0;
  /** The attempt in flight. */
  #sent: SentRequest | undefined;
  #sentAt = 0;
  /** Its response, until that is read; a busy process may take long to. */
  #unread: RawResponse | undefined;
  #hasArrived = false;
  #status = 0;
  /** How long it took to come, in milliseconds. */
  #tookMs = 0;
  /** Operations whose deadline passed while the upstream had it. */
  #timeouts = 0;
  #sends = 0;
  #onEnd: OnEnd | undefined;
  #span: CallSpan | undefined;
  /** Why the attempt before failed, and how it is repeated. */
  #failure: unknown;
  #repeat: Repeat | undefined;
  #retriesLeft: number = retryPolicy.limit;
  #timer: NodeJS.Timeout | undefined;
  #isGivenUp = false;

  constructor(upstream: UpstreamResources, owner: CallOwner, request: CallRequest<T>) {
    super();
    this.#upstream = upstream;
    this.owner = owner;
    this.request = request;
    this.mayBeStale = !request.isWrite;
  }

  get isGivenUp(): boolean {
    return this.#isGivenUp;
  }

  /** What names the span of the attempt in flight; undefined without tracing. */
  get trace(): TraceContext | undefined {
    return this.#span?.trace;
  }

  override get hasArrived(): boolean {
    return this.#hasArrived;
  }

  /** Sends it, at once if nothing keeps it back, which is nearly always. */
  start(): void {
    if (!this.request.isWrite) this.#upstream.retries.earn();
    this.#goOn();
  }

  /** That says something about the upstream only if it has the call, and for longer than the call was kept back. */
  override overdue(): void {
    if (this.#sent === undefined || this.#hasArrived) return;
    if (this.#upstream.now() - this.#sentAt >= this.#heldMs) this.#timeouts += 1;
  }

  sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      this.#timer = setTimeout(resolve, milliseconds);
    });
  }

  overtake(error: Error): void {
    setTimeout(() => this.#giveUp(), this.endsAt - this.#upstream.now()).unref();
    this.#fail(error);
  }

  /**
   * One that shows whether its key is known goes on as if its clients had stayed: else one that keeps leaving would make any
   * number of calls with an invented key.
   */
  protected override cancel(): void {
    const leftMs = this.#sent !== undefined && this.isProof ? this.endsAt - this.#upstream.now() : 0;
    if (leftMs > 0) setTimeout(() => this.#giveUp(), leftMs).unref();
    else this.#giveUp();
  }

  #giveUp(): void {
    if (this.#isGivenUp) return;
    this.#isGivenUp = true;
    clearTimeout(this.#timer);
    this.#unread?.release();
    if (this.#sent !== undefined) this.#sent.abort();
    else if (!this.#hasArrived) this.#leave(notSent);
  }

  /** Enters the gates that it has not entered yet, and is sent behind the last one. */
  #goOn(): void {
    const { gates } = this.#upstream;
    try {
      for (let gate = gates[this.#entered]; gate !== undefined; gate = gates[this.#entered]) {
        const waiting = gate.enter(this);
        this.#entered += 1;
        if (waiting !== undefined) return this.#goOnAfter(waiting);
      }
    } catch (error) {
      return this.#refused(error);
    }
    this.#send();
  }

  #goOnAfter(waiting: Promise<void>): void {
    const since = this.#upstream.now();
    const ended = (): boolean => {
      this.#heldMs += this.#upstream.now() - since;
      return this.#isGivenUp;
    };
    waiting.then(
      () => {
        if (!ended()) this.#goOn();
      },
      (error: unknown) => {
        if (!ended()) this.#refused(error);
      },
    );
  }

  /** A gate does not let it on. A repeat fails as the attempt before it. */
  #refused(error: unknown): void {
    const isRepeat = this.#repeat !== undefined;
    this.#leave(notSent);
    this.#fail(isRepeat ? this.#failure : error);
  }

  /** The attempt has ended, for every gate that it has entered. */
  #leave(outcome: Outcome): void {
    const { gates, retries } = this.#upstream;
    if (outcome.kind === 'not-sent' && this.#repeat?.kind === 'paid') retries.refund();
    this.#repeat = undefined;
    const entered = this.#entered;
    this.#entered = 0;
    for (let at = entered - 1; at >= 0; at -= 1) gates[at]?.left(this, outcome);
  }

  #send(): void {
    const { transport, prefix, now } = this.#upstream;
    const { calls, spans } = this.owner;
    const { operation, target, headers, body } = this.request;
    this.#repeat = undefined;
    this.#sentAt = now();
    this.#hasArrived = false;
    this.#onEnd = calls.begin(operation.method, target, this.#failure);
    this.#span = spans?.begin(operation, this.#sends);
    this.#sends += 1;
    const sent = this.#span === undefined ? headers : { ...headers, ...this.#span.trace };
    this.#sent = transport.send(
      { method: operation.method, target: prefix + target, headers: sent, body, fresh: !this.mayBeStale },
      this,
    );
  }

  /** Reading its response takes long. */
  later(read: () => void): void {
    this.#upstream.eventLoop.doLarge(read, this.endsAt);
  }

  /** The whole response has come. */
  responded(response: RawResponse): void {
    this.#hasArrived = true;
    this.#unread = response;
    this.#status = response.status;
    this.#release();
    decodeResponse(response, this.owner.caller.key, this.#upstream.maxBodyBytes, this);
  }

  /** It has answered with a success, and its text could be decoded. */
  succeeded(response: DecodedResponse): void {
    const { status } = response;
    this.#unread = undefined;
    this.#onEnd?.(status);
    this.#span?.answered(status);
    this.owner.hasSucceeded = true;
    this.#leave({ kind: 'answered', status, error: undefined, isKnown: true, tookMs: this.#tookMs });
    if (this.waiters.length > 0) this.#settle(response);
  }

  /** The attempt has failed: there was no response, or its status or its body is an error. */
  failed(reason: unknown): void {
    const error = this.#isGivenUp && this.#hasArrived ? new TransportError('aborted') : reason;
    this.#unread = undefined;
    if (!this.#hasArrived) this.#release();
    this.#onEnd?.(statusOf(error));
    this.#span?.failed(this.#timeouts > 0 ? late : error);
    this.#leave(this.#outcomeOf(error));
    const repeat = this.#mayRepeat(error);
    if (repeat === undefined) this.#fail(error);
    else this.#sendAgain(repeat, error);
  }

  /** The upstream has nothing more to do with it. */
  #release(): void {
    this.#sent = undefined;
    this.#tookMs = this.#upstream.now() - this.#sentAt;
  }

  #outcomeOf(error: unknown): Outcome {
    const tookMs = this.#tookMs;
    if (!(error instanceof TransportError)) {
      const isKnown = reasonOf(error) === undefined && !isUnauthenticated(error) && !isRateLimited(error);
      return { kind: 'answered', status: this.#status, error, isKnown, tookMs };
    }
    const { fault } = error;
    return fault === 'aborted'
      ? { kind: 'given-up', timeouts: this.#timeouts, tookMs }
      : { kind: 'failed', fault, error, tookMs };
  }

  /**
   * How a read that has failed is sent again; undefined if it is not. A paid repeat is taken out of the budget, of the calls
   * that its operation may make and of those that it is worth; the upstream must be able to bear it, and it must start in time.
   */
  #mayRepeat(error: unknown): Repeat | undefined {
    if (this.request.isWrite || this.waiters.length === 0) return undefined;
    const repeat = repeatOf(error, this.mayBeStale);
    if (repeat?.kind !== 'paid') {
      if (repeat !== undefined) this.mayBeStale = false;
      return repeat;
    }
    const { retries, isStrained, now } = this.#upstream;
    const startsAt = now() + repeat.delayMs + repeat.pauseMs;
    if (this.#retriesLeft === 0 || isStrained() || startsAt >= this.endsAt) return undefined;
    if (!this.owner.calls.reserve() || !retries.spend()) return undefined;
    this.#retriesLeft -= 1;
    return repeat;
  }

  #sendAgain(repeat: Repeat, failure: unknown): void {
    this.#failure = failure;
    this.#repeat = repeat;
    this.#hasArrived = false;
    this.#heldMs = 0;
    this.isUrgent = false;
    if (repeat.delayMs > 0) this.#goOnAfter(this.sleep(repeat.delayMs));
    else this.#goOn();
  }

  /** Gives each operation that waits the value, if it may keep it: what is read counts against its memory. */
  #settle(response: DecodedResponse): void {
    const { bodies, eventLoop } = this.#upstream;
    const body = this.request.isWrite ? bodies.keepWritten(response.text) : bodies.keep(response.text);
    if (body === undefined) return this.#fail(noRoomForBodies);
    if (this.isLarge) eventLoop.doLarge(() => this.#resolveWith(response, body), this.endsAt);
    else this.#resolveWith(response, body);
  }

  #resolveWith(response: DecodedResponse, body: KeptBody): void {
    const { bodies, eventLoop } = this.#upstream;
    const { isWrite, decode } = this.request;
    try {
      if (this.keep(body, isWrite ? Number.POSITIVE_INFINITY : bodies.limits.operation)) {
        this.resolve(decode(response), response.text.length, eventLoop);
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      body.release();
    }
  }

  #fail(error: unknown): void {
    // The first call that is refused may end its operation, which leaves the others.
    if (error instanceof Refusal && this.waiters.length > 0 && !this.isBackground) this.#upstream.onRefused(error);
    this.reject(toDomainError(error));
  }
}
