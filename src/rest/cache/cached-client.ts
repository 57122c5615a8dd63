import { setTimeout as delay } from 'node:timers/promises';
import { mapMaybePromise } from '../../maybe-promise.ts';
import { CallerClient, type RestClient } from '../client.ts';
import { isForbidden, isNotFound, isUnauthenticated } from '../errors.ts';
import { OperationCalls } from '../operation-calls.ts';
import { OperationDeadline } from '../operation-deadline.ts';
import type { CallResult } from '../resilience/gate.ts';
import type { UpstreamResources } from '../resilience/upstream-resources.ts';
import type { ReadFormat } from '../response-content.ts';
import type { RestOperation } from '../rest-operations.ts';
import type { RestRun } from '../rest-run.ts';
import type { AnswerCache, CachedRead } from './answer-cache.ts';
import { forbidsKeeping } from './freshness.ts';
import type { KeptAnswer } from './kept-answers.ts';

interface CachedClientOptions {
  readonly cache: AnswerCache;
  readonly resources: UpstreamResources;
  readonly run: RestRun;
}

/** The maximum number of calls of a refresh: one, and one retry. */
const callsOfRefresh = 2;

/** The time after which Redis is asked again for an answer that another gateway refreshes, in milliseconds. */
const askAgainMs = 100;

/** Makes the REST calls of one operation through the cache: kept answers may answer its reads. */
export class CachedClient implements RestClient {
  readonly #options: CachedClientOptions;
  readonly #client: CallerClient;

  constructor(options: CachedClientOptions) {
    this.#options = options;
    this.#client = new CallerClient(options.resources, options.run);
  }

  read(endpoint: RestOperation, target: string, format: ReadFormat = 'json'): Promise<unknown> {
    const { cache, run } = this.#options;
    const read = cache.readOf(run, endpoint, target, format);
    if (read === undefined)
      return this.#client.read(endpoint, target, format, (result) => this.#keepOrForget(result, target));
    // `#client` refuses the reads of an operation that has ended.
    if (run.deadline.ended !== undefined) return this.#call(read);
    const found = cache.find(read, run.epoch.reuse);
    return mapMaybePromise(found, (answer) => (answer === undefined ? this.#call(read) : this.#give(answer, read)));
  }

  write(endpoint: RestOperation, target: string, body?: unknown): Promise<unknown> {
    return this.#client.write(endpoint, target, body);
  }

  /** Reads from the upstream. */
  #call(read: CachedRead): Promise<unknown> {
    const { cache, run } = this.#options;
    const { endpoint, target, format } = read;
    run.calls.limitFreshness(cache.now() + read.freshMs);
    return this.#client.read(endpoint, target, format, (result) => this.#keepOrForget(result, target, read));
  }

  /**
   * Keeps an answer of the upstream, unless `read` is undefined. If the upstream has shown that kept answers are no
   * longer true, the promise resolves once no later operation can be given them.
   */
  #keepOrForget(result: CallResult, target: string, read?: CachedRead): Promise<void> | undefined {
    const { cache, run } = this.#options;
    if ('error' in result) {
      if (isUnauthenticated(result.error)) return cache.endEpoch(run);
      return isNotFound(result.error) || isForbidden(result.error) ? cache.endEpoch(run, target) : undefined;
    }
    if (read === undefined) return undefined;
    if (forbidsKeeping(result.response.headers['cache-control'])) return cache.endEpoch(run, target);
    if (run.epoch.keeps) cache.keep(read, result);
    return undefined;
  }

  /** Gives a kept answer. Its memory counts as if the upstream had given it. If it is stale, it is refreshed. */
  #give(answer: KeptAnswer, read: CachedRead): Promise<unknown> {
    const { cache, resources, run } = this.#options;
    const { deadline, calls } = run;
    if (deadline.ended !== undefined) return Promise.reject(deadline.ended);
    const isStale = cache.isStale(answer);
    if (isStale) this.#refresh(answer, read);
    // Rows of the page beyond those that the read asks for do not count.
    const share = read.limit === undefined || answer.limit === undefined ? 1 : read.limit / answer.limit;
    const refusal = deadline.count(Math.ceil(answer.bytes * share), resources.bodies.limits.operation);
    if (refusal !== undefined) return Promise.reject(refusal);
    deadline.received += answer.length;
    calls.noteCached(read.target, answer.source, isStale ? 'stale' : 'hit');
    const { value } = answer;
    if (!deadline.isLarge) return Promise.resolve(value);
    return new Promise((resolve) => resources.eventLoop.doLater(() => resolve(value), deadline.endsAt));
  }

  /** Refreshes an answer in the background, unless this or another gateway is doing so, or has just done so. */
  #refresh(answer: KeptAnswer, asked: CachedRead): void {
    const { cache, run } = this.#options;
    if (answer.isRefreshing || cache.now() < answer.refreshFrom) return;
    answer.isRefreshing = true;
    const deadline = new OperationDeadline(cache.refreshMs);
    const calls = new OperationCalls(callsOfRefresh);
    const epoch = run.epoch.forRefresh();
    const refreshing = new CachedClient({
      ...this.#options,
      run: { caller: run.caller, deadline, calls, epoch, isBackground: true },
    });
    const read = cache.refreshOf(answer, asked);
    const readAnew = async (): Promise<void> => {
      if (await cache.claimRefresh(read)) await refreshing.#call(read);
      else await delay(askAgainMs, undefined, { ref: false });
    };
    // If the refresh fails, the answer stays for as long as it may be used.
    readAnew()
      .catch(() => {
        answer.refreshFrom = cache.now() + Math.min(asked.freshMs, cache.refreshMs);
      })
      .finally(() => {
        deadline.finish();
        answer.isRefreshing = false;
      });
  }
}
