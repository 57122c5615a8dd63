import { hash } from 'node:crypto';
import { getCACertificates } from 'node:tls';
import { promisify } from 'node:util';
import type { Cluster, Redis } from 'ioredis';
import { codeOf, messageOf } from './error-text.ts';
import { latePackage } from './late-packages.ts';
import { type Log, LogThrottle } from './log.ts';
import { readTextFile } from './read-text.ts';
import { redisAddressOf } from './redis-address.ts';

/** The settings of a Redis, which settings/declaration.ts explains. */
export interface RedisSettings {
  readonly redisUrl?: string | undefined;
  readonly redisAuthorities?: string | undefined;
  readonly redisPasswordFile?: string | undefined;
  readonly redisSentinelPassword?: string | undefined;
}

/** Connects to a Redis; undefined if the settings name none. Called once in a process. */
export function connectRedis(settings: RedisSettings = {}, log: Log = () => undefined): SharedRedis | undefined {
  return settings.redisUrl === undefined ? undefined : new SharedRedis(settings.redisUrl, settings, log);
}

/** A script that Redis runs as one step. In a Cluster, all keys of a script must have the same hash tag. */
export interface Script {
  readonly text: string;
  /** The hash by which Redis knows the script once it has run. */
  readonly sha1: string;
}

/** Makes a script of its text. */
export function createScript(text: string): Script {
  return { text, sha1: hash('sha1', text) };
}

interface CommandOptions {
  /** True if the command is also sent while Redis is down, as long as there is a connection. */
  readonly mustSend?: boolean;
  /** True if the answer is bytes and not text. */
  readonly isBinary?: boolean;
}

type Argument = string | number | Buffer;

/** The longest wait for an answer, in milliseconds. Operations then continue without it. */
const answerMs = 150;

/** The time until a Redis that did not answer in time is tried again, in milliseconds. */
const retryMs = 1000;

/** The number of names that Redis looks at for one command of a scan. It serves other clients between two commands. */
const namesPerScan = 500;

/** The longest time until a lost connection is tried again, in milliseconds. */
const longestReconnectMs = 2000;

/** The maximum number of reasons of one outage in the log. */
const mostReasons = 20;

/** The reason of a lost connection if nothing else is known about it. */
const closed = 'connection closed';

/** The errors of a server that can serve nothing at the moment. */
const outages: ReadonlySet<string> = new Set(['LOADING', 'MASTERDOWN', 'CLUSTERDOWN', 'NOAUTH']);

/** The commands that gateways send. Failures are counted by command. */
const commands = ['eval', 'evalsha', 'exists', 'get', 'pttl', 'scan', 'set', 'unlink'] as const;

/**
 * The only connection of a process to a Redis. It is up while it is connected and answers come in time. While it is
 * down, commands fail at once, so that nothing waits twice for the same outage. The log has one line for each reason of
 * an outage and one for its end.
 */
export class SharedRedis {
  /** The number of commands that Redis refused or did not answer in time, by name. */
  readonly failures = new Map<string, number>(commands.map((name) => [name, 0]));
  readonly #log: Log;
  /** Makes a client that connects once, with the password that the password file has at that moment. */
  readonly #createClient: () => Redis | Cluster;
  readonly #listeners: (() => void)[] = [];
  readonly #throttle = new LogThrottle();
  #client: Redis | Cluster;
  #attempts = 0;
  #timer: NodeJS.Timeout | undefined;
  #isUp = false;
  #isClosed = false;
  #reason = '';
  /** True if the last line of the log says that Redis is up. */
  #isLoggedUp = false;
  /** The logged reasons of this outage. */
  readonly #reasons = new Set<string>();

  constructor(url: string, settings: RedisSettings, log: Log) {
    this.#log = log;
    const { redisPasswordFile: path } = settings;
    const password = path === undefined ? () => undefined : followPassword(path, log);
    this.#createClient = () => createClient(url, settings, password());
    this.#client = this.#connect();
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get reason(): string {
    return this.#reason;
  }

  /** The listener is called each time the connection comes up or goes down. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Runs a command. Resolves to its answer; undefined if it fails or is too late. */
  ask(name: (typeof commands)[number], args: readonly Argument[], options: CommandOptions = {}): Promise<unknown> {
    const { isBinary = false } = options;
    return this.#ask(name, options, (client) =>
      isBinary ? client.callBuffer(name, ...args) : client.call(name, ...args),
    );
  }

