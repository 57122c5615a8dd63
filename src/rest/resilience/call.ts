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
import { Admission } from './admission.ts';
import { AwaitedCall } from './awaited-call.ts';
import { type Breaker, probeWaitMs } from './breaker.ts';
import type { CallOwner, CallRequest } from './call-request.ts';
import type { Deadline } from './concurrency-limiter.ts';
import { type Repeat, repeatOf, retryPolicy } from './retry.ts';
import type { UpstreamResources } from './upstream-resources.ts';

/** What the span of a call says that had no answer in time. */
const late = new UpstreamError('UPSTREAM_TIMEOUT');

/**
 * One REST call, from the operations that wait for it to the socket and back:
 *
 *     start → pause over → key known → within budget → breaker lets it pass → slot taken → sent → decoded → settled
 *               ↑                                                                ↓ failed
 *               └────────────────────────── repeated, if it may be ──────────────┘
 *
 * The first five steps are those of admission.ts, and can refuse it. It ends early when the last operation that waits
 * for it has left.
 */
export class UpstreamCall<T> extends AwaitedCall<T> implements Deadline, ResponseListener, DecodedListener {
  readonly #upstream: UpstreamResources;
  readonly #owner: CallOwner;
  readonly #request: CallRequest<T>;
  /** The attempt in flight. */
  #sent: SentRequest | undefined;
  #sentAt = 0;
  /** Whether its response is there; a busy process may take long to read it. */
  #hasArrived = false;
  /** The response, until it is read. */
  #unread: RawResponse | undefined;
  /** How long it took to come, in milliseconds. */
  #tookMs = 0;
  #sends = 0;
  #onEnd: OnEnd | undefined;
  #span: CallSpan | undefined;
  /** How the attempt before failed. */
  #failure: unknown;
  #retriesLeft: number = retryPolicy.limit;
  /**
   * Whether it may go on a connection that was kept open. The upstream may close such a connection just now: a read is
   * repeated for free then, on a new connection, but nothing would show whether a write was processed.
   */
  #mayBeStale: boolean;
  /** The breaker that let it pass as a probe and waits for its outcome. */
  #probed: Breaker | undefined;
  #probeTimer: NodeJS.Timeout | undefined;
  /** Its waiting, if it could not be sent at once. */
  #admission: Admission | undefined;
  #isCancelled = false;
  /** True if the deadline of an operation has passed while the upstream had it. */
  #isLate = false;

  constructor(upstream: UpstreamResources, owner: CallOwner, request: CallRequest<T>) {
    super();
    this.#upstream = upstream;
    this.#owner = owner;
    this.#request = request;
    this.#mayBeStale = !request.isWrite;
  }

  /** What names the span of the attempt in flight; undefined without tracing. */
  get trace(): TraceContext | undefined {
    return this.#span?.trace;
  }

