import { describe, expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import { askPage, idsOf, type Place, rowsOf, walkForward } from '../support/connections.ts';
import { inTurn } from '../support/lists.ts';
import type { Json, JsonObject } from '../support/replies.ts';
import type { Handler } from '../support/routes.ts';
import { listedDashboard } from '../support/rows.ts';

const dashboards: Place = { field: 'dashboards', under: 'project(id: 1)' };
const path = 'GET /api/projects/1/dashboards/';

function page(ids: readonly number[], next: Json): JsonObject {
  return { count: 20, next, previous: null, results: ids.map((id) => listedDashboard(id)) };
}

/** A list by offset whose `next` is the same on every page but the last. */
function stuckList(rows: readonly JsonObject[], next: Json, cap: number): Handler {
  return ({ query }) => {
    const from = Number(query.get('offset') ?? 0);
    const end = from + Math.min(Number(query.get('limit')), cap);
    const results = rows.slice(from, end);
    return { count: rows.length, next: end < rows.length ? next : null, previous: null, results };
  };
}

describe('the `next` of a list', () => {
  test.each([
    ['repeats the request', '/api/projects/1/dashboards/?limit=5'],
    ['names the start of its own page', '/api/projects/1/dashboards/?limit=5&offset=0'],
    ['goes back', '/api/projects/1/dashboards/?limit=5&offset=-5'],
    ['has no query', 'https://api.example.com/api/projects/1/dashboards/'],
    ['has an empty offset', '?offset='],
    ['has an offset that is no number', '?offset=two'],
    ['has a broken offset', '?offset=2.5'],
    ['has an offset beyond 2^53', '?offset=99999999999999999999'],
    ['has an offset that is no JSON number either', '?offset=NaN'],
    ['has a broken escape', '?offset=%E0%A4%A'],
    ['is garbage', 'garbage'],
    ['is empty', ''],
    ['is a number', 2],
    ['is an object', { offset: 2 }],
    ['is a list', ['?offset=2']],
    ['is true', true],
  ] as const)(
    'that %s is not followed: rows are counted on as long as `count` says that there are more',
    async (_fault, next) => {
      const rows = rowsOf(12, listedDashboard);
      const { upstream, gateway } = await startBoth({ [path]: stuckList(rows, next, 5) }, {}, { hold: 0 });
      const first = await askPage(gateway, dashboards, { first: 7 });
      expect(first).toMatchObject({ rows: idsOf(rows.slice(0, 7)), hasNextPage: true });
      expect(upstream.requests).toEqual([`${path}?limit=7`, `${path}?limit=2&offset=5`]);
      const second = await askPage(gateway, dashboards, { first: 7, after: first.endCursor });
      expect(second).toMatchObject({ rows: idsOf(rows.slice(7)), hasNextPage: false });
      expect(gateway.reported).toEqual([]);
    },
  );

  test('that names the same offset again and again loses no row', async () => {
    const rows = rowsOf(25, listedDashboard);
    const { gateway } = await startBoth({ [path]: stuckList(rows, '?limit=10&offset=2', 10) }, {}, { hold: 0 });
    for (const size of [5, 10, 25, 100]) {
      const pages = await walkForward(gateway, dashboards, size);
      expect(pages.flatMap((each) => each.rows)).toEqual(idsOf(rows));
    }
  });

  test('that does not lead on, without a count to go on by, is an error', async () => {
    const { count: _count, ...uncounted } = page([1, 2], '?offset=0');
    const { upstream, gateway } = await startBoth({ [path]: uncounted });
    await expect(askPage(gateway, dashboards, { first: 5 })).rejects.toThrow('UPSTREAM_INVALID_RESPONSE');
    // A full page is answered; the error is where it would go on.
    const full = await askPage(gateway, dashboards, { first: 2 });
    expect(full).toMatchObject({ rows: ['1', '2'], hasNextPage: true });
    upstream.reset();
    const further = askPage(gateway, dashboards, { first: 2, after: full.endCursor });
    await expect(further).rejects.toThrow('UPSTREAM_INVALID_RESPONSE');
    expect(gateway.reported).toEqual([]);
  });

  test('that is there for ever, over rows that come again and again, is an error', async () => {
    const { upstream, gateway } = await startBoth({
      [path]: inTurn(page([1, 2], '?offset=2'), page([3, 4], '?offset=2')),
    });
    await expect(askPage(gateway, dashboards, { first: 9 })).rejects.toThrow('UPSTREAM_INVALID_RESPONSE');
    expect(upstream.requests).toEqual([`${path}?limit=9`, `${path}?limit=7&offset=2`, `${path}?limit=5&offset=4`]);
  });

  test('that leads through empty pages only is an error after ten of them', async () => {
    let offset = 0;
    const { upstream, gateway } = await startBoth(
      {
        [path]: () => ({ ...page([], `?offset=${(offset += 10)}`), count: 200 }),
      },
      {},
      { hold: 0 },
    );
    await expect(askPage(gateway, dashboards, { first: 2 })).rejects.toThrow('UPSTREAM_INVALID_RESPONSE');
    expect(upstream.requests).toHaveLength(11);
  });

  test.each([
    ['empty pages', () => []],
    ['its last page again and again', (rows: readonly JsonObject[]) => rows.slice(-5)],
  ] as const)(
    'that is there for ever, through %s behind all rows that are counted, is the end',
    async (_way, behind) => {
      const rows = rowsOf(10, listedDashboard);
      const { upstream, gateway } = await startBoth(
        {
          [path]: ({ query }) => {
            const from = Number(query.get('offset') ?? 0);
            const some = rows.slice(from, from + Math.min(Number(query.get('limit')), 5));
            const results = from < rows.length ? some : behind(rows);
            return { count: rows.length, next: `?offset=${from + 5}`, previous: null, results };
          },
        },
        {},
        { hold: 0 },
      );
      expect(await askPage(gateway, dashboards, { first: 50 })).toMatchObject({
        rows: idsOf(rows),
        hasNextPage: false,
      });
      expect(upstream.requests).toEqual([
        `${path}?limit=50`,
        `${path}?limit=45&offset=5`,
        `${path}?limit=40&offset=10`,
      ]);
    },
  );

  test('that is there for ever on the empty page behind a full one is the end', async () => {
    const rows = rowsOf(10, listedDashboard);
    const { upstream, gateway } = await startBoth(
      {
        [path]: ({ query }) => {
          const from = Number(query.get('offset') ?? 0);
          const end = from + Number(query.get('limit'));
          return { count: rows.length, next: `?offset=${end}`, previous: null, results: rows.slice(from, end) };
        },
      },
      {},
      { hold: 0 },
    );
    const pages = await walkForward(gateway, dashboards, 5);
    expect(pages.flatMap((each) => each.rows)).toEqual(idsOf(rows));
    expect(pages.at(-1)).toMatchObject({ rows: [], hasNextPage: false });
    expect(upstream.requests).toHaveLength(3);
  });

  test('that leaps over rows loses none of them', async () => {
    const rows = rowsOf(20, listedDashboard);
    const { gateway } = await startBoth(
      {
        [path]: ({ query }) => {
          const [from, limit] = [Number(query.get('offset') ?? 0), Number(query.get('limit'))];
          const end = from + Math.min(limit, 4);
          // The upstream makes `next` as if the page had `limit` rows, but the page was cut.
          const next = end < rows.length ? `?offset=${from + limit}` : null;
          return { count: rows.length, next, previous: null, results: rows.slice(from, end) };
        },
      },
      {},
      { hold: 0 },
    );
    const pages = await walkForward(gateway, dashboards, 9);
    expect(pages.flatMap((each) => each.rows)).toEqual(idsOf(rows));
  });
});

describe('the count of a list', () => {
  const rows = rowsOf(12, listedDashboard);
  const answering =
    (count: Json | undefined) =>
    ({ query }: { readonly query: URLSearchParams }): JsonObject => {
      const from = Number(query.get('offset') ?? 0);
      const end = from + Number(query.get('limit'));
      const next = end < rows.length ? `?offset=${end}` : null;
      return { ...(count !== undefined && { count }), next, previous: null, results: rows.slice(from, end) };
    };

  test.each([
    ['right', 12, 12],
    ['missing', undefined, null],
    ['null', null, null],
    ['negative', -1, null],
    ['a text', '12', null],
    ['a fraction', 1.5, null],
    ['beyond 2^53', 1e300, null],
    ['a little too high', 13, 13],
    ['too high by more than the rows asked for', 15, 15],
    ['far too high', 5000, 5000],
    ['too low', 7, 7],
    ['zero', 0, 0],
  ])('does not keep `last` from the true tail if it is %s', async (_fault, count, totalCount) => {
    const { upstream, gateway } = await startBoth({ [path]: answering(count) }, { maxPageSize: 5 }, { hold: 0 });
    const tail = await askPage(gateway, dashboards, { last: 3 });
    expect(tail).toMatchObject({ rows: ['10', '11', '12'], hasNextPage: false, hasPreviousPage: true });
    expect(upstream.requests.length).toBeLessThanOrEqual(4);
    upstream.reset();
    const before = await askPage(gateway, dashboards, { last: 3, before: tail.startCursor });
    expect(before).toMatchObject({ rows: ['7', '8', '9'], hasNextPage: true, hasPreviousPage: true });
    expect(upstream.requests).toEqual([`${path}?limit=3&offset=6`]);
    const answer = await gateway.ask('{ project(id: 1) { dashboards { totalCount } } }');
    expect(answer.data).toEqual({ project: { dashboards: { totalCount } } });
    expect(gateway.reported).toEqual([]);
  });

  test('beyond what GraphQL can say as an Int is an error of that field only', async () => {
    const { gateway } = await startBoth({ [path]: answering(3_000_000_000) });
    const answer = await gateway.ask('{ project(id: 1) { dashboards(first: 1) { totalCount nodes { upstreamId } } } }');
    expect(answer.data).toEqual({ project: { dashboards: { totalCount: null, nodes: [{ upstreamId: '1' }] } } });
    expect(answer.errors).toMatchObject([{ extensions: { code: 'UPSTREAM_INVALID_RESPONSE' } }]);
  });

  test('if more rows follow than it says, `last` is asked behind a cursor for the rows behind it only', async () => {
    const { gateway } = await startBoth({ [path]: answering(12) }, { maxPageSize: 5 }, { hold: 0 });
    const { cursors } = await askPage(gateway, dashboards, { first: 5 });
    const { endCursor } = await askPage(gateway, dashboards, { first: 5, after: cursors[4] });
    const tail = await askPage(gateway, dashboards, { last: 5, after: endCursor });
    expect(tail).toMatchObject({ rows: ['11', '12'], hasNextPage: false, hasPreviousPage: true });
  });
});
