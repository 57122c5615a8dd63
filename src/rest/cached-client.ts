import { setTimeout as delay } from 'node:timers/promises';
import type { CachedAnswer } from './cache/cached-answers.ts';
import type { CachedRead, OperationCache } from './cache/operation-cache.ts';
import type { AnswerKind, RestCache } from './cache/rest-cache.ts';
import type { Caller } from './caller.ts';
import type { CallerClient, CallingOperation, RestClient } from './client.ts';
import { isForbidden, isNotFound, isUnauthenticated, noRoomForBodies, type UpstreamError } from './errors.ts';
import { OperationCalls, statusOf } from './operation-calls.ts';
import { OperationDeadline } from './operation-deadline.ts';
import type { RestOperation } from './operation-ids.ts';
import type { UpstreamResources } from './resilience/upstream-resources.ts';

/** An operation that has a part of the cache. */
export interface CachingOperation extends CallingOperation {
  readonly cache: OperationCache;
}

/** Options of a client with a cache. */
export interface CachedClientOptions {
  readonly cache: RestCache;
  readonly upstream: Pick<UpstreamResources, 'bodies' | 'eventLoop'>;
  readonly caller: Caller;
  readonly operation: CachingOperation;
  /** Makes the client that calls in the name of the same caller. */
  readonly createClient: (operation: CachingOperation) => CallerClient;
}

/** Reads an answer anew, from a target that holds at least the rows of the old one. */
type Refreshing = (client: CallerClient, target: string) => Promise<unknown>;

/** The most calls of a refresh: one, and one retry. */
const callsOfRefresh = 2;

/** The interval at which Redis is asked for the answer that another gateway reads anew, in milliseconds. */
const untilReadMs = 100;

/** One operation's calls through the cache: its reads may be answered without one, its writes renew the key's epoch. */
export class CachedClient implements RestClient {
  readonly #options: CachedClientOptions;
  readonly #client: CallerClient;
  readonly #keepsAny: boolean;

  constructor(options: CachedClientOptions) {
    this.#options = options;
    this.#client = options.createClient(options.operation);
    this.#keepsAny = options.cache.keepsAny;
  }

  getJson(operation: RestOperation, target: string): Promise<unknown> {
    if (!this.#keepsAny) return this.#client.getJson(operation, target);
    const found = this.#find(operation, 'json', target);
    if (found instanceof Promise) return found.then((answer) => this.#json(answer, operation, target));
    return this.#json(found, operation, target);
  }

  getCsv(operation: RestOperation, target: string): Promise<string> {
    if (!this.#keepsAny) return this.#client.getCsv(operation, target);
    const found = this.#find(operation, 'csv', target);
    if (found instanceof Promise) return found.then((answer) => this.#csv(answer, operation, target));
    return this.#csv(found, operation, target);
  }

  /**
   * Sends a write. The key gets a new epoch before the write is sent, and another when it has ended. So no answer from
   * before the write, or from while it was in flight, is given after it.
   */
  async write(operation: RestOperation, target: string, body?: unknown): Promise<unknown> {
    const { cache, caller, operation: own } = this.#options;
    own.cache.noteCall();
    const sending = { hasBegun: false };
    const renew = async (): Promise<void> => own.cache.moveTo(await cache.epochs.renew(caller.sharingKey));
    const beforeSend = (): Promise<void> => {
      sending.hasBegun = true;
      return renew();
    };
    try {
      return await this.#watched(this.#client.write(operation, target, body, { beforeSend }));
    } catch (error) {
      // A write without an answer may still arrive, at the latest when the upstream gives it up. A 5xx may be a proxy's.
      if (sending.hasBegun && (statusOf(error) ?? 500) >= 500) setTimeout(() => void renew(), cache.lateMs).unref();
      throw error;
    } finally {
      if (sending.hasBegun) await renew();
    }
  }

  /** Looks an answer up. An operation that has ended finds none, and its client refuses the read. */
  #find(operation: RestOperation, kind: AnswerKind, target: string): ReturnType<OperationCache['find']> {
    const { deadline, cache } = this.#options.operation;
    return deadline.ended === undefined ? cache.find(operation, kind, target) : undefined;
  }

  #json(answer: CachedAnswer | undefined, operation: RestOperation, target: string): Promise<unknown> {
    if (answer === undefined) return this.#call(target, (client) => client.getJson(operation, target));
    const read: CachedRead = { operation, kind: 'json', target };
    return this.#give(answer, answer.value, read, (client, anew) => client.getJson(operation, anew));
  }

  #csv(answer: CachedAnswer | undefined, operation: RestOperation, target: string): Promise<string> {
    if (typeof answer?.value !== 'string') return this.#call(target, (client) => client.getCsv(operation, target));
    const read: CachedRead = { operation, kind: 'csv', target };
    return this.#give(answer, answer.value, read, (client, anew) => client.getCsv(operation, anew));
  }

  #call<T>(target: string, call: (client: CallerClient) => Promise<T>): Promise<T> {
    this.#options.operation.cache.noteCall();
    return this.#watched(call(this.#client), target);
  }