  /** Sends it, at once if nothing keeps it back, which is nearly always. */
  start(): void {
    const { budget, callBudget, pauses, keys, breakers, limiter } = this.#upstream;
    const { caller } = this.#owner;
    if (!this.#request.isWrite) budget.earn();
    const isFree = callBudget === undefined && pauses.none && breakers.isCalm(caller.sharingKey);
    const isAdmitted = isFree && keys.enter(caller, this) && limiter.take(caller.queueKey);
    if (isAdmitted && this.#request.beforeSend === undefined) this.#send();
    else this.#sendWhenReady(isAdmitted).catch((error: unknown) => this.#fail(error));
  }

  /** The deadline of an operation that waited has passed. That says something about the upstream only if it has the call. */
  override overdue(): void {
    if (this.#sent === undefined) return;
    const { reachability, breakers, now } = this.#upstream;
    // Kept back for longer than it was under way, it had no time.
    if (now() - this.#sentAt < (this.#admission?.heldMs ?? 0)) return this.#takeProbed()?.abandon();
    this.#isLate = true;
    reachability.failedFor('TIMEOUT');
    breakers.failed({ kind: 'timeout' }, this.#owner.caller.sharingKey, this.#request.operation);
    this.#takeProbed()?.fail();
  }

  override get hasArrived(): boolean {
    return this.#hasArrived;
  }

  /**
   * With a key on trial it goes on as if its clients had stayed: else one that keeps leaving would make any number of calls
   * with an invented key.
   */
  protected override cancel(): void {
    const { keys, now } = this.#upstream;
    const leftMs = this.#sent !== undefined && keys.isOnTrial(this.#owner.caller) ? this.endsAt - now() : 0;
    if (leftMs > 0) setTimeout(() => this.#giveUp(), leftMs).unref();
    else this.#giveUp();
  }

  #giveUp(): void {
    this.#isCancelled = true;
    this.#admission?.cancel();
    this.#sent?.abort();
    this.#unread?.release();
  }

  /** Rejects if it is refused or cancelled. */
  async #sendWhenReady(isAdmitted: boolean): Promise<void> {
    const probed = isAdmitted ? undefined : await this.#waiting.enter();
    const { beforeSend } = this.#request;
    if (beforeSend !== undefined && !this.#isCancelled) await beforeSend();
    if (this.#isCancelled) {
      // It has ended meanwhile: nothing would end an attempt that is sent now.
      probed?.abandon();
      this.#waiting.giveBack();
      this.#upstream.limiter.release(this.#owner.caller.queueKey, 0);
      throw new TransportError('aborted');
    }
    this.#probed = probed;
    this.#send();
  }

  get #waiting(): Admission {
    this.#admission ??= new Admission(this.#upstream, this.#owner, this.#request, this);
    return this.#admission;
  }

  #send(): void {
    const { transport, prefix, now } = this.#upstream;
    const { calls, spans } = this.#owner;
    const { operation, target, headers, body } = this.#request;
    this.#sentAt = now();
    this.#hasArrived = false;
    this.#onEnd = calls.begin(operation.method, target, this.#failure);
    this.#span = spans?.begin(operation, this.#sends);
    this.#sends += 1;
    if (this.#probed !== undefined) this.#probeTimer = setTimeout(() => this.#outwaitProbe(), probeWaitMs);
    const sent = this.#span === undefined ? headers : { ...headers, ...this.#span.trace };
    this.#sent = transport.send(
      { method: operation.method, target: prefix + target, headers: sent, body, fresh: !this.#mayBeStale },
      this,
    );
  }

  /**
   * Operations that wait for a read that probes learn in under a second that nothing answers; the probe itself goes on to
   * the end of its time. Those that wait for a write wait on: they must know what became of it.
   */
  #outwaitProbe(): void {
    this.#takeProbed()?.overdue();
    if (this.#request.isWrite) return;
    setTimeout(() => this.cancel(), this.endsAt - this.#upstream.now()).unref();
    this.#fail(new UpstreamError('UPSTREAM_UNAVAILABLE'));
  }

  /** Reading its response takes long. */
  later(read: () => void): void {
    this.#upstream.eventLoop.doLarge(read, this.endsAt);
  }

  /** The whole response has come. */
  responded(response: RawResponse): void {
    this.#hasArrived = true;
    this.#unread = response;
    this.#release(response.status);
    decodeResponse(response, this.#owner.caller.key, this.#upstream.maxBodyBytes, this);
  }

  /** It has answered with a success, and its text could be decoded. */
  succeeded(response: DecodedResponse): void {
    const { counts, keys, reachability } = this.#upstream;
    const { caller } = this.#owner;
    this.#unread = undefined;
    this.#onEnd?.(response.status);
    this.#span?.answered(response.status);
    counts.add(this.#request.operation, response.status, this.#tookMs, caller.tenant?.name);
    this.#answered();
    reachability.answered();
    this.#owner.hasSucceeded = true;
    keys.prove(caller);
    keys.left(caller, this);
    if (this.waiters.length > 0) this.#settle(response);
  }

  /** The attempt has failed: there was no response, or its status or its body is an error. */
  failed(reason: unknown): void {
    const error = this.#isCancelled && this.#hasArrived ? new TransportError('aborted') : reason;
    this.#unread = undefined;
    if (!this.#hasArrived) this.#release();
    this.#onEnd?.(statusOf(error));
    this.#span?.failed(this.#isLate ? late : error);
    this.#learnFrom(error);
    this.#learnOfKey(error);
    const repeat = this.#mayRepeat(error);
    if (repeat === undefined) this.#fail(error);
    else void this.#repeat(repeat, error);
  }

  /** The upstream has nothing more to do with it. It has answered with a status, or not at all. */
  #release(status?: number): void {
    clearTimeout(this.#probeTimer);
    this.#sent = undefined;
    this.#tookMs = this.#upstream.now() - this.#sentAt;
    this.#upstream.limiter.release(this.#owner.caller.queueKey, this.#tookMs);
    this.#admission?.ended(status);
  }

  #answered(): void {
    const { breakers } = this.#upstream;
    breakers.succeeded(this.#owner.caller.sharingKey);
    this.#takeProbed()?.close();
  }

  /** Tells the breakers and the pauses what a failure means to them. */
  #learnFrom(error: unknown): void {
    const { breakers, pauses, counts, reachability } = this.#upstream;
    const { sharingKey, tenant } = this.#owner.caller;
    const { operation } = this.#request;
    const tookMs = this.#tookMs;
    const { status = 0, retryAfter = 0 } = (error instanceof UpstreamError ? error.upstream : undefined) ?? {};
    if (isRateLimited(error)) pauses.begin(sharingKey, operation, retryAfter);
    const fault = error instanceof TransportError ? error.fault : undefined;
    counts.add(operation, fault ?? status, tookMs, tenant?.name);
    if (fault === 'aborted' || fault === 'no-room' || (fault === 'stale-socket' && this.#mayBeStale)) {
      this.#takeProbed()?.abandon();
    } else if (status >= 500 || fault === 'network' || fault === 'stale-socket') {
      reachability.failed(error);
      breakers.failed(status >= 500 ? { kind: 'server-error' } : { kind: 'network', tookMs }, sharingKey, operation);
      this.#takeProbed()?.fail();
    } else {
      this.#answered();
      reachability.failed(error);
    }
  }

  /** Any answer of the API shows that it knows the key, but one that says that it does not, or nothing of it. */
  #learnOfKey(error: unknown): void {
    const { keys } = this.#upstream;
    const { caller, hasSucceeded } = this.#owner;
    if (isUnauthenticated(error)) {
      if (!hasSucceeded) keys.reject(caller, error);
    } else if (reasonOf(error) === undefined && !isRateLimited(error)) keys.prove(caller);
    keys.left(caller, this);
  }

  #takeProbed(): Breaker | undefined {
    const probed = this.#probed;
    this.#probed = undefined;
    return probed;
  }

  /**
   * Whether a read that has failed is sent again. A paid repeat is taken out of the budget, of the calls that its operation
   * may make and of those that it is worth; the upstream must be able to bear it, and it must start in time.
   */
  #mayRepeat(error: unknown): Repeat | undefined {
    if (this.#request.isWrite || this.waiters.length === 0) return undefined;
    const repeat = repeatOf(error, this.#mayBeStale);
    if (repeat?.kind !== 'paid') {
      if (repeat !== undefined) this.#mayBeStale = false;
      return repeat;
    }
    const { budget, breakers, limiter, pauses, now } = this.#upstream;
    const { caller, calls } = this.#owner;
    if (this.#retriesLeft === 0 || breakers.state !== 'closed' || limiter.queued > 0) return undefined;
    const startsAt = now() + repeat.delayMs + pauses.remaining(caller.sharingKey, this.#request.operation);
    if (startsAt >= this.endsAt || !calls.reserve() || !budget.spend()) return undefined;
    this.#retriesLeft -= 1;
    return repeat;
  }

  async #repeat(repeat: Repeat, failure: unknown): Promise<void> {
    this.#failure = failure;
    try {
      if (repeat.delayMs > 0) await this.#waiting.sleep(repeat.delayMs);
      await this.#sendWhenReady(false);
    } catch {
      if (repeat.kind === 'paid') this.#upstream.budget.refund();
      this.#fail(failure);
    }
  }

  /** Gives each operation that waits the value, if it may keep it: what is read counts against its memory. */
  #settle(response: DecodedResponse): void {
    const { bodies, eventLoop } = this.#upstream;
    const body = this.#request.isWrite ? bodies.keepWritten(response.text) : bodies.keep(response.text);
    if (body === undefined) return this.#fail(noRoomForBodies);
    if (this.isLarge) eventLoop.doLarge(() => this.#resolveWith(response, body), this.endsAt);
    else this.#resolveWith(response, body);
  }

  #resolveWith(response: DecodedResponse, body: KeptBody): void {
    const { bodies, eventLoop } = this.#upstream;
    const { isWrite, decode } = this.#request;
    try {
      if (this.keep(body, isWrite ? Number.POSITIVE_INFINITY : bodies.limits.operation)) {
        this.resolve(decode(response), response.text.length, eventLoop);
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      body.letGo();
    }
  }

  #fail(error: unknown): void {
    // The first call that is refused may end its operation, which leaves the others.
    if (error instanceof Refusal && this.waiters.length > 0 && !this.isBackground)
      this.#upstream.budgetCounts.refused(error);
    this.reject(toDomainError(error));
  }
}
