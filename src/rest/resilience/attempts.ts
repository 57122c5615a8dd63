import type { CallSpan, TraceContext } from '../call-spans.ts';
import { UpstreamError } from '../errors.ts';
import { statusOf } from '../operation-calls.ts';
import { type DecodedResponse, type Outcome, send } from '../transport/send.ts';
import { type Abort, TransportError } from '../transport/transport.ts';
import { Admission } from './admission.ts';
import { type Breaker, probeWaitMs } from './breaker.ts';
import type { Job, Line } from './job.ts';
import { type Retry, retryOf } from './retry.ts';

/** The attempts that one read or write is worth. Fails with TransportErrors and UpstreamErrors. */
export class Attempts {
  readonly #line: Line;
  readonly #job: Job;
  readonly #admission: Admission;
  #abort: Abort | undefined;
  #probed: Breaker | undefined;
  /** Whether it may go on a connection that was kept open: not for writes, and not once one was found closed. */
  #mayBeStale: boolean;
  #sent = 0;
  /** How it failed, before it is sent again. */
  #failure: unknown;
  #span: CallSpan | undefined;

  constructor(line: Line, job: Job) {
    this.#line = line;
    this.#job = job;
    this.#mayBeStale = job.call.fresh !== true;
    this.#admission = new Admission(line, job);
  }

  /** Sends a write, exactly once. */
  async write(): Promise<DecodedResponse> {
    await this.#admission.enter();
    return this.#sendAgain();
  }

  /** Sends a read, and once more where its failure allows it and those who asked still wait by then. */
  read(outcome: Outcome): void {
    this.#line.budget.earn();
    const first: Outcome = {
      succeed: outcome.succeed,
      fail: (error) => void this.#repeat(error, true).then(outcome.succeed, outcome.fail),
    };
    const entering = this.#admission.enter();
    if (entering === undefined) this.#sendPatiently(first);
    else entering.then(() => this.#sendPatiently(first), outcome.fail);
  }

  /** Gives up, wherever the call is. */
  cancel(): void {
    this.#admission.leave();
    this.#abort?.();
  }

  /** Somebody's deadline passed. That says something about the upstream only if it has the call. */
  overdue(): void {
    if (this.#abort === undefined) return;
    this.#line.reachability.failedFor('TIMEOUT');
    this.#line.breakers.failed({ kind: 'timeout' }, this.#job.callerHash, this.#job.target);
    this.#takeProbed()?.fail();
  }

  /** What names the span of the call that is under way, where somebody traces. */
  get trace(): TraceContext | undefined {
    return this.#span?.trace;
  }

  async #repeat(failure: unknown, once: boolean): Promise<DecodedResponse> {
    this.#failure = failure;
    const retry = retryOf(failure);
    const free = retry.kind === 'free' && this.#mayBeStale;
    if (free) this.#mayBeStale = false;
    else if (retry.kind === 'never' || !once || !this.#mayRetry(retry)) throw failure;
    try {
      if (retry.kind === 'once') await this.#admission.sleep(retry.delayMs);
      await this.#admission.enter();
    } catch {
      if (!free) this.#line.budget.refund();
      throw failure;
    }
    try {
      return await this.#sendAgain();
    } catch (error) {
      return this.#repeat(error, once && free);
    }
  }

  #sendAgain(): Promise<DecodedResponse> {
    return new Promise((succeed, fail) => this.#sendPatiently({ succeed, fail }));
  }

  /** Takes a retry out of the budget where there is one, the upstream can bear it, and it would start in time. */
  #mayRetry(retry: Retry): boolean {
    const { budget, breakers, limiter, pauses, now } = this.#line;
    const { callerHash, target, deadline } = this.#job;
    if (breakers.state !== 'closed' || limiter.queued > 0) return false;
    const delayMs = retry.kind === 'once' ? retry.delayMs : 0;
    const startsAt = now() + delayMs + pauses.remaining(callerHash, target);
    return startsAt < deadline.endsAt && this.#job.calls.reserve() && budget.spend();
  }

  /**
   * Whoever asked is answered in under a second where the call is a probe; the probe goes on to the end of its time.
   * A write's caller waits on: it must know what became of it.
   */
  #sendPatiently(outcome: Outcome): void {
    const probed = this.#admission.takeProbed();
    if (this.#admission.isLeft) return this.#turnBack(probed, outcome);
    this.#probed = probed;
    if (probed === undefined) return this.#send(outcome);
    let isAwaited = true;
    const timer = setTimeout(() => {
      this.#probed = undefined;
      probed.overdue();
      if (this.#job.isWrite) return;
      isAwaited = false;
      setTimeout(() => this.cancel(), this.#job.deadline.endsAt - this.#line.now()).unref();
      outcome.fail(new UpstreamError('UPSTREAM_UNAVAILABLE'));
    }, probeWaitMs);
    const end = (tell: () => void): void => {
      clearTimeout(timer);
      if (isAwaited) tell();
    };
    this.#send({
      succeed: (response) => end(() => outcome.succeed(response)),
      fail: (error) => end(() => outcome.fail(error)),
    });
  }

  /** Given up between its slot and its start: sent now, nothing would ever end it. */
  #turnBack(probed: Breaker | undefined, { fail }: Outcome): void {
    probed?.abandon();
    this.#line.limiter.release(this.#job.callerHash, 0);
    fail(new TransportError('aborted'));
  }

