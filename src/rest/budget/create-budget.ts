import { randomBytes } from 'node:crypto';
import type { CallBudget } from './call-budget.ts';
import { BudgetDesk } from './desk.ts';
import { LocalLedger } from './local-ledger.ts';
import type { BudgetSettings } from './settings.ts';

/** What a budget is made of, beside its settings. */
export interface BudgetOptions {
  readonly settings: BudgetSettings;
  /** The total deadline of an operation, in milliseconds. */
  readonly operationDeadlineMs: number;
  /** Most calls in flight. */
  readonly maxInFlight: number;
}

/** An operation may join a call that is up to a second old, and its deadline is later than that of the first. */
const joinedMs = 1000;

/** For what is on its way between processes, in milliseconds. */
const toleranceMs = 500;

/** So many calls may wait for each that may be in flight. */
const queueFactor = 4;

/** The budget of calls that one process counts for itself. */
export function createCallBudget({ settings, operationDeadlineMs, maxInFlight }: BudgetOptions): CallBudget {
  const now = (): number => performance.now();
  const longestCallMs = operationDeadlineMs + joinedMs + toleranceMs;
  const ledger = new LocalLedger({ ...settings, longestCallMs, now, nextId: createIds() });
  return new BudgetDesk({ ...settings, ledger, now, mostWaiting: maxInFlight * queueFactor });
}

/** Ids that no other process makes. */
function createIds(): () => string {
  const prefix = randomBytes(9).toString('base64url');
  let last = 0;
  return () => {
    last += 1;
    return `${prefix}${last}`;
  };
}
