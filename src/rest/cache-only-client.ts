import type { CachedRead, OperationCache } from './cache/operation-cache.ts';
import type { RestClient } from './client.ts';
import { UpstreamError } from './errors.ts';
import type { OperationDeadline } from './operation-deadline.ts';
import type { RestOperation } from './operation-ids.ts';
import type { BodyRoom } from './transport/body-room.ts';

/** What a client without calls is made of. */
export interface CacheOnlyOptions {
  /** What its operation has of the cache; undefined if nothing is cached. */
  readonly cache?: OperationCache | undefined;
  readonly deadline: OperationDeadline;
  readonly bodies: BodyRoom;
}

/**
 * One operation's reads of what the cache has, stale answers too. Nothing is called, read anew or counted: the first read that
 * the cache does not have, and a write, end the operation.
 */
export class CacheOnlyClient implements RestClient {
  readonly #options: CacheOnlyOptions;

  constructor(options: CacheOnlyOptions) {
    this.#options = options;
  }

  getJson(operation: RestOperation, target: string): Promise<unknown> {
    return this.#read({ operation, kind: 'json', target });
  }

  async getCsv(operation: RestOperation, target: string): Promise<string> {
    const value = await this.#read({ operation, kind: 'csv', target });
    return typeof value === 'string' ? value : this.#end();
  }

  async write(): Promise<never> {
    return this.#end();
  }

  async #read(read: CachedRead): Promise<unknown> {
    const { cache, deadline, bodies } = this.#options;
    const answer = deadline.ended === undefined ? await cache?.peek(read) : undefined;
    const body = answer?.lend(bodies);
    if (answer === undefined || body === undefined || deadline.ended !== undefined) return this.#end();
    const isKept = deadline.keep(body, bodies.limits.operation, cache?.pages?.shareOf(read.target));
    body.letGo();
    return isKept ? answer.value : this.#end();
  }

  #end(): never {
    const { deadline } = this.#options;
    deadline.fail(needsCall);
    throw deadline.ended ?? needsCall;
  }
}

/** No client sees it: the operation is refused as if it had not been tried. */
const needsCall = new UpstreamError('RATE_LIMITED');