  #send({ succeed, fail }: Outcome): void {
    const { transport, now, maxBodyBytes } = this.#line;
    const { call, key, calls, target, spans } = this.#job;
    const startedAt = now();
    const ended = calls.begin(call.method, target, this.#failure);
    const span = spans?.begin(call.method, target, this.#sent);
    this.#sent += 1;
    this.#span = span;
    const traced = span === undefined ? call : { ...call, headers: { ...call.headers, ...span.trace } };
    const sent = this.#mayBeStale ? traced : { ...traced, fresh: true };
    this.#abort = send(transport, sent, key, maxBodyBytes, {
      succeed: (response) => {
        ended(response.status);
        span?.answered(response.status);
        const tookMs = now() - startedAt;
        this.#line.counts.add(call.method, target, response.status, tookMs);
        this.#answered();
        // A proxy's or another server's page; the API never sends one.
        if (response.contentType.startsWith('text/html')) this.#line.reachability.failedFor('NOT_THE_API');
        this.#release(tookMs);
        succeed(response);
      },
      fail: (error) => {
        ended(statusOf(error));
        span?.failed(error);
        const tookMs = now() - startedAt;
        this.#failed(error, tookMs);
        this.#release(tookMs);
        fail(error);
      },
    });
  }

  #release(tookMs: number): void {
    this.#abort = undefined;
    this.#line.limiter.release(this.#job.callerHash, tookMs);
  }

  #answered(): void {
    this.#line.reachability.answered();
    this.#line.breakers.succeeded(this.#job.callerHash, this.#job.target);
    this.#takeProbed()?.close();
  }

  /** Tells the breakers and the pauses what a failure means to them. */
  #failed(error: unknown, tookMs: number): void {
    const { breakers, pauses } = this.#line;
    const { callerHash, target } = this.#job;
    const { status = 0, retryAfter = 0 } = (error instanceof UpstreamError ? error.upstream : undefined) ?? {};
    if (status === 429) pauses.begin(callerHash, target, retryAfter);
    const fault = error instanceof TransportError ? error.fault : undefined;
    this.#line.counts.add(this.#job.call.method, target, fault ?? status, tookMs);
    if (fault === 'aborted' || fault === 'no-room' || (fault === 'stale-socket' && this.#mayBeStale)) {
      this.#takeProbed()?.abandon();
    } else if (status >= 500 || fault === 'network' || fault === 'stale-socket') {
      this.#line.reachability.failed(error);
      breakers.failed(status >= 500 ? { kind: 'server-error' } : { kind: 'network', tookMs }, callerHash, target);
      this.#takeProbed()?.fail();
    } else {
      this.#answered();
      this.#line.reachability.failed(error);
    }
  }

  #takeProbed(): Breaker | undefined {
    const probed = this.#probed;
    this.#probed = undefined;
    return probed;
  }
}
