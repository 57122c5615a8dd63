import { randomUUID } from 'node:crypto';
import { type Log, LogThrottle } from '../../log.ts';
import type { SharedRedis } from '../../redis.ts';
import type { AccountCall } from './ledger.ts';
import {
  hashOf,
  type ScriptQuestion,
  type ScriptReply,
  type ScriptWave,
  script,
  toReply,
  WaveNames,
} from './redis-script.ts';

/** Settings of the counts in Redis. */
export interface RedisCountsOptions {
  readonly redis: SharedRedis;
  readonly upstreamUrl: string;
  /** The name of this gateway, unlike that of any other. */
  readonly gateway: string;
  readonly longestCallMs: number;
  /** The longest window, in milliseconds. */
  readonly longestWindowMs: number;
  /** True if the calls of a subject are counted by themselves as well. */
  readonly hasShare: (subject: string) => boolean;
  /** The least number of gateways. */
  readonly replicas: number;
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

/** How often Redis hears of a gateway, and is tried while it does not decide, in milliseconds. */
const beatMs = 1000;

/** A number of gateways that was greater counts for so long, in milliseconds. */
const countedMs = 60_000;

/** Calls that are sent in one step when Redis lacks more. */
const callsAStep = 500;

/** Most changes that are kept for a Redis that is away: if there are more, it gets all calls. */
const mostChanges = 10_000;

/** How often a wave is tried in an era that is over. */
const tries = 3;

/** A call that has begun or ended, or that was not made after all. */
interface Change extends AccountCall {
  readonly isDropped: boolean;
}

/** What the script is asked for, with the names that it uses. */
type Ask = (names: WaveNames) => ScriptQuestion;

/**
 * The counts of calls in Redis. Up: Redis decides, and hears of what happens here. Down: it could not be asked. It is tried
 * again each second, gets what it lacks, and is up.
 */
export class RedisCounts {
  readonly #options: RedisCountsOptions;
  readonly #upstream: string;
  readonly #throttle = new LogThrottle();
  /** The ids of calls that Redis is being asked for: it does not hear of them as of calls that were made. */
  readonly #undecided = new Set<string>();
  /** The era in which Redis has all calls of this gateway but the changes. */
  #era = '';
  #changes: Change[] = [];
  #sending: Promise<boolean> | undefined;
  #isUp = false;
  #isBeating = false;
  #isClosed = false;
  #isTelling = false;
  #gateways = 1;
  #gatewaysAt = Number.NEGATIVE_INFINITY;
  #lostCalls = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Called when another one decides from now on. */
  onSwitch: () => void = () => undefined;

