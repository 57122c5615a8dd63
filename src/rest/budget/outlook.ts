import type { Outlook } from './ledger.ts';
import type { BudgetWindow } from './settings.ts';

/** The state of a window at one moment. */
export interface WindowState extends BudgetWindow {
  /** Calls that count: in flight, or answered less than a window ago. */
  readonly counted: number;
  /** Milliseconds until no call counts, if none begins. */
  readonly emptyIn: number;
  /**
   * Milliseconds until the n-th ended call, from 0, leaves the window. Undefined for calls in flight, which count for at
   * least one more window.
   */
  readonly leavesIn: (n: number) => number | undefined;
}

/** The number of further calls that may begin now. */
export function roomIn(windows: readonly WindowState[]): number {
  let room = Number.POSITIVE_INFINITY;
  for (const { limit, counted } of windows) room = Math.min(room, limit - counted);
  return Math.max(0, room);
}

/** Milliseconds until the n-th further call, from 1, can begin at the earliest; infinite if it never can. */
export function waitMs(windows: readonly WindowState[], n: number): number {
  let turn = 0;
  for (const window of windows) turn = Math.max(turn, waitMsOfOne(window, n));
  return turn;
}

function waitMsOfOne({ limit, ms, counted, leavesIn }: WindowState, n: number): number {
  if (limit <= 0) return Number.POSITIVE_INFINITY;
  // After every `limit` further calls, the next ones begin a window later.
  const laps = Math.floor((n - 1) / limit);
  const leaving = counted + n - laps * limit - limit;
  const wait = leaving <= 0 ? 0 : (leavesIn(leaving - 1) ?? ms);
  return laps * ms + wait;
}

/** The windows that limit calls: those of a key, and its user's share of them. `own` is empty if users have none. */
export type States = Readonly<Record<'all' | 'own', readonly WindowState[]>>;

/** The windows as one user meets them: the user's share or the rest of the key's window, whichever is less. */
export function outlookOf({ all, own }: States): Outlook {
  return all.map((window, index) => {
    const share = own[index];
    const both = share === undefined ? [window] : [window, share];
    return {
      ms: window.ms,
      limit: Math.min(...both.map(({ limit }) => limit)),
      remaining: roomIn(both),
      resetsInMs: Math.max(...both.map(({ emptyIn }) => emptyIn)),
    };
  });
}

/** The smallest share that is left in any window after `count` more calls have begun, from 0 to 1. */
export function leftAfter({ all, own }: States, count: number): number {
  const left = [...all, ...own].map(({ limit, counted }) => (limit > 0 ? 1 - (counted + count) / limit : 0));
  return Math.max(0, Math.min(1, ...left));
}
