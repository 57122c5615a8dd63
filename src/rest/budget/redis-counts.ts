import type { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import { type Log, LogThrottle } from '../../log.ts';
import { type RedisFailures, reasonOf } from '../../redis.ts';
import type { AccountCall, CountedCall } from './ledger.ts';
import { hashOf, type RedisLog, WaveNames } from './redis-logs.ts';
import {
  type ScriptReply,
  type ScriptReservation,
  type ScriptWave,
  script,
  scriptHash,
  toReply,
} from './redis-script.ts';

/** Settings of the counts in Redis. */
export interface RedisCountsOptions {
  readonly redis: Redis;
  readonly failures: RedisFailures;
  readonly upstreamUrl: string;
  /** The name of this gateway, unlike that of any other. */
  readonly gateway: string;
  readonly longestCallMs: number;
  /** The longest window, in milliseconds. */
  readonly longestWindowMs: number;
  /** True if each user has a share of its own. */
  readonly hasShares: boolean;
  /** The least number of gateways. */
  readonly replicas: number;
  /** Every call of a key that counts here. */
  readonly callsOf: (key: string) => readonly AccountCall[];
  /** Every call that counts here, of keys that are proven. */
  readonly calls: () => readonly AccountCall[];
  readonly now: () => number;
  readonly log: Log;
}

/** The way in which calls are counted, for metrics. */
export interface CountingState {
  /** Who decides: Redis for all gateways, or this gateway for its part. */
  readonly mode: 'redis' | 'local';
  /** Calls that Redis had counted and lost, and that this gateway has added again. */
  readonly lostCalls: number;
}

/** Longest time that calls wait for Redis, in milliseconds. */
const timeoutMs = 150;

/** How often Redis hears of a gateway, and is tried while it does not decide, in milliseconds. */
const beatMs = 1000;

/** A number of gateways that was greater counts for so long, in milliseconds. */
const countedMs = 60_000;

/** Calls that are sent in one step when Redis lacks more. */
const callsAStep = 2000;

/** Most logs of which it is known what Redis holds. Of others all calls are sent again. */
const mostLogs = 20_000;

/** Most calls that are remembered as not made while Redis is away. Of others it counts a few too many. */
const mostDrops = 10_000;

interface Wave {
  readonly calls?: readonly AccountCall[];
  readonly reservations?: (names: WaveNames) => readonly ScriptReservation[];
}

/**
 * The counts of calls in Redis. Up: Redis decides, and hears of what happens here. Down: it could not be asked. It is tried
 * again each second, gets the calls that it lacks, and is up.
 */
export class RedisCounts {
  readonly #options: RedisCountsOptions;
  readonly #upstream: string;
  readonly #logged = new LogThrottle();
  /** By log the number of the wave that told it last. Of one that is missing, Redis gets all calls with the next wave. */
  readonly #told = new LRUCache<string, number>({ max: mostLogs });
  /** The ids of calls that Redis is being asked for: it does not hear of them as of calls that were made. */
  readonly #undecided = new Set<string>();
  #waves = 0;
  #isUp = false;
  #isBeating = false;
  #isClosed = false;
  #isTelling = false;
  /** True if Redis has lost what it knew, and this gateway has not sent it all of its calls since. */
  #isForgotten = false;
  #changes: AccountCall[] = [];
  #drops: AccountCall[] = [];
  #gateways = 1;
  #gatewaysAt = Number.NEGATIVE_INFINITY;
  #lostCalls = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Called when another one decides from now on. */
  onSwitch: () => void = () => undefined;

  constructor(options: RedisCountsOptions) {
    this.#options = options;
    this.#upstream = hashOf(options.upstreamUrl);
    options.redis.on('ready', () => void this.beat());
    options.redis.on('close', () => this.#down('connection closed'));
  }

  /** True if Redis decides. */
  get isUp(): boolean {
    return this.#isUp;
  }

  get state(): CountingState {
    return { mode: this.#isUp ? 'redis' : 'local', lostCalls: this.#lostCalls };
  }

  /** How many gateways share the limits: those that Redis has heard of in the last minute before it was lost, or more. */
  get gateways(): number {
    return Math.max(this.#gateways, this.#options.replicas);
  }

  /** Calls have begun, ended, or are to be known at all. */
  changed(calls: readonly AccountCall[]): void {
    if (this.#isUp) {
      this.#changes.push(...calls);
      this.#tellSoon();
      return;
    }
    const names = new WaveNames(this.#upstream);
    for (const { account, call } of calls) {
      this.#told.delete(names.nameOf(account));
      this.#told.delete(names.nameOf(account, call.subject));
    }
  }

  /** A call was not made after all. */
  dropped(call: AccountCall): void {
    if (this.#drops.length < mostDrops) this.#drops.push(call);
    if (this.#isUp) this.#tellSoon();
  }

  /** Asks for calls with these ids; undefined if Redis cannot be asked. */
  async reserve(
    ids: readonly string[],
    reservations: (names: WaveNames) => readonly ScriptReservation[],
  ): Promise<ScriptReply | undefined> {
    for (const id of ids) this.#undecided.add(id);
    try {
      return await this.#tell({ reservations });
    } finally {
      for (const id of ids) this.#undecided.delete(id);
    }
  }

  /** Lets Redis hear of this gateway. Redis decides from then on, once it has all calls of this gateway. */
  async beat(): Promise<void> {
    if (this.#isBeating || this.#isClosed) return;
    this.#isBeating = true;
    clearTimeout(this.#timer);
    try {
      const wasUp = this.#isUp;
      await this.#run({});
      if (!wasUp || this.#isForgotten) await this.#sendAll(wasUp);
      if (this.#options.redis.status === 'ready') this.#up();
    } catch (error) {
      this.#failed(error);
    } finally {
      this.#isBeating = false;
      this.#beatLater();
    }
  }

  #failed(error: unknown): void {
    // Without a connection nothing was sent.
    if (this.#options.redis.status === 'ready') this.#options.failures.count(error, 'evalsha');
    this.#down(reasonOf(error));
  }

  #beatLater(): void {
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.beat(), beatMs).unref();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #up(): void {
    if (this.#isUp) return;
    this.#isUp = true;
    this.#options.log('info', 'calls are counted in Redis');
    this.onSwitch();
  }

  /** This gateway goes on with its part. The log says so once for each reason. */
  #down(reason: string): void {
    const wasUp = this.#isUp;
    this.#isUp = false;
    this.#told.clear();
    this.#changes = [];
    if (this.#isClosed) return;
    // Of a lost connection the connection itself says why.
    const isNews = wasUp || (this.#options.redis.status === 'ready' && this.#logged.takes(reason));
    if (isNews)
      this.#options.log('warn', 'calls cannot be counted in Redis: this gateway has its part of the budget', {
        reason,
        gateways: this.gateways,
      });
    if (wasUp) {
      this.#logged.takes(reason);
      this.onSwitch();
    }
  }

  /** Redis hears of what has changed, and what is asked for; undefined if it cannot be asked. */
  async #tell(wave: Pick<Wave, 'reservations'>): Promise<ScriptReply | undefined> {
    const calls = this.#changes;
    this.#changes = [];
    try {
      return await this.#run({ ...wave, calls });
    } catch (error) {
      this.#failed(error);
      return undefined;
    }
  }

  #tellSoon(): void {
    if (this.#isTelling) return;
    this.#isTelling = true;
    setImmediate(() => {
      this.#isTelling = false;
      if (this.#isUp && (this.#changes.length > 0 || this.#drops.length > 0)) void this.#tell({});
    });
  }

  /** Redis hears of all calls that count here. It `had` them before if it was up. */
  async #sendAll(had: boolean): Promise<void> {
    this.#isForgotten = false;
    this.#told.clear();
    const calls = this.#options.calls().filter(({ call }) => !this.#undecided.has(call.id));
    let added = 0;
    for (let from = 0; from < calls.length; from += callsAStep)
      added += (await this.#run({ calls: calls.slice(from, from + callsAStep) })).added;
    if (had) this.#lost(added);
  }

  #lost(calls: number): void {
    if (calls === 0) return;
    this.#lostCalls += calls;
    if (this.#logged.takes('lost'))
      this.#options.log('warn', 'Redis has lost calls that it had counted: this gateway has added its own again', {
        calls,
      });
  }

  /** Sends a wave; rejects if Redis does not answer in time. If logs have lost calls, it is sent again with all of them. */
  async #run(wave: Wave): Promise<ScriptReply> {
    const names = new WaveNames(this.#upstream);
    const calls = wave.calls ?? [];
    const drops = this.#drops;
    this.#drops = [];
    const reservations = wave.reservations?.(names) ?? [];
    for (const { account, call } of [...calls, ...drops]) this.#logsOf(names, account, call.subject);
    const { logs } = names;
    const first = await this.#send(names, { calls, drops, reservations });
    if (first !== undefined) return this.#heard(first);
    for (const { name } of logs) this.#told.delete(name);
    const second = await this.#send(names, { calls, drops, reservations });
    if (second === undefined) throw new Error('expected a log to take all calls');
    this.#lost(second.added);
    return this.#heard(second);
  }

  #heard(reply: ScriptReply): ScriptReply {
    const now = this.#options.now();
    if (reply.gateways >= this.#gateways || now - this.#gatewaysAt > countedMs) {
      this.#gateways = reply.gateways;
      this.#gatewaysAt = now;
    }
    if (this.#isUp && !reply.isKnown) {
      this.#isForgotten = true;
      setImmediate(() => void this.beat());
    }
    return reply;
  }

  async #send(
    names: WaveNames,
    {
      calls,
      drops,
      reservations,
    }: Record<'calls' | 'drops', readonly AccountCall[]> & Pick<ScriptWave, 'reservations'>,
  ): Promise<ScriptReply | undefined> {
    const { logs } = names;
    const told = logs.map(({ name, key }) => [key, this.#told.get(name) ?? 0] as const);
    const lacking = logs.filter(({ name }) => !this.#told.has(name)).flatMap((log) => this.#callsIn(log));
    const changes = calls.flatMap(({ account, call }) =>
      this.#logsOf(names, account, call.subject).map((key) => this.#entry(key, call)),
    );
    // Before the wave that says that all are there.
    while (lacking.length > callsAStep)
      await this.#evaluate(names.names, {
        logs: [],
        calls: lacking.splice(0, callsAStep),
        drops: [],
        reservations: [],
      });
    const number = this.#waves + 1;
    for (const { name } of logs) this.#told.set(name, number);
    const answer = await this.#evaluate(names.names, {
      logs: told,
      calls: [...lacking, ...changes],
      drops: drops.flatMap(({ account, call }) =>
        this.#logsOf(names, account, call.subject).map((key) => [key, call.id] as const),
      ),
      reservations,
    });
    return answer;
  }

  /** The calls of a log that count here, and of which Redis is not being asked. */
  #callsIn({ account, subject, key }: RedisLog): ScriptWave['calls'][number][] {
    return this.#options
      .callsOf(account.key)
      .filter((one) => one.account.surface === account.surface && !this.#undecided.has(one.call.id))
      .filter(({ call }) => subject === '' || call.subject === subject)
      .map(({ call }) => this.#entry(key, call));
  }

  #logsOf(names: WaveNames, account: AccountCall['account'], subject: string): readonly number[] {
    const { hasShares } = this.#options;
    return hasShares && subject !== '' ? [names.of(account), names.of(account, subject)] : [names.of(account)];
  }

  /** A call with the milliseconds to its end; in flight, to when it has ended at the latest. */
  #entry(key: number, { id, beganAt, endedAt }: CountedCall): ScriptWave['calls'][number] {
    const { longestCallMs, now } = this.#options;
    return [key, id, Math.min(endedAt, beganAt + longestCallMs) - now()];
  }

  async #evaluate(
    names: readonly string[],
    wave: Pick<ScriptWave, 'logs' | 'calls' | 'drops' | 'reservations'>,
  ): Promise<ScriptReply | undefined> {
    const { redis, gateway, longestCallMs, longestWindowMs } = this.#options;
    this.#waves += 1;
    const keptMs = longestWindowMs + longestCallMs;
    const whole: ScriptWave = { ...wave, gateway, number: this.#waves, longestCallMs, keptMs };
    const args = [String(names.length), ...names, JSON.stringify(whole)] as const;
    // One that has just been started does not know the script.
    const answer = redis.call('EVALSHA', scriptHash, ...args).catch((error: unknown) => {
      if (reasonOf(error) !== 'NOSCRIPT') throw error;
      return redis.call('EVAL', script, ...args);
    });
    return toReply(await inTime(answer));
  }
}

/** Rejects if it takes too long. A busy process first reads what has arrived by then. */
function inTime<T>(answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = (): void => reject(new Error(`no answer within ${timeoutMs} ms`));
    const timer = setTimeout(() => setImmediate(late), timeoutMs);
    const settle = (): void => clearTimeout(timer);
    answer.finally(settle).then(resolve, reject);
  });
}
