import type { Plan } from '../plan/plan.ts';
import type { PlainConfig } from '../settings/config.ts';
import type { SettingsReader } from '../settings/settings-reader.ts';

/** The output of a command, and the exit code of the process. */
export interface CommandResult {
  readonly text: string;
  readonly exitCode: number;
}

/** A command that prints its outcome and ends; `announce` prints a line before that. */
export type Command = (
  args: string[],
  settings: SettingsReader,
  announce: (line: string) => void,
) => CommandResult | Promise<CommandResult>;

interface Column<Row> {
  readonly title: string;
  readonly align?: 'right';
  readonly text: (row: Row) => string;
}

/** Rows as text in columns, below their titles. */
export function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const cells = [columns.map(({ title }) => title), ...rows.map((row) => columns.map(({ text }) => text(row)))];
  const widths = columns.map((_column, at) => Math.max(...cells.map((line) => line[at]?.length ?? 0)));
  const lines = cells.map((line) => {
    const padded = line.map((cell, at) => {
      const width = widths[at] ?? 0;
      return columns[at]?.align === 'right' ? cell.padStart(width) : cell.padEnd(width);
    });
    return padded.join('  ').trimEnd();
  });
  return lines.join('\n');
}

/** A range of numbers: `3`, or `1–5` if the bounds differ. */
export function rangeText(lower: number, upper: number): string {
  return lower === upper ? `${upper}` : `${lower}–${upper}`;
}

/** A count with its noun, such as `1 call` or `2 calls`. */
export function counted(count: number | string, noun: string): string {
  return `${count} ${noun}${count === 1 || count === '1' ? '' : 's'}`;
}

/** The cost of an operation, from its plan or from the worst of its plans. */
export type Cost = Pick<Plan, 'lower' | 'upper' | 'rows' | 'waves' | 'objects'>;

/** A cost as `1–3 calls, 2 waves, at most 30 rows and 22 objects`. */
export function costText({ lower, upper, waves, rows, objects }: Cost): string {
  const most = `at most ${counted(rows, 'row')} and ${counted(objects, 'object')}`;
  return `${counted(rangeText(lower, upper), 'call')}, ${counted(waves, 'wave')}, ${most}`;
}

/**
 * The limits of an operation's cost, each as a text such as `150 calls`. `isExceeded` is true if the cost is above the
 * limit.
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
