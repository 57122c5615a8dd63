import type { CallBudget, Outlooks } from '../rest/budget/call-budget.ts';
import { LocalLedger } from '../rest/budget/local-ledger.ts';
import type { Caller } from '../rest/caller.ts';
import type { Want } from '../rest/ledger.ts';
import { mostCalls } from './walk.ts';

/** The factor, at least 1, by which polls with an API key are slowed down while its budget runs low. */
export type BackoffOf = (sharingKey: string) => number | Promise<number>;

/** Settings of the pace of polls. */
export interface PaceOptions {
  /** Time between two polls of a tail, in milliseconds. */
  readonly pollMs: number;
  /** The longest time of one poll, in milliseconds. */
  readonly deadlineMs: number;
  /** Undefined if keys have no budget for events; each key then gets `mostPolls` calls a minute. */
  readonly backoffOf?: BackoffOf | undefined;
}

const minuteMs = 60_000;

/** The most calls that polls with one key make in a minute if keys have no budget. A poll in flight counts as one. */
const mostPolls = 60;

/** The interval between calls with one key, in milliseconds, if `mostPolls` calls are spread evenly over a minute. */
const spacingMs = minuteMs / mostPolls;

/** The budget of polls if keys have no budget for events. */
const ownBudget = { windows: { events: [{ limit: mostPolls, ms: minuteMs }] }, share: 100, scope: 'key' } as const;

/**
 * Limits how often tails are polled. Tails are the lists that subscriptions follow. The budget of an API key sets the
 * limit, and each REST call of a poll counts. The tails of one key are spread, so that none waits for the others.
 */
export class Pace {
  readonly #options: PaceOptions;
  readonly #ledger: LocalLedger;
  /** The number of tails of each key. */
  readonly #tails = new Map<string, number>();
  polls = 0;

  constructor(options: PaceOptions) {
    this.#options = options;
    this.#ledger = new LocalLedger({ ...ownBudget, gateways: 1, longestCallMs: options.deadlineMs });
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
    const [decision] = this.#ledger.reserve([wantOf(key, [id])]);
    return decision?.kind === 'wait' ? decision.turnMs : 0;
  }

  /**
   * Notes the end of a poll with a key, after `calls` calls. `provesKey` is true if one of the calls has succeeded. The
   * counts of such a key are never evicted by those of invented keys. Resolves to the milliseconds until the tail's
   * next poll. Never rejects.
   */
  async next(key: string, id: string, calls: number, provesKey = false): Promise<number> {
    const { pollMs, backoffOf } = this.#options;
    if (backoffOf !== undefined) return pollMs * Math.max(1, await backoffOrOne(backoffOf, key));
    const further = Array.from({ length: calls - 1 }, (_, index) => `${id} ${index}`);
    this.#ledger.count(wantOf(key, further));
    const end = provesKey ? 'proves key' : 'ended';
    for (const one of [id, ...further]) this.#ledger.end({ id: one, key, subject: '', surface: 'events' }, end);
    return Math.max(pollMs, spacingMs * (this.#tails.get(key) ?? 0) * calls);
  }
}

function wantOf(key: string, ids: readonly string[]): Want {
  return { key, subject: '', isBackground: false, holdsPlaces: false, bySurface: [{ surface: 'events', ids }] };
}

/** The backoff of a key; 1 if it cannot be read. The budget limits each call of a poll even then. */
async function backoffOrOne(backoffOf: BackoffOf, key: string): Promise<number> {
  try {
    return await backoffOf(key);
  } catch {
    return 1;
  }
}

/** Polls are not delayed while at least this share of each window of the budget is left. */
const plenty = 0.5;

const mostBackoff = 10;

/** The backoff for a budget; undefined if no budget limits events. */
export function backoffBy({
  budget,
}: {
  readonly budget: Pick<CallBudget, 'covers' | 'look'> | undefined;
}): BackoffOf | undefined {
  if (budget?.covers('events') !== true) return undefined;
  return async (key) => backoffIn(await budget.look({ key, subject: '' }, ['events']));
}

function backoffIn(outlooks: Outlooks): number {
  const windows = outlooks.get('events') ?? [];
  const left = Math.min(plenty, ...windows.map(({ remaining, limit }) => remaining / limit));
  return left <= 0 ? mostBackoff : Math.min(plenty / left, mostBackoff);
}

/**
 * The reason why the polls of a caller could starve: a window of the budget never has room for a whole poll, which may
 * take `mostCalls` calls even on a quiet list. Undefined if all windows have room.
 */
export function starvationReason(
  { budget }: { readonly budget: Pick<CallBudget, 'tooSmallFor'> | undefined },
  { subject = '' }: Caller,
): string | undefined {
  const window = budget?.tooSmallFor(mostCalls, 'events', subject);
  if (window === undefined) return undefined;
  const needed = `The subscription needs room for a poll of up to ${mostCalls} REST calls of the surface events`;
  return `${needed}, more than the ${window.limit} in ${window.ms / 1000} seconds that it may make.`;
}
