import { CallWindows, type CountedCall } from '../rest/call-windows.ts';
import type { Caller } from '../rest/caller.ts';
import { KeyMap } from '../rest/key-map.ts';
import type { CallLimits, Outlooks } from '../rest/ledger.ts';
import { mostCalls } from './walk.ts';

/** The factor, at least 1, by which polls with an API key are slowed down while few of its calls are left. */
export type BackoffOf = (sharingKey: string) => number | Promise<number>;

/** Settings of the pace of polls. */
export interface PaceOptions {
  /** Time between two polls of a tail, in milliseconds. */
  readonly pollMs: number;
  /** The longest time of one poll, in milliseconds. */
  readonly deadlineMs: number;
  /** Undefined if nothing else limits calls for events; each key then gets `mostPolls` calls a minute. */
  readonly backoffOf?: BackoffOf | undefined;
}

const minuteMs = 60_000;

/** The most calls of polls with one key in a minute if nothing else limits them. A poll in flight counts as one. */
const mostPolls = 60;

/** The interval between calls with one key, in milliseconds, if `mostPolls` calls are spread evenly over a minute. */
const spacingMs = minuteMs / mostPolls;

/**
 * Limits how often tails are polled. Tails are the lists that subscriptions follow. Each REST call of a poll counts
 * against the limits of its API key. The polls of one key are spread over time, so that no tail waits for the others.
 */
export class Pace {
  readonly #options: PaceOptions;
  /** The calls of polls, by key. Empty if `backoffOf` decides. */
  readonly #calls = new KeyMap<CallWindows>();
  /** The number of tails of each key. */
  readonly #tails = new Map<string, number>();
  polls = 0;

  constructor(options: PaceOptions) {
    this.#options = options;
  }

  join(key: string): void {
    this.#tails.set(key, (this.#tails.get(key) ?? 0) + 1);
  }

  leave(key: string): void {
    const left = (this.#tails.get(key) ?? 0) - 1;
    if (left > 0) this.#tails.set(key, left);
    else this.#tails.delete(key);
  }

  /**
   * The milliseconds that the poll `id` with a key has to wait; 0 if it may begin and has been counted. The id is
   * unique among the polls in flight.
   */
  reserve(key: string, id: string): number {
    if (this.#options.backoffOf !== undefined) return 0;
    const calls = this.#callsOf(key);
    const now = performance.now();
    const waitMs = calls.waitMs(now, [mostPolls], 1);
    if (waitMs === 0) calls.begin(pollCall(key, id, now));
    return waitMs;
  }

  /**
   * Notes the end of a poll with a key, after `calls` calls. `provesKey` is true if one of the calls has succeeded. The
   * counts of such a key are never evicted by those of invented keys. Resolves to the milliseconds until the tail's
   * next poll. Never rejects.
   */
  async next(key: string, id: string, calls: number, provesKey = false): Promise<number> {
    const { pollMs, backoffOf } = this.#options;
    if (backoffOf !== undefined) return pollMs * Math.max(1, await backoffOrOne(backoffOf, key));
    const counted = this.#callsOf(key);
    const now = performance.now();
    counted.end(id, now);
    for (let further = 1; further < calls; further += 1) {
      counted.begin(pollCall(key, id, now));
      counted.end(id, now);
    }
    if (provesKey) this.#calls.prove(key);
    return Math.max(pollMs, spacingMs * (this.#tails.get(key) ?? 0) * calls);
  }

  #callsOf(key: string): CallWindows {
    const known = this.#calls.get(key);
    if (known !== undefined) return known;
    const calls = new CallWindows([{ limit: mostPolls, ms: minuteMs }], this.#options.deadlineMs);
    this.#calls.set(key, calls);
    return calls;
  }
}

function pollCall(key: string, id: string, beganAt: number): CountedCall {
  return { id, key, subject: '', surface: 'events', beganAt, endedAt: Number.POSITIVE_INFINITY };
}

/** The backoff of a key; 1 if it cannot be read. Each call of a poll is limited even then. */
async function backoffOrOne(backoffOf: BackoffOf, key: string): Promise<number> {
  try {
    return await backoffOf(key);
  } catch {
    return 1;
  }
}

/** Polls are not delayed while at least this share of each window is left. */
const plenty = 0.5;

const mostBackoff = 10;

/** The backoff under the limits of keys; undefined if these do not limit calls for events. */
export function backoffBy(limits: Pick<CallLimits, 'covers' | 'look'> | undefined): BackoffOf | undefined {
  if (limits?.covers('events') !== true) return undefined;
  return async (key) => backoffIn(await limits.look({ key, subject: '' }, ['events']));
}

function backoffIn(outlooks: Outlooks): number {
  const windows = outlooks.get('events') ?? [];
  const left = Math.min(plenty, ...windows.map(({ remaining, limit }) => remaining / limit));
  return left <= 0 ? mostBackoff : Math.min(plenty / left, mostBackoff);
}

/**
 * The reason why the polls of a caller could starve: a window never has room for a whole poll, which may take
 * `mostCalls` calls even on a quiet list. Undefined if all windows have room.
 */
export function starvationReason(limits: CallLimits | undefined, { subject = '' }: Caller): string | undefined {
  const window = limits?.tooSmallFor(mostCalls, 'events', subject);
  if (window === undefined) return undefined;
  const needed = `The subscription needs room for a poll of up to ${mostCalls} REST calls of the surface events`;
  return `${needed}, more than the ${window.limit} in ${window.ms / 1000} seconds that it may make.`;
}
