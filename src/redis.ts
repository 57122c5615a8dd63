import { getCACertificates } from 'node:tls';
import { Redis, ReplyError } from 'ioredis';
import { messageOf } from './error-text.ts';
import { type Log, LogThrottle } from './log.ts';
import { followPassword } from './redis-password.ts';

/** The way to a Redis that several gateways share. */
export interface RedisOptions {
  /** `redis://` or `rediss://`, with user and password if it needs them. */
  readonly url: string;
  /** Certificates, in PEM form, of authorities that are trusted for a `rediss://` beside those that Node trusts. */
  readonly authorities: string | undefined;
  /** Reads the password for a connection, if it is in a file; undefined: the URL has it, or there is none. */
  readonly password?: (() => string | undefined) | undefined;
  readonly log: Log;
  /** Logs whether it can be reached; all connections of a process share it. */
  readonly reachability: RedisReachability;
  /** Counts and logs commands that fail; all connections of a process share it. */
  readonly failures: RedisFailures;
}

/** The Redis that settings name, and where its states are logged; undefined if they name none. Once for a process. */
export function redisOf(
  { redisUrl: url, redisAuthorities: authorities, redisPasswordFile: path }: RedisSettings = {},
  log: Log = () => undefined,
): RedisOptions | undefined {
  if (url === undefined) return undefined;
  const password = path === undefined ? undefined : followPassword(path, log);
  return {
    url,
    authorities,
    password,
    log,
    reachability: new RedisReachability(log),
    failures: new RedisFailures(log),
  };
}

/** How settings name a Redis: its URL, certificates in PEM form, and the path of a file with its password. */
interface RedisSettings {
  readonly redisUrl?: string | undefined;
  readonly redisAuthorities?: string | undefined;
  readonly redisPasswordFile?: string | undefined;
}

type State = 'up' | 'down';

/** Most reasons that are logged of one outage. */
const mostReasons = 20;

/** The reason of a lost connection of which nothing else is known. */
const closed = 'connection closed';

/**
 * Logs whether a Redis can be reached: that it is down once one of the connections to it is lost, and that it is up once all
 * of them are back. So an outage is two lines, however many connections there are, and one more for each further reason.
 */
