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
