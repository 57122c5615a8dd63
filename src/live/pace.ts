import type { CallBudget, Outlooks } from '../rest/budget/call-budget.ts';
import { type BudgetSettings, shareOf } from '../rest/budget/settings.ts';
import type { Caller } from '../rest/caller.ts';
import { mostCalls } from './walk.ts';

/** How many times as long as usual the polls with a key wait, by its sharing key, because its budget shrinks; at least 1. */
export type BackoffOf = (sharingKey: string) => number | Promise<number>;

/** How often tails are polled. */
export interface PaceOptions {
  /** Time between two polls of a tail, in milliseconds. */
  readonly pollMs: number;
  /** Undefined: a key has no budget for events, and is polled 60 times a minute at most. */
  readonly backoffOf?: BackoffOf | undefined;
  /** A clock in milliseconds that never goes back. */
  readonly now: () => number;
}

const minuteMs = 60_000;

/** Polls of a key in a minute, if no budget says how many it may make. */
const mostPolls = 60;

/** Time between two of them that are spread over the minute. */
const spacingMs = minuteMs / mostPolls;

/** What is known of the polls of one key. */
interface Polls {
  tails: number;
  /** Polls that have begun and are not answered yet. */
  inFlight: number;
  /** When calls were answered in the last minute, the oldest first. */
  readonly answeredAt: number[];
}

/**
 * Keeps the polls of all tails within what their keys may have. Each REST call of a poll counts, for a busy list takes
 * several, and until a minute after its answer: nothing says when in between it arrived at the upstream. Tails of one key are
 * spread, so that none of them waits for the others.
 */
export class Pace {
  readonly #options: PaceOptions;
  readonly #byKey = new Map<string, Polls>();

  constructor(options: PaceOptions) {
    this.#options = options;
  }

  /** One more tail is polled with a key. */
  join(key: string): void {
    this.#forgetIdle();
    const polls = this.#byKey.get(key) ?? { tails: 0, inFlight: 0, answeredAt: [] };
    this.#byKey.set(key, polls);
    polls.tails += 1;
  }

  /** One tail less is polled with a key. */
  leave(key: string): void {
    const polls = this.#byKey.get(key);
    if (polls !== undefined) polls.tails -= 1;
  }

  /** How long the next poll with a key has to wait, in milliseconds; 0: it is counted, and may begin. */
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
   * A poll with a key has ended, and took so many calls. Resolves to the time until the next one of the same tail, in
   * milliseconds. Never rejects.
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

  /** Keys without tails are kept for a minute: their next tail has no more polls because the last one has ended. */
  #forgetIdle(): void {
    const before = this.#options.now() - minuteMs;
    for (const [key, { tails, inFlight, answeredAt }] of this.#byKey)
      if (tails + inFlight === 0 && (answeredAt.at(-1) ?? 0) <= before) this.#byKey.delete(key);
  }
}

/** 1 if the budget cannot say: the calls of the polls ask it themselves. */
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

/** Polls are as often as they may be while so much of each window is left; with less of it they wait longer. */
const plenty = 0.5;

/** The largest backoff. */
const mostBackoff = 10;

/** The backoff that a budget demands; undefined if it has none for events. */
export function backoffBy(budget: CallBudget): BackoffOf | undefined {
  if (!budget.covers('events')) return undefined;
  return async (key) => backoffIn(await budget.look({ key, subject: '' }, ['events']));
}

function backoffIn(outlooks: Outlooks): number {
  const windows = outlooks.get('events') ?? [];
  const left = Math.min(plenty, ...windows.map(({ remaining, limit }) => remaining / limit));
  return left <= 0 ? mostBackoff : Math.min(plenty / left, mostBackoff);
}

/**
 * Says why polls in the name of a caller could starve: a window of their budget never has room for a whole one. Undefined if
 * each has. The most calls of a poll decide, because a list that is quiet now may need them any time.
 */
export function starvationOf({ windows, share }: BudgetSettings, { subject = '' }: Caller): string | undefined {
  for (const { limit, ms } of windows.events ?? []) {
    const own = subject === '' ? limit : shareOf(limit, share);
    if (own < mostCalls) {
      const needed = `The subscription needs room for a poll of up to ${mostCalls} REST calls of the surface events`;
      return `${needed}, more than the ${own} in ${ms / 1000} seconds that it may make.`;
    }
  }
  return undefined;
}
