import type { Surface } from '../operation-ids.ts';

/** A limit of calls: at most `limit` in any span of `ms` milliseconds. */
export interface BudgetWindow {
  readonly limit: number;
  readonly ms: number;
}

/** The windows of each surface that has a budget, shortest first. */
export type BudgetWindows = Readonly<Partial<Record<Surface, readonly BudgetWindow[]>>>;

/** Settings of a budget. */
export interface BudgetSettings {
  readonly windows: BudgetWindows;
  /** `key` if each upstream key has the budget; `all` if all keys have it together. */
  readonly scope: 'key' | 'all';
  /** Percent of each window that one user of a tenant may use. */
  readonly share: number;
  /** Percent of each window that all agents together may use; by default all. */
  readonly agentShare?: number | undefined;
  /** The number of gateways that divide the budget if Redis cannot be reached. */
  readonly replicas: number;
}

/** The surfaces that can have a budget: the service limits each of them separately. */
export const surfaces: readonly Surface[] = ['events', 'values', 'rest'];

/** The subject that stands for all agents of a key. Users have hashes as subjects, and no hash has this form. */
export const agents = 'agents';

/** The percentage of each window that a subject may use. A subject is a user, all agents, or empty for calls of no user. */
export function percentOf(
  { share, agentShare = 100 }: Pick<BudgetSettings, 'share' | 'agentShare'>,
  subject: string,
): number {
  if (subject === '') return 100;
  return subject === agents ? agentShare : share;
}

/** The calls of a window that one user may have: at least one. */
export function shareOf(limit: number, percent: number): number {
  return Math.min(limit, Math.max(1, Math.floor((limit * percent) / 100)));
}

/** The calls of a window that background calls leave to others: the last fifth. */
export function leftToOthers(limit: number): number {
  return Math.ceil(limit / 5);
}

/** The surfaces with at least one call, and the numbers of their calls. */
export function partsOf(counts: Readonly<Partial<Record<Surface, number>>>): readonly (readonly [Surface, number])[] {
  return surfaces.flatMap((surface) => {
    const count = counts[surface] ?? 0;
    return count === 0 ? [] : [[surface, count] as const];
  });
}
