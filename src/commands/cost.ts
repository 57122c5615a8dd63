import type { Config } from '../settings/config.ts';
import { counted, range } from './table.ts';

/** What an operation costs: calls, and rows and waves of the plan with the most calls. */
export interface Cost {
  readonly lower: number;
  readonly upper: number;
  readonly rows: number;
  readonly waves: number;
  /** Of any plan. */
  readonly objects: number;
}

/** A cost as `1–3 calls, 2 waves, at most 30 rows and 22 objects`. */
export function costText({ lower, upper, waves, rows, objects }: Cost): string {
  const most = `at most ${counted(rows, 'row')} and ${counted(objects, 'object')}`;
  return `${counted(range(lower, upper), 'call')}, ${counted(waves, 'wave')}, ${most}`;
}

/** The limits on what an operation costs, each as `150 calls`, and whether a cost exceeds it. */
export function limitsFor(
  { upper, rows, objects }: Cost,
  { maxUpstreamCalls, maxUpstreamRows, maxAnswerObjects }: Config,
): readonly { readonly text: string; readonly isExceeded: boolean }[] {
  return [
    { text: counted(maxUpstreamCalls, 'call'), isExceeded: upper > maxUpstreamCalls },
    { text: counted(maxUpstreamRows, 'row'), isExceeded: rows > maxUpstreamRows },
    { text: counted(maxAnswerObjects, 'object'), isExceeded: objects > maxAnswerObjects },
  ];
}
