import { agents } from '../caller.ts';
import type { SurfaceLimits, WindowLimit } from '../ledger.ts';
import type { Surface } from '../rest-operations.ts';

/** Settings of a budget. */
export interface BudgetSettings {
  readonly windows: SurfaceLimits;
  /** `key` if each upstream key has the budget; `all` if all keys have it together. */
  readonly scope: 'key' | 'all';
  /** Percent of each window that one user may use. */
  readonly share: number;
  /** Percent of each window that all agents together may use; by default all. */
  readonly agentShare?: number | undefined;
  /** The number of gateways that divide the budget if Redis cannot be reached. */
  readonly replicas: number;
}

/** Settings from which the limits of each log follow. */
export type LimitSettings = Pick<BudgetSettings, 'windows' | 'share' | 'agentShare'>;

/** True if the calls of a subject have a share of their own. A subject is a user, all agents, or empty. */
export function hasShare(settings: LimitSettings, subject: string): boolean {
  return percentOf(settings, subject) < 100;
}

function percentOf({ share, agentShare = 100 }: LimitSettings, subject: string): number {
  if (subject === '') return 100;
  return subject === agents ? agentShare : share;
}

/**
 * The limits of each log that counts a call, one limit for each window. The first log is that of the key. If the
 * subject has a share, the second log is that of the subject. Calls in the background leave the last fifth of each
 * window of the key to others. `gateways` is the number of gateways that divide each window.
 */
export function limitsOf(
  settings: LimitSettings,
  surface: Surface,
  subject: string,
  { isBackground = false, gateways = 1 } = {},
): readonly (readonly number[])[] {
  const limits = (settings.windows[surface] ?? []).map(({ limit }) => atLeastOne(limit / gateways));
  const all = isBackground ? limits.map((limit) => limit - Math.ceil(limit / 5)) : limits;
  const percent = percentOf(settings, subject);
  return percent === 100 ? [all] : [all, limits.map((limit) => atLeastOne((limit * percent) / 100))];
}

function atLeastOne(limit: number): number {
  return Math.max(1, Math.floor(limit));
}

/** A window that never has room for this many calls of one subject; undefined if there is none. */
export function tooSmallFor(
  calls: number,
  settings: LimitSettings,
  surface: Surface,
  subject: string,
): WindowLimit | undefined {
  const limits = limitsOf(settings, surface, subject).at(-1) ?? [];
  const windows = (settings.windows[surface] ?? []).map(({ ms }, nth) => ({ limit: limits[nth] ?? 0, ms }));
  return windows.find(({ limit }) => calls > limit);
}
