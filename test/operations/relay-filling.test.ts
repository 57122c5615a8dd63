import { describe, expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import { askPage, at, idsOf, type Place, pageField, rowsOf, toPage, walkForward } from '../support/connections.ts';
import { inTurn, listOf } from '../support/lists.ts';
import { type Json, type JsonObject, refusal } from '../support/replies.ts';
import { listedDashboard } from '../support/rows.ts';

const dashboards: Place = { field: 'dashboards', under: 'project(id: 1)' };
const path = 'GET /api/projects/1/dashboards/';

/** One page of dashboards as the upstream would answer it. */
function page(ids: readonly number[], next: Json, count = 20): JsonObject {
  return { count, next, previous: null, results: ids.map((id) => listedDashboard(id)) };
}

const nextAt = (offset: number): string =>
  `https://api.example.com/api/projects/1/dashboards/?limit=9&offset=${offset}`;

describe('an upstream that caps its pages', () => {
  test('is asked on until the page is full, each time for what is missing', async () => {
    const rows = rowsOf(20, listedDashboard);
    const { upstream, gateway } = await startBoth({ [path]: listOf(rows, { cap: 3 }) });
    const first = await askPage(gateway, dashboards, { first: 7 });
    expect(first).toMatchObject({ rows: idsOf(rows.slice(0, 7)), hasNextPage: true, totalCount: 20 });
    expect(upstream.requests).toEqual([`${path}?limit=7`, `${path}?limit=4&offset=3`, `${path}?limit=1&offset=6`]);
    const second = await askPage(gateway, dashboards, { first: 7, after: first.endCursor });
    expect(second.rows).toEqual(idsOf(rows.slice(7, 14)));
  });

  test('is asked at most ten more times for a page, which then is short and goes on', async () => {
    const rows = rowsOf(30, listedDashboard);
    const { upstream, gateway } = await startBoth({ [path]: listOf(rows, { cap: 1 }) }, {}, { hold: 0 });
    const first = await askPage(gateway, dashboards, { first: 20 });
    expect(first).toMatchObject({ rows: idsOf(rows.slice(0, 11)), hasNextPage: true });
    expect(upstream.requests).toHaveLength(11);
    expect(upstream.requests.at(-1)).toBe(`${path}?limit=10&offset=10`);
    const pages = await walkForward(gateway, dashboards, 20);
    expect(pages.flatMap((each) => each.rows)).toEqual(idsOf(rows));
  });

  test('gives windows that share a page the rows that each would get alone', async () => {
    const rows = rowsOf(40, listedDashboard);
    const { gateway } = await startBoth({ [path]: listOf(rows, { cap: 1 }) }, {}, { hold: 0 });
    let after: string | null = null;
    for (let count = 0; count < 4; count += 1) {
      const found: { readonly endCursor: string | null } = await askPage(gateway, dashboards, { first: 5, after });
      after = found.endCursor;
    }
    const fields = [pageField(dashboards, { first: 3 }, 'head'), pageField(dashboards, { first: 3, after }, 'later')];
    const answer = await gateway.ask(`{ project(id: 1) { ${fields.join('\n')} } }`);
    expect(toPage(at(answer.data, 'project', 'head')).rows).toEqual(['1', '2', '3']);
    expect(toPage(at(answer.data, 'project', 'later')).rows).toEqual(['21', '22', '23']);
  });

  test('is asked for one page only if a page serves rows by key; those beyond it are read by id', async () => {
    const rows = rowsOf(30, listedDashboard);
    const byId = 'GET /api/projects/1/dashboards/30/';
    const { upstream, gateway } = await startBoth({ [path]: listOf(rows, { cap: 5 }), [byId]: listedDashboard(30) });
    const byKey = [2, 4, 30].map((id) => `d${id}: dashboard(id: ${id}) { upstreamId }`).join('\n');
    const answer = await gateway.ask(`{ project(id: 1) { ${byKey} dashboards(first: 7) { nodes { upstreamId } } } }`);
    expect(answer.errors).toBeUndefined();
    expect(at(answer.data, 'project', 'd30', 'upstreamId')).toBe('30');
    expect(at(answer.data, 'project', 'dashboards', 'nodes')).toHaveLength(7);
    expect(upstream.requests).toEqual([`${path}?limit=100`, `${path}?limit=2&offset=5`, byId]);
  });

  test('and counts its rows says with its first page where the tail begins', async () => {
    const rows = rowsOf(30, listedDashboard);
    const { upstream, gateway } = await startBoth({ [path]: listOf(rows, { cap: 5 }) });
    const tail = await askPage(gateway, dashboards, { last: 3 });
    expect(tail).toMatchObject({ rows: ['28', '29', '30'], hasNextPage: false, hasPreviousPage: true });
    expect(upstream.requests).toEqual([`${path}?limit=100`, `${path}?limit=3&offset=27`]);
  });

  test('is asked once for tails that lie within each other', async () => {
    const rows = rowsOf(30, listedDashboard);
    const { upstream, gateway } = await startBoth({ [path]: listOf(rows, { cap: 5 }) });
    const fields = [pageField(dashboards, { last: 2 }, 'two'), pageField(dashboards, { last: 4 }, 'four')];
    const answer = await gateway.ask(`{ project(id: 1) { ${fields.join('\n')} } }`);
    expect(toPage(at(answer.data, 'project', 'two')).rows).toEqual(['29', '30']);
    expect(toPage(at(answer.data, 'project', 'four')).rows).toEqual(['27', '28', '29', '30']);
    expect(upstream.requests).toEqual([`${path}?limit=100`, `${path}?limit=4&offset=26`]);
  });

  test('and fails on the way leaves the page at what has come; it goes on from there', async () => {
    const failure = refusal(500, 'error', 'A server error occurred.');
    const answers = [page([1, 2, 3], nextAt(3)), failure, page([4, 5, 6], nextAt(6))];
    const { upstream, gateway } = await startBoth({ [path]: inTurn(...answers) });
    const first = await askPage(gateway, dashboards, { first: 5 });
    expect(first).toMatchObject({ rows: ['1', '2', '3'], hasNextPage: true });
    const second = await askPage(gateway, dashboards, { first: 3, after: first.endCursor });
    expect(second.rows).toEqual(['4', '5', '6']);
    expect(upstream.requests).toEqual([`${path}?limit=5`, `${path}?limit=2&offset=3`, `${path}?limit=3&offset=3`]);
  });

  test('answers empty pages with a `next`: the page is filled from behind them', async () => {
    const answers = [page([], nextAt(4)), page([], nextAt(8)), page([9, 10], null)];
    const { upstream, gateway } = await startBoth({ [path]: inTurn(...answers) });
    expect(await askPage(gateway, dashboards, { first: 4 })).toMatchObject({ rows: ['9', '10'], hasNextPage: false });
    expect(upstream.requests).toEqual([`${path}?limit=4`, `${path}?limit=4&offset=4`, `${path}?limit=4&offset=8`]);
  });
});

describe('rows that come twice', () => {
  test('of a list that moves while it is read cost its reader no row', async () => {
    const rows = rowsOf(12, listedDashboard);
    const list = listOf(rows, { cap: 3 });
    let added = 100;
    const { gateway } = await startBoth(
      {
        [path]: (request) => {
          const answer = list(request);
          added += 1;
          if (added <= 103) rows.unshift(listedDashboard(added));
          return answer;
        },
      },
      {},
      { hold: 0 },
    );
    const { rows: found } = await askPage(gateway, dashboards, { first: 10 });
    expect(found).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9', '10']);
  });
});

describe('rows inserted between pages', () => {
  test('may make others come again, and none is lost', async () => {
    const rows = rowsOf(20, listedDashboard);
    const walked: string[] = [];
    const { gateway } = await startBoth({ [path]: listOf(rows) }, {}, { hold: 0 });
    let after: string | null = null;
    for (let pages = 0; pages < 20; pages += 1) {
      const found: Awaited<ReturnType<typeof askPage>> = await askPage(gateway, dashboards, { first: 4, after });
      walked.push(...found.rows);
      after = found.endCursor;
      rows.unshift(listedDashboard(100 + pages));
      if (!found.hasNextPage) break;
    }
    expect([...new Set(walked)]).toEqual(idsOf(rowsOf(20, listedDashboard)));
    // Each insertion pushed one row over the edge of a page.
    expect(walked.slice(0, 8)).toEqual(['1', '2', '3', '4', '4', '5', '6', '7']);
  });

  test('behind the last page are found by going on from its end', async () => {
    const rows = rowsOf(3, listedDashboard);
    const { gateway } = await startBoth({ [path]: listOf(rows) });
    const last = await askPage(gateway, dashboards, { first: 5 });
    expect(last.hasNextPage).toBe(false);
    rows.push(listedDashboard(4));
    expect((await askPage(gateway, dashboards, { first: 5, after: last.endCursor })).rows).toEqual(['4']);
  });
});
