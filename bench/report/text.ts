/** Numbers and tables as Markdown. */

/** A number with as many digits as matter. */
export function number(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (value >= 100) return Math.round(value).toLocaleString('en');
  return value >= 10 || value === 0 ? value.toFixed(0) : value.toFixed(value >= 1 ? 1 : 2);
}

/** A ratio with two decimals; a dash if it is undefined. */
export function ratio(value: number | undefined): string {
  return value === undefined ? '–' : value.toFixed(2);
}

/** A table; the first column is text, the others numbers. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = head.map((_, index) => (index === 0 ? '---' : '--:'));
  return [head, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
