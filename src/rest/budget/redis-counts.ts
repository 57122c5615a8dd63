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
  readonly longestCallMs: number;
  /** The longest window, in milliseconds. */
  readonly longestWindowMs: number;
  /** True if the calls of a subject are also counted in a log of their own. */
  readonly hasShare: (subject: string) => boolean;
  /** The number of gateways that share the limits while Redis does not decide. */
  readonly replicas: number;
  /** All calls that count in this process, of proven keys. */
  readonly calls: () => readonly AccountCall[];
  readonly now: () => number;
  readonly log: Log;
}

/** The way in which calls are counted, for metrics. */
export interface CountingState {
  /** The ledger that decides: Redis for all gateways, or this gateway for its part. */
  readonly mode: 'redis' | 'local';
  /** Calls that Redis had counted and lost, and that this gateway has added again. */
  readonly lostCalls: number;
}

/** The interval at which a gateway asks Redis at least, and tries it again while it does not decide, in milliseconds. */
const beatMs = 1000;

/** The most calls that one step sends. If there are more, several steps send them. */
const callsAStep = 500;

/** The most changes that are kept while Redis cannot be reached. After more changes, it gets all calls anew. */
const mostChanges = 10_000;

/** The most tries of a wave whose era is over. */
const tries = 3;

/** A change of a call: it has begun or ended, or was not sent after all. */
interface Change extends AccountCall {
  readonly isDropped: boolean;
}

/** Makes the question to the script, with the names that it uses. */
type Ask = (names: WaveNames) => ScriptQuestion;

/**
 * Keeps the counts of calls in Redis. While the connection is up, Redis decides and is told each change. It goes down when
 * Redis cannot be asked. Then this gateway sends what Redis lacks, each second until that has arrived, and is up again.
 */
export class RedisCounts {
  readonly #options: RedisCountsOptions;
  readonly #upstream: string;
  readonly #throttle = new LogThrottle();
  /** The ids of calls that Redis is deciding on. They are not sent to it as calls that were made. */
  readonly #undecided = new Set<string>();
  /** The era in which Redis has all calls of this gateway, except for the changes. */
  #era = '';
  #changes: Change[] = [];
  #sending: Promise<boolean> | undefined;
  #isUp = false;
  #isBeating = false;
  #isClosed = false;
  #isTelling = false;
  #lostCalls = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Called when the decision passes from Redis to this gateway, or back. */
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

  /** Notes calls that have begun or ended, so that Redis learns of them. */
  changed(calls: readonly AccountCall[]): void {
    for (const { account, call } of calls) this.#note({ account, call, isDropped: false });
  }

  /** Notes a call that was not sent after all. */
  dropped({ account, call }: AccountCall): void {
    this.#note({ account, call, isDropped: true });
  }

  /** Asks Redis for calls with these ids; undefined if it cannot be asked. */
  async reserve(ids: readonly string[], ask: Ask): Promise<ScriptReply | undefined> {
    for (const id of ids) this.#undecided.add(id);
    try {
      return await this.#tell(ask);
    } finally {
      for (const id of ids) this.#undecided.delete(id);
    }
  }

  /** Tells Redis what it lacks. From then on Redis decides. */
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

  /** Goes on with this gateway's own part of the budget. Logs each reason once. */
  #down(): void {
    const wasUp = this.#isUp;
    this.#isUp = false;
    if (this.#isClosed) return;
    const { redis, replicas: gateways, log } = this.#options;
    const { reason } = redis;
    // The connection itself logs why it was lost.
    const isNews = wasUp || (redis.isUp && this.#throttle.takes(reason));
    if (isNews)
      log('warn', 'calls cannot be counted in Redis: this gateway has its part of the budget', { reason, gateways });
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

  /** Sends the changes and a question; undefined if Redis cannot be asked. */
  async #tell(ask?: Ask): Promise<ScriptReply | undefined> {
    const changes = this.#changes;
    this.#changes = [];
    const reply = await this.#try(changes, ask);
    if (reply !== undefined) return reply;
    // Redis may have received them; sending them twice changes nothing.
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

  /** Sends all calls that count here to Redis; false if it cannot be reached. */
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

  async #send(era: string, changes: readonly Change[], ask?: Ask): Promise<ReturnType<typeof toReply> | undefined> {
    const { redis, longestCallMs, longestWindowMs, hasShare, now } = this.#options;
    const names = new WaveNames(this.#upstream);
    const at = now();
    const calls: ScriptWave['calls'][number][] = [];
    const drops: ScriptWave['drops'][number][] = [];
    for (const { account, call, isDropped } of changes) {
      const { id, subject, beganAt, endedAt } = call;
      const logs = hasShare(subject) ? [names.of(account), names.of(account, subject)] : [names.of(account)];
      for (const log of logs) {
        if (isDropped) drops.push([log, id]);
        // A call in flight gets its latest possible end.
        else calls.push([log, id, Math.min(endedAt, beganAt + longestCallMs) - at]);
      }
    }
    const wave: ScriptWave = {
      ...{ era, newEra: randomUUID(), longestCallMs, keptMs: longestWindowMs + longestCallMs },
      ...{ calls, drops, ...(ask?.(names) ?? { accounts: [], wants: [] }) },
    };
    const answer = await redis.run(script, names.names, [JSON.stringify(wave)]);
    return answer === undefined ? undefined : toReply(answer);
  }
}
