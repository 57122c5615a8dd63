import { type Redis, ReplyError } from 'ioredis';
import { connectRedis, disconnectRedis, type RedisFailures, type RedisOptions } from '../../redis.ts';

/** A Redis that answers late, or not at all, is left alone that long by what can do without it, in milliseconds. */
const restMs = 1000;

/** Most commands that wait for an answer at a time. */
const mostWaiting = 1000;

/** A command that was not answered in time. */
class TooLate extends Error {
  override readonly name = 'TooLate';
}

/** How long an answer is waited for, in milliseconds: operations go on without it. */
const answerMs = 150;

/** The commands of the cache; of several that are sent together, the first. */
type CacheCommand = 'get' | 'set' | 'exists' | 'eval';

/** How a command is sent. */
export interface CommandOptions {
  /**
   * True if Redis has to hear it: it is sent even if Redis was late just now, and however many wait. Then its answer is not
   * waited for.
   */
  readonly isInsistent: boolean;
}

/** The Redis in which gateways share what they have cached. */
export class CacheRedis {
  readonly #redis: Redis;
  readonly #failures: RedisFailures;
  #waiting = 0;
  #restsUntil = 0;

  constructor(options: RedisOptions) {
    this.#failures = options.failures;
    this.#redis = connectRedis(options);
  }

  /** True if it was closed for good. */
  get isClosed(): boolean {
    return this.#redis.status === 'end';
  }

  /** What a command answers; undefined if it fails or is too late. */
  async ask<T>(
    name: CacheCommand,
    command: (redis: Redis) => Promise<T>,
    { isInsistent }: CommandOptions = { isInsistent: false },
  ): Promise<T | undefined> {
    if (this.#redis.status !== 'ready') return undefined;
    const rests = this.#waiting >= mostWaiting || performance.now() < this.#restsUntil;
    if (rests && !isInsistent) return undefined;
    const answer = command(this.#redis);
    if (rests) {
      answer.catch(() => undefined);
      return undefined;
    }
    this.#waiting += 1;
    try {
      return await inTime(answer, answerMs);
    } catch (error) {
      this.#hear(name, error);
      return undefined;
    } finally {
      this.#waiting -= 1;
    }
  }

  close(): void {
    disconnectRedis(this.#redis);
  }

  #hear(name: CacheCommand, error: unknown): void {
    this.#failures.note(error, name);
    if (!(error instanceof ReplyError)) this.#restsUntil = performance.now() + restMs;
  }
}

async function inTime<T>(answer: Promise<T>, ms: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new TooLate(`no answer within ${ms} ms`)), ms);
  try {
    return await Promise.race([answer, promise]);
  } finally {
    clearTimeout(timer);
  }
}
