import type { Client } from './client.ts';

/** The columns of the matrix, by the beginnings of the names of their tests: the ways of sending documents that differ. */
const columns = ['APQ GET', 'APQ POST', 'manifest id', 'mode `only`'] as const;

/** The results of a run, by the name of the client and of the test: `yes` or `no`. */
export type Findings = ReadonlyMap<string, string>;

/** The page with the table that a run found. What no test tries is something that the client has no way to do. */
export function withMatrix(page: string, clients: readonly Client[], found: Findings): string {
  const [start, end] = ['<!-- clients -->\n', '<!-- end of clients -->'];
  const [from, to] = [page.indexOf(start), page.indexOf(end)];
  if (from === -1 || to === -1) throw new Error(`expected ${start.trim()} and ${end} in the page`);
  return `${page.slice(0, from + start.length)}\n${table(clients, found)}\n\n${page.slice(to)}`;
}

function table(clients: readonly Client[], found: Findings): string {
  const rows = clients.map(({ name }) => [name, ...columns.map((column) => cell(`${name}: ${column}: `, found))]);
  return [['Client', ...columns], ['', ...columns].map(() => '---'), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

function cell(prefix: string, found: Findings): string {
  return found.entries().find(([name]) => name.startsWith(prefix))?.[1] ?? '–';
}
