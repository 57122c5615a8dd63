import { hash, randomUUID } from 'node:crypto';
import { type Log, LogThrottle } from '../../log.ts';
import type { SharedRedis } from '../../redis.ts';
import { type CountedCall, notSent } from './call-windows.ts';
import type { LedgerCall, Want } from './ledger.ts';
import { script } from './redis-script.ts';
import { hasShare, type LimitSettings, limitsOf } from './settings.ts';

/** Settings of the counts in Redis. */
export interface RedisCountsOptions extends LimitSettings {
  readonly redis: SharedRedis;
  readonly upstreamUrl: string;
  readonly longestCallMs: number;
  /** The number of gateways that share the limits while Redis does not decide. */
  readonly gateways: number;
  /** All calls that count in this process, of proven keys. */
  readonly calls: () => readonly CountedCall[];
  readonly log: Log;
}

/** The way in which calls are counted, for metrics. */
export interface CountingState {
  /** The ledger that decides: Redis for all gateways, or this gateway for its part. */
  readonly mode: 'redis' | 'local';
  /** Calls that Redis had counted and lost, and that this gateway has added again. */
  readonly lostCalls: number;
}

/** The numbers of a decision, as the script answers them. */
export type ScriptDecision = readonly number[];

/** The answer of the script. If the era of the wave was over, it holds only the era of Redis. */
interface ScriptAnswer {
  readonly era: string;
  /** The number of calls that Redis did not have. */
  readonly added: number;
  readonly decisions: readonly ScriptDecision[] | undefined;
}

/** The names that one run of the script uses, with their places from 1. They hold only hashes, behind one hash tag. */
type Names = Map<string, number>;

/** The interval at which a gateway asks Redis at least, and tries it again while it does not decide, in milliseconds. */
const beatMs = 1000;

/** The most calls that one step sends. If there are more, several steps send them. */
const callsAStep = 500;

/** The most changes that are kept while Redis cannot be reached. After more changes, it gets all calls anew. */
const mostChanges = 10_000;

/** The most tries of a wave whose era is over. */
const tries = 3;

/**
 * Keeps the counts of calls in Redis. While this object is up, Redis decides and is told each change. If Redis cannot
 * be asked, this object is down. It then tries each second to send what Redis lacks, and is up again once that has
 * arrived.
 */
