import type { Redis } from 'ioredis';
import type { AccountCall, CountedCall } from './ledger.ts';
import { hashOf, WaveNames } from './redis-names.ts';
import { type ScriptReply, type ScriptTake, type ScriptWave, script, scriptHash, toReply } from './redis-script.ts';

/** Settings of the waves. */
export interface RedisWavesOptions {
  readonly redis: Redis;
  readonly upstreamUrl: string;
  /** The name of this gateway, unlike that of any other. */
  readonly gateway: string;
  readonly longestCallMs: number;
  /** The longest window, in milliseconds. */
  readonly longestWindowMs: number;
  /** Whether each user has a share of its own. */
  readonly hasShares: boolean;
  readonly now: () => number;
}

/** What is sent to Redis in one step. */
export interface Wave {
  /** The state that is expected; undefined to send calls to whatever there is. */
  readonly born: string | undefined;
  /** Whether all calls of this gateway have been sent with this wave. */
  readonly completes?: boolean;
  readonly calls?: readonly AccountCall[];
  readonly drops?: readonly AccountCall[];
  readonly takes?: (names: WaveNames) => readonly ScriptTake[];
}

/** Longest time that calls wait for Redis, in milliseconds. */
const timeoutMs = 500;

/** Runs the script. */
export class RedisWaves {
  readonly #options: RedisWavesOptions;
  readonly #upstream: string;

  constructor(options: RedisWavesOptions) {
    this.#options = options;
    this.#upstream = hashOf(options.upstreamUrl);
  }

  /** Sends Redis a wave. Rejects if Redis does not answer in time. */
  async run({ born, completes = false, calls = [], drops = [], takes }: Wave): Promise<ScriptReply> {
    const { gateway, longestCallMs, longestWindowMs, hasShares } = this.#options;
    const names = new WaveNames(this.#upstream);
    const setsOf = ({ account, call }: AccountCall): readonly number[] =>
      hasShares && call.subject !== '' ? [names.of(account), names.of(account, call.subject)] : [names.of(account)];
    const wave: ScriptWave = {
      ...{ longestCallMs, born: born ?? '', joins: born === undefined },
      gateway: completes ? gateway : '',
      keptMs: longestWindowMs + longestCallMs,
      calls: calls.flatMap((one) => setsOf(one).map((set) => [set, one.call.id, this.#endsIn(one.call)] as const)),
      drops: drops.flatMap((one) => setsOf(one).map((set) => [set, one.call.id] as const)),
      takes: takes?.(names) ?? [],
    };
    return toReply(await inTime(this.#evaluate(names.names, wave)));
  }

  /** Milliseconds to its end; in flight, to when it has ended at the latest. */
  #endsIn({ beganAt, endedAt }: CountedCall): number {
    const { longestCallMs, now } = this.#options;
    return Math.min(endedAt, beganAt + longestCallMs) - now();
  }

  #evaluate(names: readonly string[], wave: ScriptWave): Promise<unknown> {
    const { redis } = this.#options;
    // One that has just been started does not know the script.
    const [command, body] = wave.joins ? (['EVAL', script] as const) : (['EVALSHA', scriptHash] as const);
    return redis.call(command, body, String(names.length), ...names, JSON.stringify(wave));
  }
}

/** Rejects if it takes too long. A busy process first reads what has arrived by then. */
function inTime<T>(answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = (): void => reject(new Error('no answer in time'));
    const timer = setTimeout(() => setImmediate(late), timeoutMs);
    const settle = (): void => clearTimeout(timer);
    answer.finally(settle).then(resolve, reject);
  });
}
