import { BudgetCounts } from '../../src/rest/budget/budget-counts.ts';
import { CallBudget } from '../../src/rest/budget/call-budget.ts';
import { createLedger } from '../../src/rest/budget/create-ledger.ts';
import type { BudgetSettings } from '../../src/rest/budget/settings.ts';
import { operations } from '../../src/rest/generated/views.ts';
import type { Ledger, SurfaceLimits } from '../../src/rest/ledger.ts';
import { OperationCalls } from '../../src/rest/operation-calls.ts';
import type { Surface } from '../../src/rest/rest-operations.ts';
import { attemptOf, lostAfter, successAfter } from './attempts.ts';

/** A budget as `UPSTREAM_BUDGET` has it: `calls/seconds` of each surface, several separated by commas. */
export function budgetOf(
  windows: Readonly<Partial<Record<Surface, string>>>,
  others: Partial<Omit<BudgetSettings, 'windows'>> = {},
): BudgetSettings {
  const parsed: SurfaceLimits = Object.fromEntries(
    Object.entries(windows).map(([surface, list]) => [
      surface,
      list.split(',').map((text) => {
        const [calls, seconds] = text.split('/');
        return { limit: Number(calls), ms: Number(seconds) * 1000 };
      }),
    ]),
  );
  return { windows: parsed, scope: 'key', share: 100, replicas: 1, ...others };
}

/** A budget that this process counts, for operations of five seconds. */
export function localBudget(settings: BudgetSettings): BudgetSettings & { readonly ledger: Ledger } {
  return {
    ...settings,
    ledger: createLedger({ settings, operationDeadlineMs: 5000, upstreamUrl: 'http://upstream.test' }),
  };
}

/** The gate of a budget, in front of ten slots. A call usually takes `usualMs`, by default no time. */
export function gateOf(budget: ReturnType<typeof localBudget>, usualMs = () => 0): CallBudget {
  return new CallBudget({ ...budget, counts: new BudgetCounts(), maxInFlight: 10, usualMs });
}

/** A call that asks for a place. */
export interface Demand {
  readonly key: string;
  readonly surface: Surface;
  readonly queueKey: string;
  readonly subject: string;
  readonly waitMs: number;
  readonly isBackground: boolean;
  /** True if the key is unproven. */
  readonly isTrial: boolean;
}

/** A place that a call has got. */
export interface Permit {
  readonly end: (how: 'proof' | 'failure') => void;
  readonly giveBack: () => void;
}

/** A call that waits for its place. */
export interface Claim {
  readonly permit: Promise<Permit>;
  readonly leave: () => void;
  /** Lets an operation of a client wait for it, too. */
  readonly join: () => void;
}

const operationOf = {
  rest: operations.listProjects,
  events: operations.listEvents,
  values: operations.listEventValues,
};

/** Lets a call ask for a place in a budget whose calls take no time. */
export function claimIn(budget: CallBudget, demand: Partial<Demand> = {}, calls = new OperationCalls(10)): Claim {
  const { key = 'key', surface = 'rest', queueKey = 'key', subject = '', waitMs = 5000, isBackground = false } = demand;
  const { isTrial = false } = demand;
  const caller = { key, sharingKey: key, queueKey, subject };
  const endsAt = performance.now() + waitMs;
  const attempt = attemptOf(key, { caller, calls, endpoint: operationOf[surface], endsAt, isBackground, isTrial });
  const giveBack = (): void => budget.leave(attempt, { kind: 'not-sent' });
  const end = (how: 'proof' | 'failure'): void =>
    budget.leave(attempt, how === 'proof' ? successAfter(0) : lostAfter(0));
  const permit = (budget.enter(attempt) ?? Promise.resolve()).then(() => ({ end, giveBack }));
  return { permit, leave: giveBack, join: () => Object.assign(attempt, { isBackground: false }) };
}
