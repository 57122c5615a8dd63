import { hash, randomUUID } from 'node:crypto';
import { messageOf } from '../../error-text.ts';
import { type Log, LogThrottle } from '../../log.ts';
import type { MaybePromise } from '../../maybe-promise.ts';
import type { SharedRedis } from '../../redis.ts';
import { type CountedCall, callsOf, notSent } from '../call-windows.ts';
import {
  type Account,
  type CallEnd,
  type CountingState,
  type Ledger,
  type LedgerCall,
  type LogOutlooks,
  type Want,
  type WantDecision,
} from '../ledger.ts';
import type { Surface } from '../rest-operations.ts';
import { LocalLedger, type LocalLedgerOptions } from './local-ledger.ts';
import { script } from './redis-ledger-script.ts';
import { hasShare, limitsOf } from './settings.ts';

/** Settings of the ledger. `gateways` is the number of gateways that divide the limits while Redis does not decide. */
interface RedisLedgerOptions extends Omit<LocalLedgerOptions, 'onChange'> {
  readonly redis: SharedRedis;
  readonly upstreamUrl: string;
  readonly log: Log;
}

/** A decision as the script returns it. */
type ScriptDecision = readonly number[];

interface ScriptAnswer {
  readonly era: string;
  /** The number of calls that Redis did not have. */
  readonly added: number;
  readonly decisions: readonly ScriptDecision[];
}

/** The names in Redis that one run of the script uses, and their indexes in `KEYS`. Keys and users are hashed. */
type KeyPlaces = Map<string, number>;

/** The interval at which a gateway runs the script even without a call, in milliseconds. */
const syncMs = 1000;

/** The maximum number of calls that are sent in one run of the script. */
const callsAStep = 500;

/** The maximum number of changes that are kept for Redis. If there are more, it later gets all calls anew. */
const mostChanges = 10_000;

/** The failure of a round whose era is over. It is logged only while all calls are sent. */
const eraOver = new Error('Redis keeps losing calls');

/**
 * Counts calls in Redis for all gateways together. A LocalLedger counts the calls of this gateway as well, and decides
 * while Redis cannot be asked. Only the LocalLedger counts calls of unproven keys. While Redis does not decide, this
 * ledger tries to add to Redis the counts that are missing there: every second, and at once if Redis has lost counts.
 * When none are missing, Redis decides again.
 */
