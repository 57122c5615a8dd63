import { getCACertificates } from 'node:tls';
import { Redis, ReplyError } from 'ioredis';
import { messageOf } from './error-text.ts';
import type { Log } from './log.ts';

/** The way to a Redis that several gateways share. */
export interface RedisOptions {
  /** `redis://` or `rediss://`, with user and password if it needs them. */
  readonly url: string;
  /** Certificates, in PEM form, of authorities that are trusted beside those that Node trusts. */
  readonly authorities: string | undefined;
  readonly log: Log;
}

/** The Redis that settings name, and where its states are logged; undefined if they name none. */
export function redisOf(
  { redisUrl: url, redisAuthorities: authorities }: RedisSettings = {},
  log: Log = () => undefined,
): RedisOptions | undefined {
  return url === undefined ? undefined : { url, authorities, log };
}

/** How settings name a Redis: its URL, and certificates in PEM form. */
interface RedisSettings {
  readonly redisUrl?: string | undefined;
  readonly redisAuthorities?: string | undefined;
}

/** The longest time until a lost connection is tried again, in milliseconds. */
export const longestReconnectMs = 2000;

/**
 * Connects, and connects again when the connection is lost; each change is logged once. Commands fail at once without a
 * connection. With `timeoutMs` they fail after that.
 */
export function connectRedis({ url, authorities, log }: RedisOptions, timeoutMs?: number): Redis {
  const redis = new Redis(url, {
    ...(authorities !== undefined && { tls: { ca: [...getCACertificates('default'), authorities] } }),
    ...(timeoutMs !== undefined && { commandTimeout: timeoutMs }),
    // Without a connection commands fail at once instead of queueing.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 2000,
    // A connection that stopped answering is given up, with all that waits for it.
    socketTimeout: 5000,
    retryStrategy: (attempt) => Math.min(attempt * 100, longestReconnectMs),
  });
  let state: 'up' | 'down' | undefined;
  const enter = (next: 'up' | 'down', reason: string): void => {
    if (state !== next) log(next === 'up' ? 'info' : 'warn', `Redis is ${next}`, { reason });
    state = next;
  };
  redis.on('ready', () => enter('up', 'connected'));
  redis.on('error', (error: Error) => enter('down', error.message));
  redis.on('close', () => enter('down', 'connection closed'));
  return redis;
}

/** Ends a connection for good; that is not logged. */
export function disconnectRedis(redis: Redis): void {
  redis.removeAllListeners('close');
  redis.disconnect();
}

/** Why a command failed: the first word of what Redis refused it with (`OOM`, `MOVED`, `NOPERM`), for the rest may hold keys. */
export function reasonOf(error: unknown): string {
  const message = messageOf(error);
  return error instanceof ReplyError ? (/^[A-Z]+/.exec(message)?.[0] ?? 'ERR') : message;
}
