import { isObject, textOfJson } from './json.ts';

/** The rows as comma-separated values under a line of names; members of objects have dotted names. Lines end in CRLF. */
export function toCsv(rows: readonly unknown[]): string {
  const records = rows.map((row) => new Map(cellsOf('', row)));
  const names = [...new Set(records.flatMap((record) => [...record.keys()]))];
  const lines = [names, ...records.map((record) => names.map((name) => record.get(name) ?? ''))];
  return lines.map((line) => `${line.map(quote).join(',')}\r\n`).join('');
}

function cellsOf(name: string, value: unknown): [string, string][] {
  const members = isObject(value) || Array.isArray(value) ? Object.entries(value) : [];
  if (members.length > 0)
    return members.flatMap(([member, inner]) => cellsOf(name === '' ? member : `${name}.${member}`, inner));
  const empty = value === null || value === undefined || (typeof value === 'object' && !JSON.isRawJSON(value));
  return [[name, empty ? '' : textOfJson(value)]];
}

function quote(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