export class RedisLedger implements Ledger {
  readonly #options: RedisLedgerOptions;
  readonly #local: LocalLedger;
  /** The prefix of all names in Redis, which several upstreams may share. */
  readonly #prefix: string;
  readonly #longestWindowMs: number;
  readonly #throttle = new LogThrottle();
  /**
   * The era in which Redis has all calls of this gateway but those in `#changed`. Undefined if Redis may lack more, so
   * that all calls are sent.
   */
  #era: string | undefined;
  /** Calls that have begun or ended, or were not sent after all, since Redis was told. */
  #changed = new Set<CountedCall>();
  /** True if Redis decides. */
  #isUp = false;
  /** True if Redis lost calls while it decided, and has not been sent them again. */
  #hasLost = false;
  #isClosed = false;
  #lostCalls = 0;
  #timer: NodeJS.Timeout | undefined;
  readonly counting = (): CountingState => ({ mode: this.#isUp ? 'redis' : 'local', lostCalls: this.#lostCalls });

  constructor(options: RedisLedgerOptions) {
    const { redis, upstreamUrl, windows } = options;
    this.#options = options;
    this.#local = new LocalLedger({ ...options, onChange: (calls) => this.#note(calls) });
    this.#prefix = `budget:{${hash('sha256', upstreamUrl, 'base64url')}}:`;
    this.#longestWindowMs = Math.max(...Object.values(windows).flatMap((all) => all.map(({ ms }) => ms)));
    redis.onChange(() => (redis.isUp ? void this.#sync() : this.#down(redis.reason)));
    // Synchronizing starts even if Redis is not connected, because each round also drops changes that are too many.
    void this.#sync();
  }

  reserve(wants: readonly Want[]): MaybePromise<readonly WantDecision[]> {
    const shared = wants.filter(({ key }) => this.#isShared(key));
    if (shared.length === 0) return this.#local.reserve(wants);
    const own = wants.filter(({ key }) => !this.#isShared(key));
    const here = this.#local.reserve(own);
    return this.#reserveThere(shared).then((there) => {
      const decisions = [...here, ...there];
      const order = new Map([...own, ...shared].map((want, index) => [want, index]));
      return wants.flatMap((want) => decisions[order.get(want) ?? -1] ?? []);
    });
  }

  end(call: LedgerCall, end: CallEnd): void {
    this.#local.end(call, end);
  }

  async look(account: Account, surfaces: readonly Surface[]): Promise<LogOutlooks> {
    // A want without calls reserves nothing, but its answer has the state of the logs.
    const want: Want = {
      ...{ ...account, isBackground: false, holdsPlaces: false },
      bySurface: surfaces.map((surface) => ({ surface, ids: [] })),
    };
    const [decision] = (this.#isShared(account.key) ? await this.#ask([want]) : undefined)?.decisions ?? [];
    return decision === undefined ? this.#local.look(account, surfaces) : this.#outlooksOf(want, decision);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #isShared(key: string): boolean {
    return this.#isUp && this.#local.isProven(key);
  }

  async #reserveThere(wants: readonly Want[]): Promise<readonly WantDecision[]> {
    const answer = await this.#ask(wants);
    if (answer === undefined) {
      // Redis may have counted these calls, so it is told that they were not sent.
      this.#note(wants.flatMap((want) => callsOf(want, 0, notSent)));
      return this.#local.reserve(wants);
    }
    return wants.flatMap((want, index) => {
      const decision = answer.decisions[index];
      return decision === undefined ? [] : this.#decisionOf(want, decision);
    });
  }

  #decisionOf(want: Want, decision: ScriptDecision): WantDecision {
    const [turnMs = 0, lacking = 1] = decision;
    if (turnMs > 0) return { kind: 'wait', turnMs, surface: want.bySurface[lacking - 1]?.surface ?? 'rest' };
    this.#local.count(want);
    return { kind: 'begin' };
  }

  /** Reads the state of the logs from the script's decision on a `Want` without calls. */
  #outlooksOf({ subject, bySurface }: Want, [, , ...states]: ScriptDecision): LogOutlooks {
    const numbers = states.values();
    const next = (): number => numbers.next().value ?? 0;
    return new Map(
      bySurface.map(({ surface }) => {
        const windows = this.#options.windows[surface] ?? [];
        const logs = limitsOf(this.#options, surface, subject).map((limits) =>
          windows.map(({ ms }, nth) => {
            const limit = limits[nth] ?? 0;
            return { ms, limit, remaining: Math.max(0, limit - next()), resetsInMs: next() };
          }),
        );
        return [surface, logs];
      }),
    );
  }

  /** Notes changed calls, so that Redis learns of them. */
  #note(calls: readonly CountedCall[]): void {
    const isFirst = this.#changed.size === 0;
    for (const call of calls) this.#changed.add(call);
    if (!this.#isUp || !isFirst) return;
    setImmediate(() => {
      if (this.#isUp && this.#changed.size > 0) void this.#ask([]);
    });
  }

  /** Tells Redis what it lacks. From then on Redis decides. */
  async #sync(): Promise<void> {
    const answer = await this.#ask([]);
    if (answer !== undefined && !this.#isUp && this.#options.redis.isUp) {
      this.#isUp = true;
      if (this.#hasLost) this.#lost(answer.added);
      else this.#options.log('info', 'calls are counted in Redis');
      this.#hasLost = false;
    }
    clearTimeout(this.#timer);
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.#sync(), syncMs).unref();
  }

  /** Goes on with this gateway's own part of the budget. Logs each reason once. */
  #down(reason: string): void {
    const wasUp = this.#isUp;
    this.#isUp = false;
    if (this.#isClosed) return;
    const { redis, gateways, log } = this.#options;
    const isNews = this.#throttle.mayLog(reason);
    // The connection itself logs why it was lost.
    if (wasUp || (redis.isUp && isNews))
      log('warn', 'calls cannot be counted in Redis: this gateway has its part of the budget', { reason, gateways });
  }

  /** Sends what Redis lacks, and asks whether the calls of `wants` may begin. Undefined if Redis does not decide. */
  async #ask(wants: readonly Want[]): Promise<ScriptAnswer | undefined> {
    const era = this.#era;
    const changed = [...this.#changed];
    this.#changed.clear();
    try {
      const calls = era === undefined ? new Set([...changed, ...this.#local.calls()]) : changed;
      const answer = await this.#send(era, [...calls], wants);
      this.#era = answer.era;
      return answer;
    } catch (error) {
      this.#keep(changed);
      if (error !== eraOver || era === undefined) this.#down(messageOf(error));
      // Several rounds may find that their era is over. Only the first of them begins to send all calls.
      else if (era === this.#era) {
        this.#hasLost ||= this.#isUp;
        this.#isUp = false;
        this.#era = undefined;
        void this.#sync();
      }
      return undefined;
    }
  }

  /** Keeps changes that could not be sent, in front of newer ones. They may be sent twice, which changes nothing. */
  #keep(changed: readonly CountedCall[]): void {
    this.#changed = new Set([...changed, ...this.#changed]);
    if (this.#changed.size <= mostChanges) return;
    this.#era = undefined;
    this.#changed.clear();
  }

  #lost(calls: number): void {
    this.#lostCalls += calls;
    if (calls > 0 && this.#throttle.mayLog('lost'))
      this.#options.log('warn', 'Redis has lost calls that it had counted: this gateway has added its own again', {
        calls,
      });
  }

  /**
   * Sends calls in runs of the script, the last of them with the wants. Rejects if Redis cannot be asked, or if the era
   * is over.
   */
  async #send(known: string | undefined, calls: readonly CountedCall[], wants: readonly Want[]): Promise<ScriptAnswer> {
    let era = known;
    let added = 0;
    for (let from = 0; ; from += callsAStep) {
      const to = from + callsAStep;
      const isLast = to >= calls.length;
      const answer = await this.#run(era, calls.slice(from, to), isLast ? wants : []);
      era = answer.era;
      added += answer.added;
      if (isLast) return { ...answer, added };
    }
  }

  async #run(era: string | undefined, counted: readonly CountedCall[], wants: readonly Want[]): Promise<ScriptAnswer> {
    const { redis, longestCallMs } = this.#options;
    const names: KeyPlaces = new Map([[`${this.#prefix}logs`, 1]]);
    const now = performance.now();
    const calls = counted.flatMap((call) => {
      // A call in flight gets its latest possible end.
      const endsIn = call.endedAt === notSent ? false : Math.min(call.endedAt, call.beganAt + longestCallMs) - now;
      return this.#logsOf(call, names).map((log) => [log, call.id, endsIn]);
    });
    const round = {
      ...{ era, newEra: randomUUID(), longestCallMs, keptMs: this.#longestWindowMs + longestCallMs },
      ...{ calls, wants: wants.map((want) => this.#toScript(want, names)) },
    };
    const answer = await redis.run(script, [...names.keys()], [JSON.stringify(round)]);
    if (answer === undefined) throw new Error(redis.reason);
    return toAnswer(answer);
  }

  #toScript({ key, subject, isBackground, holdsPlaces, bySurface }: Want, names: KeyPlaces): object {
    return {
      holdsPlaces,
      bySurface: bySurface.map(({ surface, ids }) => {
        const limits = limitsOf(this.#options, surface, subject, { isBackground });
        const windows = (this.#options.windows[surface] ?? []).map(({ ms }) => ms);
        const logs = this.#logsOf({ key, subject, surface }, names);
        return { windows, ids, logs: logs.map((log, nth) => ({ key: log, limits: limits[nth] })) };
      }),
    };
  }

  /** The indexes in `KEYS` of the logs that count a call, in the order of `limitsOf`. Adds the logs to `names`. */
  #logsOf({ key, subject, surface }: Omit<LedgerCall, 'id'>, names: KeyPlaces): readonly number[] {
    const owners = hasShare(this.#options, subject) ? [key, `${key} ${subject}`] : [key];
    return owners.map((owner) => {
      const name = `${this.#prefix}${hash('sha256', owner, 'base64url')}:${surface}`;
      const place = names.get(name) ?? names.size + 1;
      names.set(name, place);
      return place;
    });
  }
}

function toAnswer(answer: unknown): ScriptAnswer {
  const [era, added = 0, decisions] = list(answer);
  if (decisions === undefined) throw eraOver;
  return { era: String(era), added: Number(added), decisions: list(decisions).map((one) => list(one).map(Number)) };
}

function list(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error('unexpected answer');
  return value;
}
