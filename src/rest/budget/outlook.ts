import type { Outlook } from './ledger.ts';
import type { BudgetWindow } from './settings.ts';

/** What a window holds at one moment. */
export interface WindowState extends BudgetWindow {
  /** Calls that count: in flight, or answered less than a window ago. */
  readonly counted: number;
  /** Milliseconds until none does, if no call begins. */
  readonly emptyIn: number;
  /**
   * Milliseconds until the n-th of the answered ones, from 0, counts no more; undefined for those in flight, of which only
   * one thing is known: they count for a window at least.
   */
  readonly leavesIn: (n: number) => number | undefined;
}

/** How many more calls may begin now. */
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
  // Each `limit` calls more begin a window later.
  const laps = Math.floor((n - 1) / limit);
  const leaving = counted + n - laps * limit - limit;
  const wait = leaving <= 0 ? 0 : (leavesIn(leaving - 1) ?? ms);
  return laps * ms + wait;
}

/** What holds calls back: the windows of a key, and its user's share of them; empty if it has none. */
export type States = Readonly<Record<'all' | 'own', readonly WindowState[]>>;

/** The windows as one caller meets them: its own share, or what all have left, whichever is less. */
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

/** The least share of a window that is left once so many calls more have begun, from 0 to 1. */
export function leftAfter({ all, own }: States, count: number): number {
  const left = [...all, ...own].map(({ limit, counted }) => (limit > 0 ? 1 - (counted + count) / limit : 0));
  return Math.max(0, Math.min(1, ...left));
}