  /** Runs a script. Resolves to its answer; undefined if it fails or is too late. */
  run(
    script: Script,
    keys: readonly string[],
    args: readonly Argument[],
    options: CommandOptions = {},
  ): Promise<unknown> {
    const rest = [keys.length, ...keys, ...args];
    return this.#ask('evalsha', options, (client) =>
      client.call('evalsha', script.sha1, ...rest).catch((error: unknown) => {
        // A server that has just been started does not know the script.
        if (!(error instanceof latePackage('ioredis').ReplyError) || reasonOf(error) !== 'NOSCRIPT') throw error;
        return client.call('eval', script.text, ...rest);
      }),
    );
  }

  /**
   * Deletes all names that match a pattern, in every node of a Cluster. Resolves to their number; undefined if Redis is
   * down, if a command fails or is too late, or if a node cannot be found. A name that is made meanwhile may stay.
   */
  async unlinkAll(pattern: string): Promise<number | undefined> {
    if (!this.#isUp) return undefined;
    const nodes = await primariesOf(this.#client).catch(() => undefined);
    if (nodes === undefined) return undefined;
    let count = 0;
    for (const node of nodes) {
      let cursor = '0';
      do {
        const found = await this.#ask('scan', {}, () => node.scan(cursor, 'MATCH', pattern, 'COUNT', namesPerScan));
        if (!Array.isArray(found)) return undefined;
        const reply: readonly unknown[] = found;
        const [next, names] = reply;
        cursor = String(next);
        const unlinked = await this.#unlink(node, Array.isArray(names) ? names.map(String) : []);
        if (unlinked === undefined) return undefined;
        count += unlinked;
      } while (cursor !== '0');
    }
    return count;
  }

  /** Deletes names one by one, because in a Cluster all names of one command must have the same hash tag. */
  async #unlink(node: Redis, names: readonly string[]): Promise<number | undefined> {
    const answers = await Promise.all(names.map((name) => this.#ask('unlink', {}, () => node.unlink(name))));
    return answers.includes(undefined) ? undefined : answers.filter((answer) => answer === 1).length;
  }

  /** Closes the connection for good, without a line in the log. */
  close(): void {
    this.#isClosed = true;
    this.#isUp = false;
    clearTimeout(this.#timer);
    this.#client.disconnect();
  }

  async #ask(
    name: string,
    { mustSend = false }: CommandOptions,
    send: (client: Redis | Cluster) => Promise<unknown>,
  ): Promise<unknown> {
    if (!this.#isUp) {
      if (mustSend && this.#client.status === 'ready') send(this.#client).catch(() => undefined);
      return undefined;
    }
    try {
      return await withTimeout(send(this.#client));
    } catch (error) {
      this.#failed(name, error);
      return undefined;
    }
  }

  #failed(name: string, error: unknown): void {
    if (this.#isClosed) return;
    const reason = reasonOf(error);
    // A user may be allowed only one of `evalsha` and `eval`. The log names the refused one.
    const command = reason === 'NOPERM' && !isWithinScript(error) ? (commandOf(error) ?? name) : name;
    this.failures.set(command, (this.failures.get(command) ?? 0) + 1);
    if (isOutage(error)) {
      if (!this.#isUp) return;
      this.#down(reason, this.#throttle.mayLog(reason));
      this.#tryLater();
    } else {
      this.#reason = reason;
      if (this.#throttle.mayLog(`${command} ${reason}`))
        this.#log('warn', 'Redis failed a command', { command, reason });
    }
  }

  /** Sends a single command after a while, again and again, until Redis answers one in time. */
  #tryLater(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#try(), retryMs).unref();
  }

  async #try(): Promise<void> {
    const client = this.#client;
    try {
      await withTimeout(client.call('ping'));
    } catch (error) {
      if (client === this.#client && client.status === 'ready' && isOutage(error)) return this.#tryLater();
    }
    if (client === this.#client && client.status === 'ready') this.#up('answers again');
  }

  #connect(): Redis | Cluster {
    const client = this.#createClient();
    const onError = (error: Error): void => {
      this.#down(reasonOf(error));
      // If the database cannot be selected, the connection would go on with another one, which may belong to others.
      // After a refused password, only a new connection reads the password again.
      if (commandOf(error) !== 'select' && !isOfPassword(error)) return;
      client.removeAllListeners('ready');
      client.disconnect();
    };
    client.on('ready', () => {
      this.#attempts = 0;
      this.#up('connected');
    });
    client.on('error', onError);
    // The failure of one node does not count while other nodes of the Cluster serve.
    client.on('node error', (error: Error) => {
      if (!this.#isUp || isOfPassword(error)) onError(error);
    });
    client.on('close', () => this.#down(closed));
    client.on('end', () => this.#connectLater());
    // The events of the client report the reason.
    client.connect().catch(() => undefined);
    return client;
  }

  #connectLater(): void {
    if (this.#isClosed) return;
    this.#attempts += 1;
    clearTimeout(this.#timer);
    const connect = (): void => void (this.#client = this.#connect());
    this.#timer = setTimeout(connect, Math.min(this.#attempts * 100, longestReconnectMs));
  }

  #up(reason: string): void {
    if (this.#isUp || this.#isClosed) return;
    clearTimeout(this.#timer);
    this.#isUp = true;
    this.#reasons.clear();
    if (!this.#isLoggedUp) this.#log('info', 'Redis is up', { reason });
    this.#isLoggedUp = true;
    for (const listener of this.#listeners) listener();
  }

  /** If `isNews` is false, neither the outage nor its end has a line in the log. */
  #down(reason: string, isNews = true): void {
    if (this.#isClosed) return;
    const wasUp = this.#isUp;
    this.#isUp = false;
    if (reason !== closed || wasUp) this.#reason = reason;
    this.#logDown(reason, isNews);
    if (wasUp) for (const listener of this.#listeners) listener();
  }

  #logDown(reason: string, isNews: boolean): void {
    if (!isNews || this.#reasons.size >= mostReasons) return;
    if (this.#reasons.size > 0 && (reason === closed || this.#reasons.has(reason))) return;
    this.#isLoggedUp = false;
    this.#reasons.add(reason);
    this.#log('warn', 'Redis is down', { reason });
  }
}

/** Makes a client that never reconnects by itself. `password` is undefined without a password file. */
function createClient(
  url: string,
  { redisAuthorities: authorities, redisSentinelPassword: sentinelPassword }: RedisSettings,
  password: string | undefined,
): Redis | Cluster {
  const { Cluster, Redis } = latePackage('ioredis');
  const { kind, members, path, isSecure } = redisAddressOf(url);
  const tls = { ...(authorities !== undefined && { ca: [...getCACertificates('default'), authorities] }) };
  const common = {
    ...(isSecure && { tls }),
    enableReadyCheck: false,
    disableClientInfo: true,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 2000,
    // A connection that stops answering is closed, and all commands that wait for it fail.
    socketTimeout: 2000,
    retryStrategy: () => null,
    lazyConnect: true,
  };
  if (kind === 'server') {
    const redis = new Redis(url, { ...common, enableOfflineQueue: false });
    // ioredis ignores a password beside the URL if the URL names a user, so the password is set afterwards.
    if (password !== undefined) redis.options.password = password;
    return redis;
  }
  const hosts = members.map((member) => hostOf(member, kind === 'cluster' ? 6379 : 26379));
  const credentials = { ...credentialsOf(members[0]), ...(password !== undefined && { password }) };
  if (kind === 'cluster') {
    return new Cluster(hosts, {
      redisOptions: { ...common, ...credentials },
      clusterRetryStrategy: () => null,
      enableReadyCheck: false,
      lazyConnect: true,
    });
  }
  const [, name = '', database = ''] = path.split('/');
  return new Redis({
    ...{ ...common, ...credentials, sentinels: hosts, name: decodeURIComponent(name), db: Number(database) },
    ...(sentinelPassword !== undefined && { sentinelPassword }),
    ...(isSecure && { sentinelTLS: tls, enableTLSForSentinelMode: true }),
    enableOfflineQueue: false,
    sentinelCommandTimeout: 1000,
    sentinelRetryStrategy: () => null,
    // A server that answers READONLY is no longer the primary. The Sentinels know the new one.
    reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
  });
}

/** The number of slots into which a Cluster divides all names. */
const slotsOfCluster = 16_384;

/** The primaries of a Cluster, or the only server. Rejects if a node of the Cluster cannot be found. */
async function primariesOf(client: Redis | Cluster): Promise<readonly Redis[]> {
  if (!(client instanceof latePackage('ioredis').Cluster)) return [client];
  // The client forgets a node whose connection has ended, until it asks the Cluster for its nodes again.
  await promisify(client.refreshSlotsCache.bind(client))();
  const primaries = client.nodes('master');
  const known = new Set(primaries.map(({ options: { host, port } }) => `${host}:${port}`));
  // A node that has lost its list of nodes answers, too: with no node, or with some of them.
  for (let slot = 0; slot < slotsOfCluster; slot += 1)
    if (!known.has(client.slots[slot]?.[0] ?? '')) throw new Error(`expected a node for slot ${slot} of the Cluster`);
  return primaries;
}

function hostOf(member: string, defaultPort: number): { readonly host: string; readonly port: number } {
  const { hostname = '', port = '' } = URL.parse(member) ?? {};
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: port === '' ? defaultPort : Number(port) };
}

function credentialsOf(member = ''): { readonly username?: string; readonly password?: string } {
  const { username = '', password = '' } = URL.parse(member) ?? {};
  return {
    ...(username !== '' && { username: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
  };
}

/** Rejects if an answer takes too long. An answer that came in time while the event loop was blocked is read first. */
function withTimeout<T>(answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = (): void => reject(new Error(`no answer within ${answerMs} ms`));
    const timer = setTimeout(() => setImmediate(late), answerMs);
    const settle = (): void => clearTimeout(timer);
    answer.finally(settle).then(resolve, reject);
  });
}

/** True if the next commands would fail, too. */
function isOutage(error: unknown): boolean {
  return !(error instanceof latePackage('ioredis').ReplyError) || outages.has(reasonOf(error));
}

/** The command that Redis has refused; undefined for any other failure. */
function commandOf(error: unknown): string | undefined {
  const isReply = error instanceof latePackage('ioredis').ReplyError && error instanceof Error;
  const command = isReply && 'command' in error ? error.command : undefined;
  if (typeof command !== 'object' || command === null || !('name' in command)) return undefined;
  return String(command.name).toLowerCase();
}

/** True if Redis has refused the password, which may have been replaced. */
function isOfPassword(error: Error): boolean {
  return error instanceof latePackage('ioredis').ReplyError && ['WRONGPASS', 'NOAUTH'].includes(reasonOf(error));
}

/** True if the user may not run a command within a script. Redis then answers with `ERR` and not with `NOPERM`. */
function isWithinScript(error: unknown): boolean {
  const lacksPermission = /^ERR (?:The user executing the script can't run|ACL failure in script)/;
  return error instanceof latePackage('ioredis').ReplyError && lacksPermission.test(messageOf(error));
}

/** The reason of a failure. If Redis refused a command, this is the first word (`OOM`): the others may hold keys. */
function reasonOf(error: unknown): string {
  const message = messageOf(error);
  if (isWithinScript(error)) return 'NOPERM';
  return error instanceof latePackage('ioredis').ReplyError ? (/^[A-Z]+/.exec(message)?.[0] ?? 'ERR') : message;
}

/**
 * Makes a function that reads the password from a file. While the file has no password, the function returns the last
 * one. It logs why there is none, once for each new reason.
 */
function followPassword(path: string, log: Log): () => string | undefined {
  let last: string | undefined;
  let logged: string | undefined;
  return () => {
    let reason: string | undefined;
    try {
      const password = readTextFile(path).replace(/\r?\n$/, '');
      if (password === '') reason = 'it is empty';
      else last = password;
    } catch (error) {
      reason = codeOf(error) ?? 'it cannot be read';
    }
    if (reason !== undefined && reason !== logged)
      log('error', 'REDIS_PASSWORD_FILE cannot be used: the password of Redis stays as it was', { path, reason });
    logged = reason;
    return last;
  };
}
