import { expect, test } from 'vitest';
import { inForm, measured } from '../support/form.ts';
import { ask } from '../support/gateway.ts';
import { as, together } from '../support/load.ts';
import { runWeighed } from '../support/memory.ts';
import * as rows from '../support/rows.ts';
import { startUpstream } from '../support/upstream.ts';

const mebibyte = 2 ** 20;

/** Two of three are of documents that never came before. */
const operations = inForm(3600, 60_000);

/** More than are remembered anywhere. */
const keys = inForm(1800, 15_000);

/** A comment that makes documents long in the short form: memory of documents is bounded by their length, too. */
const padding = ` # ${'x'.repeat(inForm(20_000, 10))}`;

/** Of six operations one is of a document that comes all the time, and one repeats a new one, which compiles it. */
function queryOf(index: number): string {
  if (index % 6 === 0) return '{ project(id: 1) { name dashboards(first: 2) { nodes { name } } } }';
  const id = index % 6 === 3 ? index - 1 : index;
  return `query Q${id} { p${id}: project(id: ${id % 1000}) { name timezone a${id}: name
    dashboards(first: 2) { totalCount nodes { name } } } }${padding}`;
}

test('memory ends flat after operations of ever new documents and keys', { timeout: 600_000 }, async () => {
  await using upstream = await startUpstream({
    'GET /api/projects/:id/': rows.project(1),
    'GET /api/projects/:id/dashboards/': { count: 1, next: null, results: [rows.listedDashboard(1)] },
  });
  upstream.release();
  await using gateway = runWeighed({ PORT: '0', UPSTREAM_URL: upstream.url, LOG_LEVEL: 'warn' });
  const [, url = ''] = await gateway.printed(/^Gateway +(\S+)/m);
  const marks = [await gateway.weigh()];
  const quarter = operations / 4;
  for (let past = 0; past < operations; past += quarter) {
    const failures = await together(quarter, 50, async (at) => {
      const index = past + at;
      const { errors } = await ask(url, queryOf(index), as(`phx_${index % keys}`));
      return errors === undefined ? [] : [errors[0]?.message];
    });
    expect(failures.flat()).toEqual([]);
    upstream.reset();
    marks.push(await gateway.weigh());
  }
  measured('soak', { operations, keys, marks: marks.map(inMebibytes) });
  const [, , half, , end] = marks;
  expect(end?.live).toBeLessThan((half?.live ?? 0) + inForm(8, 20) * mebibyte);
});

function inMebibytes({ live, resident }: { readonly live: number; readonly resident: number }): string {
  return `${Math.round(live / mebibyte)} of ${Math.round(resident / mebibyte)} MB`;
}
