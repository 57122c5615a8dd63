import { expect, test } from 'vitest';
import { inForm, measured } from '../support/form.ts';
import { ask } from '../support/gateway.ts';
import { together } from '../support/load.ts';
import { peakMemory, runWeighed } from '../support/memory.ts';
import type { JsonObject } from '../support/replies.ts';
import { listedDashboard } from '../support/rows.ts';
import { startUpstream } from '../support/upstream.ts';

const mebibyte = 2 ** 20;

/** Distinct pages, of 20 kB each. */
const pages = inForm(1500, 100_000);
const rowsOfPage = 50;
const query = 'query($id: ID!) { project(id: $id) { dashboards(first: 100) { nodes { name } } } }';
const cacheMebibytes = inForm(2, 64);

/** The limit of the old generation of the heap, in MiB: what the cache has dropped is garbage there until V8 needs room. */
const heapMebibytes = 160;

/** The most MiB that a process with a full cache may have held beyond an empty one: checked in the whole form. */
const promised = inForm(Number.POSITIVE_INFINITY, 120);

/** Memory in MiB that lives for other reasons than the cache, and differs from run to run. */
const noise = 8;

function pageOf(project: number): JsonObject {
  const results = Array.from({ length: rowsOfPage }, (_, row) => listedDashboard(project * rowsOfPage + row));
  return { count: rowsOfPage, next: null, previous: null, results };
}

/** The memory of a process in MiB: before, at most meanwhile, and alive at the end once all garbage is collected. */
interface Held {
  readonly empty: number;
  readonly most: number;
  readonly live: number;
}

/** Reads every page once, through a gateway with these settings. */
async function heldOver(environment: Readonly<Record<string, string>>): Promise<Held> {
  await using upstream = await startUpstream({
    'GET /api/projects/:id/dashboards/': ({ params }) => pageOf(Number(params['id'])),
  });
  upstream.release();
  await using gateway = runWeighed({ PORT: '0', UPSTREAM_URL: upstream.url, LOG_LEVEL: 'warn', ...environment }, [
    `--max-old-space-size=${heapMebibytes}`,
  ]);
  const [, url = ''] = await gateway.printed(/^Gateway +(\S+)/m);
  const empty = (await peakMemory(gateway)) / mebibyte;
  const step = Math.min(pages, 2000);
  for (let past = 0; past < pages; past += step) {
    await together(step, 8, async (at) => {
      const { errors } = await ask(url, query, { variables: { id: String(past + at + 1) } });
      expect(errors).toBeUndefined();
    });
    expect(upstream.requests).toHaveLength(step);
    upstream.reset();
  }
  const most = (await peakMemory(gateway)) / mebibyte;
  const { live } = await gateway.weigh();
  return { empty, most, live: live / mebibyte };
}

test('pages without end take no more memory than the cache may have, and garbage no more than the heap', {
  timeout: 3_600_000,
}, async () => {
  const plain = await heldOver({});
  const caching = await heldOver({ CACHE_TTL: 'dashboards=3600', CACHE_MAX_MB: String(cacheMebibytes) });
  measured('memory with a full cache', { pages, cacheMebibytes, plain, caching });
  expect(caching.live - plain.live).toBeLessThan(cacheMebibytes + noise);
  expect(caching.most - caching.empty).toBeLessThan(promised);
});