  /**
   * Gives a cached answer. Its memory counts for the operation as if the operation had read it. A stale answer is refreshed.
   */
  #give<T>(answer: CachedAnswer, value: T, read: CachedRead, call: Refreshing): Promise<T> {
    const { upstream, operation } = this.#options;
    const { deadline, calls, cache } = operation;
    if (deadline.ended !== undefined) return Promise.reject(deadline.ended);
    const isStale = cache.isStale(answer);
    if (isStale) {
      cache.noteCall();
      this.#refresh(answer, read, call);
    }
    const refusal = this.#hold(answer, cache.pages?.shareOf(read.target));
    if (refusal !== undefined) return Promise.reject(refusal);
    deadline.received += answer.size;
    calls.reuse(read.target, isStale ? 'stale' : 'hit');
    if (!deadline.isLarge) return Promise.resolve(value);
    return new Promise((resolve) => upstream.eventLoop.doLater(() => resolve(value), deadline.endsAt));
  }

  /** Counts the memory of an answer for the operation. Returns the error that ends it if there is no room for that. */
  #hold(answer: CachedAnswer, share: number | undefined): UpstreamError | undefined {
    const { bodies } = this.#options.upstream;
    const { deadline } = this.#options.operation;
    const body = answer.hold(bodies);
    if (body === undefined) deadline.fail(noRoomForBodies);
    else deadline.keep(body, bodies.limits.operation, share);
    body?.release();
    return deadline.ended;
  }

  /**
   * Refreshes an answer, unless a refresh is in flight in this or another gateway, or another gateway has just done it. The
   * operation does not wait for it, and may end before it.
   */
  #refresh(answer: CachedAnswer, read: CachedRead, call: Refreshing): void {
    const { cache, operation, createClient } = this.#options;
    if (answer.isRefreshing || cache.now() < answer.refreshFrom) return;
    answer.isRefreshing = true;
    const deadline = new OperationDeadline(cache.refreshMs);
    const calls = new OperationCalls(callsOfRefresh);
    const end = (): void => {
      deadline.finish();
      answer.isRefreshing = false;
    };
    const own = operation.cache.forRefresh();
    const target = operation.cache.pages?.refreshTargetOf(read.operation, read.target) ?? read.target;
    const client = createClient({ deadline, calls, cache: own, isBackground: true });
    const readAnew = async (): Promise<void> => {
      const asked = own.refreshOf({ ...read, target });
      const where = asked instanceof Promise ? await asked : asked;
      // A list that is gone is gone in pages of any size: both targets are forgotten.
      if (where === 'here') await this.#watched(call(client, target), target, read.target);
      else if (where === 'elsewhere') await delay(untilReadMs, undefined, { ref: false });
    };
    // If the refresh fails, the answer stays for as long as it may be used.
    readAnew().then(end, () => {
      answer.refreshFrom = cache.now() + Math.min(answer.version.freshMs, cache.refreshMs);
      end();
    });
  }

  /**
   * Passes the answer of the upstream on. It waits until later operations are not given cached answers that this one has
   * shown to be untrue.
   */
  async #watched<T>(answer: Promise<T>, ...targets: readonly string[]): Promise<T> {
    const { cache } = this.#options.operation;
    try {
      const value = await answer;
      cache.prove();
      if (cache.ending !== undefined) await cache.ending;
      return value;
    } catch (error) {
      if (isUnauthenticated(error)) await cache.end();
      else if (isNotFound(error) || isForbidden(error)) await cache.endKept(...targets);
      throw error;
    }
  }
}