export class RedisCounts {
  readonly #options: RedisCountsOptions;
  /** The beginning of all names. Several upstreams may share one Redis. */
  readonly #prefix: string;
  readonly #longestWindowMs: number;
  readonly #throttle = new LogThrottle();
  /** The era in which Redis has all calls of this gateway, except for the changed ones. */
  #era = '';
  /** Calls that have begun or ended, or were not sent after all, since Redis was told. */
  #changed = new Set<CountedCall>();
  /** Resolves when all calls of this gateway have been sent, if they are being sent. */
  #sending: Promise<boolean> | undefined;
  #isUp = false;
  #isClosed = false;
  #lostCalls = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: RedisCountsOptions) {
    this.#options = options;
    this.#prefix = `budget:{${hashOf(options.upstreamUrl)}}:`;
    const { redis, windows } = options;
    this.#longestWindowMs = Math.max(...Object.values(windows).flatMap((all) => all.map(({ ms }) => ms)));
    redis.onChange(() => (redis.isUp ? void this.#beat() : this.#down()));
  }

  /** True if Redis decides. */
  get isUp(): boolean {
    return this.#isUp;
  }

  get state(): CountingState {
    return { mode: this.#isUp ? 'redis' : 'local', lostCalls: this.#lostCalls };
  }

  /** Notes calls that have begun or ended, or were not sent, so that Redis learns of them. */
  changed(calls: readonly CountedCall[]): void {
    if (this.#changed.size >= mostChanges) {
      this.#era = '';
      this.#changed.clear();
    }
    const isFirst = this.#changed.size === 0;
    for (const call of calls) this.#changed.add(call);
    if (!this.#isUp || !isFirst) return;
    setImmediate(() => {
      if (this.#isUp && this.#changed.size > 0) void this.ask([]);
    });
  }

  /** Sends what has changed, and asks for the calls of wants. Undefined if Redis cannot be asked. */
  async ask(wants: readonly Want[]): Promise<readonly ScriptDecision[] | undefined> {
    const changed = [...this.#changed];
    this.#changed.clear();
    const decisions = await this.#try(changed, wants);
    if (decisions !== undefined) return decisions;
    // Redis may have received these changes; sending them twice changes nothing. Changes since then stay behind them.
    this.#changed = new Set([...changed, ...this.#changed]);
    this.#down();
    return undefined;
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  /** Tells Redis what it lacks. From then on Redis decides. */
  async #beat(): Promise<void> {
    if ((await this.ask([])) !== undefined) this.#up();
    clearTimeout(this.#timer);
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.#beat(), beatMs).unref();
  }

  #up(): void {
    if (this.#isUp || !this.#options.redis.isUp) return;
    this.#isUp = true;
    this.#options.log('info', 'calls are counted in Redis');
  }

  /** Goes on with this gateway's own part of the budget. Logs each reason once. */
  #down(): void {
    const wasUp = this.#isUp;
    this.#isUp = false;
    if (this.#isClosed) return;
    const { redis, gateways, log } = this.#options;
    const { reason } = redis;
    // The connection itself logs why it was lost.
    const isNews = wasUp || (redis.isUp && this.#throttle.takes(reason));
    if (isNews)
      log('warn', 'calls cannot be counted in Redis: this gateway has its part of the budget', { reason, gateways });
    if (wasUp) this.#throttle.takes(reason);
  }

  async #try(changed: readonly CountedCall[], wants: readonly Want[]): Promise<readonly ScriptDecision[] | undefined> {
    for (let attempt = 0; attempt < tries; attempt += 1) {
      const answer = await this.#send(this.#era, changed, wants);
      if (answer === undefined || answer.decisions !== undefined) return answer?.decisions;
      this.#sending ??= this.#beginEra(answer.era).finally(() => (this.#sending = undefined));
      if (!(await this.#sending)) return undefined;
    }
    return undefined;
  }

  /** Sends all calls that count here to Redis; false if it cannot be reached. */
  async #beginEra(era: string): Promise<boolean> {
    const hadAll = this.#isUp;
    const answer = await this.#send(era, this.#options.calls());
    if (answer?.decisions === undefined) return answer !== undefined;
    this.#era = era;
    const { added: calls } = answer;
    if (!hadAll || calls === 0) return true;
    this.#lostCalls += calls;
    if (this.#throttle.takes('lost'))
      this.#options.log('warn', 'Redis has lost calls that it had counted: this gateway has added its own again', {
        calls,
      });
    return true;
  }

  /** Sends calls, and wants with the last of them. Stops early if Redis cannot be asked, or if the era is over. */
  async #send(
    era: string,
    calls: readonly CountedCall[],
    wants: readonly Want[] = [],
  ): Promise<ScriptAnswer | undefined> {
    let added = 0;
    for (let from = 0; ; from += callsAStep) {
      const to = from + callsAStep;
      const isLast = to >= calls.length;
      const answer = await this.#run(era, calls.slice(from, to), isLast ? wants : []);
      if (answer?.decisions === undefined) return answer;
      added += answer.added;
      if (isLast) return { ...answer, added };
    }
  }

  async #run(era: string, counted: readonly CountedCall[], wants: readonly Want[]): Promise<ScriptAnswer | undefined> {
    const { redis, longestCallMs } = this.#options;
    const names: Names = new Map([[`${this.#prefix}logs`, 1]]);
    const now = performance.now();
    const calls = counted.flatMap((call) => {
      // A call in flight gets its latest possible end.
      const endsIn = call.endedAt === notSent ? false : Math.min(call.endedAt, call.beganAt + longestCallMs) - now;
      return this.#logsOf(call, names).map((log) => [log, call.id, endsIn]);
    });
    const wave = {
      ...{ era, newEra: randomUUID(), longestCallMs, keptMs: this.#longestWindowMs + longestCallMs },
      ...{ calls, wants: wants.map((want) => this.#tell(want, names)) },
    };
    const answer = await redis.run(script, [...names.keys()], [JSON.stringify(wave)]);
    return answer === undefined ? undefined : toAnswer(answer);
  }

  /** A want as the script reads it. */
  #tell({ key, subject, isBackground, holds, parts }: Want, names: Names): object {
    return {
      holds,
      parts: parts.map(({ surface, ids }) => {
        const limits = limitsOf(this.#options, surface, subject, { isBackground });
        const windows = (this.#options.windows[surface] ?? []).map(({ ms }) => ms);
        const logs = this.#logsOf({ key, subject, surface }, names);
        return { windows, ids, logs: logs.map((log, nth) => ({ key: log, limits: limits[nth] })) };
      }),
    };
  }

  /** The places of the logs that count a call, in the order of `limitsOf`. */
  #logsOf({ key, subject, surface }: Omit<LedgerCall, 'id'>, names: Names): readonly number[] {
    const owners = hasShare(this.#options, subject) ? [key, `${key} ${subject}`] : [key];
    return owners.map((owner) => {
      const name = `${this.#prefix}${hashOf(owner)}:${surface}`;
      const place = names.get(name) ?? names.size + 1;
      names.set(name, place);
      return place;
    });
  }
}

function toAnswer(answer: unknown): ScriptAnswer {
  const [era, added = 0, decisions] = list(answer);
  return {
    era: String(era),
    added: Number(added),
    decisions: decisions === undefined ? undefined : list(decisions).map((one) => list(one).map(Number)),
  };
}

function list(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error('expected a list from Redis');
  return value;
}

/** The hash that stands for a text in names. */
export function hashOf(text: string): string {
  return hash('sha256', text, 'base64url');
}
