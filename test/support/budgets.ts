import { BudgetScheduler } from '../../src/rest/budget/budget-scheduler.ts';
import type { CallBudget } from '../../src/rest/budget/call-budget.ts';
import { createLedger } from '../../src/rest/budget/create-ledger.ts';
import type { BudgetSettings, BudgetWindows } from '../../src/rest/budget/settings.ts';
import type { Surface } from '../../src/rest/operation-ids.ts';

/** A budget as `UPSTREAM_BUDGET` has it: `calls/seconds` of each surface, several separated by commas. */
export function budgetOf(
  windows: Readonly<Partial<Record<Surface, string>>>,
  others: Partial<Omit<BudgetSettings, 'windows'>> = {},
): BudgetSettings {
  const parsed: BudgetWindows = Object.fromEntries(
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

/** A budget that this process counts, for operations of five seconds and ten calls in flight. */
export function localBudget(settings: BudgetSettings): CallBudget {
  const ledger = createLedger({ settings, operationDeadlineMs: 5000, upstreamUrl: 'http://upstream.test' });
  return new BudgetScheduler({ ...settings, maxInFlight: 10, ledger });
}
