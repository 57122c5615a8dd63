import type { CallBudget, Outlooks } from '../rest/budget/call-budget.ts';
import type { Caller } from '../rest/caller.ts';
import { mostCalls } from './walk.ts';

/**
 * Returns the factor, at least 1, by which the polls with an API key are slowed down while the key's budget runs low.
 */
export type BackoffOf = (sharingKey: string) => number | Promise<number>;

/** Settings of the pace of polls. */
export interface PaceOptions {
  /** Time between two polls of a tail, in milliseconds. */
  readonly pollMs: number;
  /**
   * The backoff of each key. Undefined if keys have no budget for events; each key then gets `mostPolls` calls a
   * minute.
   */
  readonly backoffOf?: BackoffOf | undefined;
  /** A clock in milliseconds that never goes back. */
  readonly now: () => number;
}

const minuteMs = 60_000;

/** The most calls in a minute for polls with one key, if there is no budget. A poll in flight counts as one call. */
const mostPolls = 60;

/** The interval of polls that are spread over the minute. */
const spacingMs = minuteMs / mostPolls;

interface Polls {
  tails: number;
  /** The number of polls that have begun and are not answered yet. */
  inFlight: number;
  /** The times at which calls were answered in the last minute, oldest first. */
  readonly answeredAt: number[];
}

/**
 * Limits how often the lists that subscriptions follow (tails) are polled, by the budgets of the API keys. Each REST
 * call of a poll counts, because a busy list takes several calls. A call counts until a minute after its answer,
 * because the time of its arrival upstream is not known. The tails of one key are spread, so that none of them waits
 * for the others.
 */
export class Pace {
  readonly #options: PaceOptions;
  readonly #byKey = new Map<string, Polls>();

  constructor(options: PaceOptions) {
    this.#options = options;
  }

  join(key: string): void {
    this.#forgetIdle();
    const polls = this.#byKey.get(key) ?? { tails: 0, inFlight: 0, answeredAt: [] };
    this.#byKey.set(key, polls);
    polls.tails += 1;
  }

  leave(key: string): void {
    const polls = this.#byKey.get(key);
    if (polls !== undefined) polls.tails -= 1;
  }

  /** The time that the next poll with a key has to wait, in milliseconds; 0 if it has been counted and may begin. */
  take(key: string): number {
    const { now, backoffOf } = this.#options;
    const polls = this.#byKey.get(key);
    if (polls === undefined || backoffOf !== undefined) return 0;
    const { answeredAt, inFlight } = polls;
    dropOlder(answeredAt, now() - minuteMs);
    if (inFlight + answeredAt.length < mostPolls) {
      polls.inFlight += 1;
      return 0;
    }
    const [oldest] = answeredAt;
    return oldest === undefined ? spacingMs : oldest + minuteMs - now();
  }

  /**
   * Notes that a poll with a key has ended and has made `calls` calls. Resolves to the delay of the tail's next poll,
   * in milliseconds. Never rejects.
   */
  async next(key: string, calls: number): Promise<number> {
    const { pollMs, backoffOf, now } = this.#options;
    const polls = this.#byKey.get(key);
    if (backoffOf !== undefined) return pollMs * Math.max(1, await backoffOrOne(backoffOf, key));
    if (polls === undefined) return pollMs;
    polls.inFlight -= 1;
    for (let counted = 0; counted < calls; counted += 1) polls.answeredAt.push(now());
    return Math.max(pollMs, spacingMs * polls.tails * calls);
  }

  /**
   * Forgets keys that have had no tails for a minute. A tail that begins sooner gets only the polls that the key has
   * left.
   */
  #forgetIdle(): void {
    const before = this.#options.now() - minuteMs;
    for (const [key, { tails, inFlight, answeredAt }] of this.#byKey)
      if (tails + inFlight === 0 && (answeredAt.at(-1) ?? 0) <= before) this.#byKey.delete(key);
  }
}

/** The backoff of a key; 1 if it cannot be read. Each call of a poll asks the budget anyway. */
async function backoffOrOne(backoffOf: BackoffOf, key: string): Promise<number> {
  try {
    return await backoffOf(key);
  } catch {
    return 1;
  }
}

function dropOlder(times: number[], before: number): void {
  const kept = times.findIndex((time) => time > before);
  times.splice(0, kept === -1 ? times.length : kept);
}

/** Polls are not delayed while at least this share of each window of the budget is left. */
const plenty = 0.5;

const mostBackoff = 10;

/** The backoff for a budget; undefined if the budget does not limit events. */
export function backoffBy(budget: Pick<CallBudget, 'covers' | 'look'>): BackoffOf | undefined {
  if (!budget.covers('events')) return undefined;
  return async (key) => backoffIn(await budget.look({ key, subject: '' }, ['events']));
}

function backoffIn(outlooks: Outlooks): number {
  const windows = outlooks.get('events') ?? [];
  const left = Math.min(plenty, ...windows.map(({ remaining, limit }) => remaining / limit));
  return left <= 0 ? mostBackoff : Math.min(plenty / left, mostBackoff);
}

/**
 * The reason why the polls of a caller could starve: a window of the budget never has room for a whole poll. Undefined
 * if all windows have room. A poll counts as `mostCalls` calls, because even a quiet list may need them at any time.
 */
export function starvationOf(budget: Pick<CallBudget, 'tooSmallFor'>, { subject = '' }: Caller): string | undefined {
  const window = budget.tooSmallFor(mostCalls, 'events', subject);
  if (window === undefined) return undefined;
  const needed = `The subscription needs room for a poll of up to ${mostCalls} REST calls of the surface events`;
  return `${needed}, more than the ${window.limit} in ${window.ms / 1000} seconds that it may make.`;
}
