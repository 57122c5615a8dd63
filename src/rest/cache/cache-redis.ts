import { type Redis, ReplyError } from 'ioredis';
import { type Log, LogThrottle } from '../../log.ts';
import { connectRedis, disconnectRedis, type RedisOptions, reasonOf } from '../../redis.ts';

/** A Redis that answers late, or not at all, is left alone that long by what can do without it, in milliseconds. */
const restMs = 1000;

/** Most commands that wait for an answer at a time. */
const mostWaiting = 1000;

/** A command that was not answered in time. */
class TooLate extends Error {
  override readonly name = 'TooLate';
}

/** The commands that are counted when they fail. */
export type CacheCommand = 'get' | 'set' | 'unlink' | 'eval' | 'info';

/** How a command is sent. */
export interface CommandOptions {
  /** How long its answer is waited for, in milliseconds. */
  readonly ms: number;
  /** Whether it is sent even if Redis was late just now, and however many wait. */
  readonly isInsistent: boolean;
}

/** The Redis in which gateways share what they have cached. Its failures are logged, each reason once in a while. */
export class CacheRedis {
  /** Commands that Redis refused or did not answer in time, since the start. */
  readonly failures: Record<CacheCommand, number> = { get: 0, set: 0, unlink: 0, eval: 0, info: 0 };
  readonly #redis: Redis;
  readonly #log: Log;
  readonly #logged = new LogThrottle();
  #waiting = 0;
  #restsUntil = 0;
  #server: string | undefined;
  #knowsShebang = false;

  constructor(options: RedisOptions) {
    // Others have connections of their own to the same Redis.
    this.#log = (level, message, fields) => options.log(level, message, { of: 'cache', ...fields });
    this.#redis = connectRedis(options);
    this.#redis.on('ready', () => void this.#meet());
    this.#redis.on('close', () => {
      this.#server = undefined;
    });
  }

  /**
   * Names the process of the server, once it is connected to: what one has forgotten by its end must not come back with the
   * next, which may have read it from a file of before.
   */
  get server(): string | undefined {
    return this.#server;
  }

  /** Whether scripts may say in a first line what they do, as from version 7 on. */
  get knowsShebang(): boolean {
    return this.#knowsShebang;
  }

  /** Whether it was closed for good. */
  get isClosed(): boolean {
    return this.#redis.status === 'end';
  }

  /** What a command answers; undefined if it fails or is too late. */
  async ask<T>(
    name: CacheCommand,
    command: (redis: Redis) => Promise<T>,
    { ms, isInsistent }: CommandOptions,
  ): Promise<T | undefined> {
    if (this.#redis.status !== 'ready') return undefined;
    if (!isInsistent && (this.#waiting >= mostWaiting || performance.now() < this.#restsUntil)) return undefined;
    this.#waiting += 1;
    try {
      return await inTime(command(this.#redis), ms);
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

  /** Learns which process answers. */
  async #meet(): Promise<void> {
    const redis = this.#redis;
    try {
      const info = await redis.info('server');
      this.#knowsShebang = Number(/^redis_version:(\d+)/m.exec(info)?.[1]) >= 7;
      this.#server = /^run_id:(\w+)/m.exec(info)?.[1];
      if (this.#server === undefined) this.#warnOf('it tells no run_id');
    } catch (error) {
      this.#hear('info', error);
      if (error instanceof ReplyError) this.#warnOf('it refuses INFO');
    }
  }

  #warnOf(reason: string): void {
    if (this.#logged.takes(reason))
      this.#log('warn', 'nothing is cached: Redis does not tell which process it is', { reason });
  }

  #hear(name: CacheCommand, error: unknown): void {
    this.failures[name] += 1;
    if (!(error instanceof ReplyError)) this.#restsUntil = performance.now() + restMs;
    const reason = reasonOf(error);
    if (this.#logged.takes(reason)) this.#log('warn', 'Redis failed a command', { reason });
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
