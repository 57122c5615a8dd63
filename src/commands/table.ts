/** One column of a table. */
export interface Column<Row> {
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
export function range(lower: number, upper: number): string {
  return lower === upper ? `${upper}` : `${lower}–${upper}`;
}

/** `1 call`, `2 calls`. */
export function counted(count: number | string, noun: string): string {
  return `${count} ${noun}${count === 1 || count === '1' ? '' : 's'}`;
}
