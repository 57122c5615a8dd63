import type { Plan } from '../plan/plan.ts';
import type { PlainConfig } from '../settings/config.ts';
import { counted, range } from './table.ts';

/** The cost of an operation, from its plan or from the worst of its plans. */
export type Cost = Pick<Plan, 'lower' | 'upper' | 'rows' | 'waves' | 'objects'>;

/** A cost as `1–3 calls, 2 waves, at most 30 rows and 22 objects`. */
export function costText({ lower, upper, waves, rows, objects }: Cost): string {
  const most = `at most ${counted(rows, 'row')} and ${counted(objects, 'object')}`;
  return `${counted(range(lower, upper), 'call')}, ${counted(waves, 'wave')}, ${most}`;
}

/**
 * The limits of an operation's cost, each as a text such as `150 calls` and a function that tells whether a cost
 * exceeds it.
 */
export function limitsFor(
  { upper, rows, objects }: Cost,
  { maxUpstreamCalls, maxUpstreamRows, maxAnswerObjects }: PlainConfig,
): readonly { readonly text: string; readonly isExceeded: boolean }[] {
  return [
    { text: counted(maxUpstreamCalls, 'call'), isExceeded: upper > maxUpstreamCalls },
    { text: counted(maxUpstreamRows, 'row'), isExceeded: rows > maxUpstreamRows },
    { text: counted(maxAnswerObjects, 'object'), isExceeded: objects > maxAnswerObjects },
  ];
}