  constructor(options: RedisCountsOptions) {
    this.#options = options;
    this.#upstream = hashOf(options.upstreamUrl);
    const { redis } = options;
    redis.onChange(() => (redis.isUp ? void this.beat() : this.#down()));
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
    for (const { account, call } of calls) this.#note({ account, call, isDropped: false });
  }

  /** A call was not made after all. */
  dropped({ account, call }: AccountCall): void {
    this.#note({ account, call, isDropped: true });
  }

  /** Asks for calls with these ids; undefined if Redis cannot be asked. */
  async reserve(ids: readonly string[], ask: Ask): Promise<ScriptReply | undefined> {
    for (const id of ids) this.#undecided.add(id);
    try {
      return await this.#tell(ask);
    } finally {
      for (const id of ids) this.#undecided.delete(id);
    }
  }

  /** Lets Redis hear of this gateway. Redis decides from then on, once it has all calls of this gateway. */
  async beat(): Promise<void> {
    if (this.#isBeating || this.#isClosed) return;
    this.#isBeating = true;
    clearTimeout(this.#timer);
    if ((await this.#tell()) !== undefined) this.#up();
    this.#isBeating = false;
    this.#beatLater();
  }

  #beatLater(): void {
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.beat(), beatMs).unref();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #up(): void {
    if (this.#isUp || !this.#options.redis.isUp) return;
    this.#isUp = true;
    this.#options.log('info', 'calls are counted in Redis');
    this.onSwitch();
  }

  /** This gateway goes on with its part. The log says so once for each reason. */
  #down(): void {
    const wasUp = this.#isUp;
    this.#isUp = false;
    if (this.#isClosed) return;
    const { redis, log } = this.#options;
    const { reason } = redis;
    // Of a lost connection the connection itself says why.
    const isNews = wasUp || (redis.isUp && this.#throttle.takes(reason));
    if (isNews)
      log('warn', 'calls cannot be counted in Redis: this gateway has its part of the budget', {
        reason,
        gateways: this.gateways,
      });
    if (!wasUp) return;
    this.#throttle.takes(reason);
    this.onSwitch();
  }

  #note(change: Change): void {
    if (this.#changes.length >= mostChanges) {
      this.#era = '';
      this.#changes = [];
    }
    this.#changes.push(change);
    if (!this.#isUp || this.#isTelling) return;
    this.#isTelling = true;
    setImmediate(() => {
      this.#isTelling = false;
      if (this.#isUp && this.#changes.length > 0) void this.#tell();
    });
  }

  /** Redis hears of what has changed, and what is asked for; undefined if it cannot be asked. */
  async #tell(ask?: Ask): Promise<ScriptReply | undefined> {
    const changes = this.#changes;
    this.#changes = [];
    const reply = await this.#try(changes, ask);
    if (reply !== undefined) return this.#heard(reply);
    // It may have heard of them, which changes nothing.
    this.#changes = [...changes, ...this.#changes];
    this.#down();
    return undefined;
  }

  async #try(changes: readonly Change[], ask?: Ask): Promise<ScriptReply | undefined> {
    let from = 0;
    for (let attempt = 0; attempt < tries; ) {
      const isLast = changes.length - from <= callsAStep;
      const answer = await this.#send(this.#era, changes.slice(from, from + callsAStep), isLast ? ask : undefined);
      if (answer === undefined) return undefined;
      if (answer.reply === undefined) {
        attempt += 1;
        if (!(await this.#sendAll(answer.era))) return undefined;
      } else if (isLast) return answer.reply;
      else from += callsAStep;
    }
    return undefined;
  }

  /** Redis hears of all calls that count here; false if it cannot be told. */
  #sendAll(era: string): Promise<boolean> {
    this.#sending ??= this.#sendSteps(era).finally(() => (this.#sending = undefined));
    return this.#sending;
  }

  async #sendSteps(era: string): Promise<boolean> {
    const hadAll = this.#isUp;
    const calls = this.#options.calls().filter(({ call }) => !this.#undecided.has(call.id));
    let added = 0;
    for (let from = 0; from < calls.length; from += callsAStep) {
      const step = calls.slice(from, from + callsAStep).map((call) => ({ ...call, isDropped: false }));
      const answer = await this.#send(era, step);
      if (answer?.reply === undefined) return answer !== undefined;
      added += answer.reply.added;
    }
    this.#era = era;
    if (hadAll) this.#lost(added);
    return true;
  }

  #lost(calls: number): void {
    if (calls === 0) return;
    this.#lostCalls += calls;
    if (this.#throttle.takes('lost'))
      this.#options.log('warn', 'Redis has lost calls that it had counted: this gateway has added its own again', {
        calls,
      });
  }

  #heard(reply: ScriptReply): ScriptReply {
    const now = this.#options.now();
    if (reply.gateways >= this.#gateways || now - this.#gatewaysAt > countedMs) {
      this.#gateways = reply.gateways;
      this.#gatewaysAt = now;
    }
    return reply;
  }

  async #send(era: string, changes: readonly Change[], ask?: Ask): Promise<ReturnType<typeof toReply> | undefined> {
    const { redis, gateway, longestCallMs, longestWindowMs, hasShare, now } = this.#options;
    const names = new WaveNames(this.#upstream);
    const at = now();
    const calls: ScriptWave['calls'][number][] = [];
    const drops: ScriptWave['drops'][number][] = [];
    for (const { account, call, isDropped } of changes) {
      const { id, subject, beganAt, endedAt } = call;
      const logs = hasShare(subject) ? [names.of(account), names.of(account, subject)] : [names.of(account)];
      for (const log of logs) {
        if (isDropped) drops.push([log, id]);
        // In flight, it will have ended then at the latest.
        else calls.push([log, id, Math.min(endedAt, beganAt + longestCallMs) - at]);
      }
    }
    const wave: ScriptWave = {
      ...{ gateway, era, newEra: randomUUID(), longestCallMs, keptMs: longestWindowMs + longestCallMs },
      ...{ calls, drops, ...(ask?.(names) ?? { accounts: [], wants: [] }) },
    };
    const answer = await redis.run(script, names.names, [JSON.stringify(wave)]);
    return answer === undefined ? undefined : toReply(answer);
  }
}
