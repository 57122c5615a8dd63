import type { CachedRead, OperationCache } from './cache/operation-cache.ts';
import type { RestClient } from './client.ts';
import { UpstreamError } from './errors.ts';
import type { OperationDeadline } from './operation-deadline.ts';
import type { RestOperation, Surface } from './operation-ids.ts';
import type { BodyRoom } from './transport/body-room.ts';

/** What one operation was given by the cache alone, and whether it wanted more. */
export class TriedReads {
  readonly #answered = new Map<string, Surface>();
  #isAll = true;

  /** Whether it was given all that it wanted. */
  get isAll(): boolean {
    return this.#isAll;
  }

  /** How many different reads were answered, by surface. */
  get answered(): Readonly<Partial<Record<Surface, number>>> {
    const counts: Partial<Record<Surface, number>> = {};
    for (const surface of this.#answered.values()) counts[surface] = (counts[surface] ?? 0) + 1;
    return counts;
  }

  /** The cache has answered a read. */
  add({ operation, kind, target }: CachedRead): void {
    this.#answered.set(`${kind} ${target}`, operation.surface);
  }

  /** The operation would have to call, or may keep no more. */
  addLack(): void {
    this.#isAll = false;
  }
}

/** What a client without calls is made of. */
export interface CacheOnlyOptions {
  /** What its operation has of the cache; undefined if nothing is cached. */
  readonly cache?: OperationCache | undefined;
  readonly deadline: OperationDeadline;
  readonly bodies: BodyRoom;
  /** Hears what becomes of its reads. */
  readonly reads: TriedReads;
}

/**
 * One operation's reads of what the cache has, stale answers too. Nothing is called, read anew or counted: reads that the cache
 * does not have fail, and so does a write.
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
    return typeof value === 'string' ? value : this.#refuse();
  }

  async write(): Promise<never> {
    return this.#refuse();
  }

  async #read(read: CachedRead): Promise<unknown> {
    const { cache, deadline, bodies, reads } = this.#options;
    const answer = deadline.ended === undefined ? await cache?.peek(read) : undefined;
    const body = answer?.lend(bodies);
    if (answer === undefined || body === undefined || deadline.ended !== undefined) return this.#refuse();
    const isKept = deadline.keep(body, bodies.limits.operation, cache?.pages?.shareOf(read.target));
    body.letGo();
    if (!isKept) return this.#refuse();
    reads.add(read);
    return answer.value;
  }

  #refuse(): never {
    this.#options.reads.addLack();
    throw needsCall;
  }
}

/** No client sees it. */
const needsCall = new UpstreamError('RATE_LIMITED');