export class RedisReachability {
  readonly #log: Log;
  /** Of each connection; undefined until it has one. */
  readonly #states = new Map<object, State | undefined>();
  #logged: State | undefined;
  /** The reasons that were logged in this outage. */
  readonly #reasons = new Set<string>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** True if all connections are there; undefined if none is wanted. */
  get isUp(): boolean | undefined {
    const states = [...this.#states.values()];
    return states.length === 0 ? undefined : states.every((state) => state === 'up');
  }

  /** A connection is being made. */
  add(connection: object): void {
    this.#states.set(connection, undefined);
  }

  /** A connection is there, or is not. */
  note(connection: object, state: State, reason: string): void {
    this.#states.set(connection, state);
    const states = [...this.#states.values()];
    if (state === 'up' && (this.#logged === 'up' || states.some((one) => one !== 'up'))) return;
    if (state === 'down' && this.#logged === 'down' && (reason === closed || this.#reasons.has(reason))) return;
    if (state === 'up') this.#reasons.clear();
    else if (this.#reasons.size < mostReasons) this.#reasons.add(reason);
    else return;
    this.#logged = state;
    this.#log(state === 'up' ? 'info' : 'warn', `Redis is ${state}`, { reason });
  }
}

/** The commands that are sent to Redis. */
const commands = ['get', 'pttl', 'set', 'exists', 'expire', 'incrby', 'eval', 'evalsha'] as const;

type RedisCommand = (typeof commands)[number];

/** Counts commands that Redis refuses, or does not answer in time, and logs each reason of each once in a while. */
export class RedisFailures {
  /** By command, since the start. */
  readonly counts = new Map<RedisCommand, number>(commands.map((command) => [command, 0]));
  readonly #log: Log;
  readonly #logged = new LogThrottle();

  constructor(log: Log) {
    this.#log = log;
  }

  /** A command failed. `sent` is the first of those that were sent together; Redis says which one of them it refuses. */
  note(error: unknown, sent: RedisCommand): void {
    const { command, reason } = this.count(error, sent);
    if (this.#logged.takes(`${command} ${reason}`)) this.#log('warn', 'Redis failed a command', { command, reason });
  }

  /** The same without a line in the log. */
  count(error: unknown, sent: RedisCommand): { readonly command: RedisCommand; readonly reason: string } {
    const refused = refusedCommandOf(error);
    const command = commands.find((one) => one === refused) ?? sent;
    this.counts.set(command, (this.counts.get(command) ?? 0) + 1);
    return { command, reason: reasonOf(error) };
  }
}

/** The longest time until a lost connection is tried again, in milliseconds. */
const longestReconnectMs = 2000;

/**
 * Connects, and connects again when the connection is lost, with the password that its file holds then. Commands fail at once
 * without a connection. With `timeoutMs` they fail after that.
 */
export function connectRedis({ url, authorities, password, reachability }: RedisOptions, timeoutMs?: number): Redis {
  const isSecure = URL.parse(url)?.protocol === 'rediss:';
  const redis = new Redis(url, {
    ...(isSecure && authorities !== undefined && { tls: { ca: [...getCACertificates('default'), authorities] } }),
    ...(timeoutMs !== undefined && { commandTimeout: timeoutMs }),
    // Without a connection commands fail at once instead of queueing.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 2000,
    // A connection that stopped answering is given up, with all that waits for it.
    socketTimeout: 5000,
    retryStrategy: (attempt) => {
      takePassword();
      return Math.min(attempt * 100, longestReconnectMs);
    },
    // The password is taken first: one beside the URL would not count if the URL names a user.
    lazyConnect: true,
  });
  const takePassword = (): void => {
    if (password !== undefined) redis.options.password = password();
  };
  reachability.add(redis);
  redis.on('ready', () => reachability.note(redis, 'up', 'connected'));
  redis.on('close', () => reachability.note(redis, 'down', closed));
  redis.on('error', (error: Error) => {
    reachability.note(redis, 'down', error instanceof ReplyError ? reasonOf(error) : error.message);
    // The connection would go on with database 0, which may be that of others.
    if (isOfSelect(error)) redis.disconnect(true);
  });
  takePassword();
  // Its events say why it fails.
  redis.connect().catch(() => undefined);
  return redis;
}

/** Whether a database could not be chosen: there is no such one, or the user may not. */
function isOfSelect(error: Error): boolean {
  return refusedCommandOf(error) === 'select';
}

/** The name of the command that Redis refused; undefined if it did not answer. */
function refusedCommandOf(error: unknown): string | undefined {
  const isReply = error instanceof ReplyError && error instanceof Error;
  const command = isReply && 'command' in error ? error.command : undefined;
  const hasName = typeof command === 'object' && command !== null && 'name' in command;
  return hasName ? String(command.name).toLowerCase() : undefined;
}

/** Ends a connection for good; that is not logged. */
export function disconnectRedis(redis: Redis): void {
  redis.removeAllListeners('close');
  redis.disconnect();
}

/** What Redis answers if the user may run a script, but not a command in it: its first word is only `ERR`. */
const scriptLacksPermission = /^ERR (?:The user executing the script can't run|ACL failure in script)/;

/** Why a command failed: the first word of what Redis refused it with (`OOM`, `MOVED`, `NOPERM`), for the rest may hold keys. */
export function reasonOf(error: unknown): string {
  const message = messageOf(error);
  if (error instanceof ReplyError && scriptLacksPermission.test(message)) return 'NOPERM';
  return error instanceof ReplyError ? (/^[A-Z]+/.exec(message)?.[0] ?? 'ERR') : message;
}
