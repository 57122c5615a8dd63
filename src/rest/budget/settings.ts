import type { Surface } from '../operation-ids.ts';

/** A limit of calls: at most `limit` in any span of `ms` milliseconds. */
export interface BudgetWindow {
  readonly limit: number;
  readonly ms: number;
}

/** The windows of each surface that has a budget, shortest first. */
export type BudgetWindows = Readonly<Partial<Record<Surface, readonly BudgetWindow[]>>>;

/** What may be called, and who shares it. */
export interface BudgetSettings {
  readonly windows: BudgetWindows;
  /** True if each upstream key has the budget; false if all keys have it together. */
  readonly scope: 'key' | 'all';
  /** Percent of each window that one user of a tenant may use. */
  readonly share: number;
  /** Percent of each window that all agents together may use; by default all. */
  readonly agentShare?: number | undefined;
  /** How many gateways divide the budget if Redis cannot be reached. */
  readonly replicas: number;
}

/** The surfaces that a budget can have, as the service limits them apart. */
export const surfaces: readonly Surface[] = ['events', 'values', 'rest'];

/** Stands for all agents of a key, where users have names of their own: no hash looks like it. */
export const agents = 'agents';

/** Percent of each window that a subject may use: a user, all agents, or nobody in particular. */
export function percentOf(
  { share, agentShare = 100 }: Pick<BudgetSettings, 'share' | 'agentShare'>,
  subject: string,
): number {
  if (subject === '') return 100;
  return subject === agents ? agentShare : share;
}

/** What one user may have of a window: a part that is less than a call is one. */
export function shareOf(limit: number, percent: number): number {
  return Math.min(limit, Math.max(1, Math.floor((limit * percent) / 100)));
}

/** What calls that can wait leave to others: the last fifth of a window. */
export function leftToOthers(limit: number): number {
  return Math.ceil(limit / 5);
}

/** The surfaces of which there are calls, with their numbers. */
export function partsOf(counts: Readonly<Partial<Record<Surface, number>>>): readonly (readonly [Surface, number])[] {
  return surfaces.flatMap((surface) => {
    const count = counts[surface] ?? 0;
    return count === 0 ? [] : [[surface, count] as const];
  });
}
