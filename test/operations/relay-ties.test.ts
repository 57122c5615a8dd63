import { describe, expect, test } from 'vitest';
import type { Position } from '../../src/rest/positions.ts';
import { startBoth } from '../support/both.ts';
import { askPage, idsOf, type Page, type Place, walkForward } from '../support/connections.ts';
import { startGateway } from '../support/gateway.ts';
import { listOf } from '../support/lists.ts';
import { cursors } from '../support/plans.ts';
import type { JsonObject } from '../support/replies.ts';
import type { Handler } from '../support/routes.ts';
import { event } from '../support/rows.ts';
import { keyset, tiedEvents, tieTime } from '../support/ties.ts';
import { startUpstream } from '../support/upstream.ts';

const sizes = [1, 2, 3, 4, 5, 6, 7];
/** 0 to 20 events of one moment. */
const ties = Array.from({ length: 21 }, (_, tied) => tied);

/** Both ways in which an events list goes on: as the contract shows it, and as the known deployment does. */
const byOffset = (rows: readonly JsonObject[], { cap = 1000 } = {}): Handler => listOf(rows, { cap, omitCount: true });
const dialects = [
  ['limit and offset', byOffset],
  ['before', keyset],
] as const;

const place = (project: number): Place => ({ field: 'events', under: `project(id: ${project})` });

/** Behind 60 events of one moment, as cursors said it of which the ids are named. */
function counted(ids: readonly string[]): Position {
  return { offset: 60, before: '2024-05-01T09:30:01Z', boundary: { time: tieTime, ids } };
}

interface Walk {
  readonly rows: readonly JsonObject[];
  readonly size: number;
  readonly handler: Handler;
}

/** Walks each case in a project of its own: the ids that were visited, and the number of calls. */
async function walkAll(walks: readonly Walk[], extra = {}): Promise<{ ids: string[]; calls: number }[]> {
  await using upstream = await startUpstream({
    'GET /api/projects/:project/events/': (request) =>
      walks[Number(request.params['project']) - 1]?.handler(request) ?? null,
  });
  upstream.release();
  await using gateway = await startGateway(upstream);
  const found = await Promise.all(walks.map(({ size }, index) => walkForward(gateway, place(index + 1), size, extra)));
  expect(gateway.reported).toEqual([]);
  return found.map((pages, index) => {
    for (const page of pages.slice(0, -1)) expect(page.rows).toHaveLength(walks[index]?.size ?? 0);
    const calls = upstream.requests.filter((line) => line.includes(`/projects/${index + 1}/`)).length;
    return { ids: pages.flatMap(({ rows }: Page) => rows), calls };
  });
}

describe.each(dialects)('events of one moment, of a list that goes on by %s', (_name, dialect) => {
  test.each([
    ['in the middle of the list', 2, 3, ties],
    ['at its start', 0, 2, [1, 2, 7, 20]],
    ['at its end', 1, 0, [1, 2, 7, 20]],
  ])('are visited once each %s, for page sizes of 1 to 7', async (_where, before, behind, counts) => {
    const walks = counts.flatMap((tied) =>
      sizes.map((size) => {
        const rows = tiedEvents(before, tied, behind);
        return { rows, size, handler: dialect(rows) };
      }),
    );
    const found = await walkAll(walks);
    for (const [index, { rows }] of walks.entries()) expect(found[index]?.ids).toEqual(idsOf(rows));
  });

  test('are visited once each if the upstream caps its pages below their number', async () => {
    const walks = [1, 2, 3, 5].flatMap((cap) =>
      [0, 1, 2, 3, 8, 20].flatMap((tied) =>
        [1, 3].map((size) => {
          const rows = tiedEvents(2, tied, 3);
          return { rows, size, handler: dialect(rows, { cap }) };
        }),
      ),
    );
    const found = await walkAll(walks);
    for (const [index, { rows }] of walks.entries()) expect(found[index]?.ids).toEqual(idsOf(rows));
  });

  test('are one moment however it is spelt', async () => {
    const spellings = [
      '2024-05-01T09:30:00Z',
      '2024-05-01T09:30:00+00:00',
      '2024-05-01T09:30:00.000',
      '2024-05-01T09:30:00.000000Z',
      '2024-05-01T11:30:00+02:00',
    ];
    const walks = sizes.map((size) => {
      const rows = tiedEvents(1, 9, 2, spellings);
      return { rows, size, handler: dialect(rows) };
    });
    for (const { ids } of await walkAll(walks)) expect(ids).toEqual(idsOf(tiedEvents(1, 9, 2, spellings)));
  });

  test('are left out, or visited once each, as `occurredBefore` says', async () => {
    const rows = tiedEvents(2, 7, 3);
    const later = tieTime.replace('123456', '123457');
    for (const [occurredBefore, visited] of [
      [tieTime, rows.slice(9)],
      [later, rows.slice(2)],
    ] as const) {
      const within =
        (list: Handler): Handler =>
        (request) =>
          list({ ...request, query: request.query });
      const walks = sizes.map((size) => ({ rows, size, handler: within(dialect(visited)) }));
      const filter = { occurredBefore };
      for (const { ids } of await walkAll(walks, { filter })) expect(ids).toEqual(idsOf(visited));
    }
  });

  test('cost no further call if there are none', async () => {
    const rows = tiedEvents(9, 0, 9);
    const found = await walkAll(sizes.map((size) => ({ rows, size, handler: dialect(rows) })));
    expect(found.map(({ calls }) => calls)).toEqual(sizes.map((size) => Math.ceil(rows.length / size)));
  });
});

describe('events of a list that goes on by time', () => {
  test('are visited once each although those of one moment come in another order each time', async () => {
    const rows = tiedEvents(2, 9, 3);
    const walks = [10, 12, 14].map((size) => ({ rows, size, handler: keyset(rows, { shuffled: true }) }));
    for (const { ids } of await walkAll(walks)) expect(ids.toSorted()).toEqual(idsOf(rows).toSorted());
  });

  test.each(sizes)('are visited once each although new ones arrive meanwhile, %i a page', async (size) => {
    for (const [before, tied] of [
      [0, 5],
      [2, 5],
      [3, 0],
    ] as const) {
      const rows = tiedEvents(before, tied, 6);
      const expected = idsOf(rows);
      const list = keyset(rows);
      let arrived = 0;
      await using upstream = await startUpstream({
        'GET /api/projects/1/events/': (request) => {
          const answer = list(request);
          arrived += 1;
          rows.unshift(event(100 + arrived, { timestamp: `2024-05-01T10:01:${10 + arrived}Z` }));
          return answer;
        },
      });
      upstream.release();
      await using gateway = await startGateway(upstream);
      const pages = await walkForward(gateway, place(1), size);
      expect(pages.flatMap((page) => page.rows)).toEqual(expected);
    }
  });

  test('have cursors of a bounded size, however many share a moment and however long their ids are', async () => {
    const rows = tiedEvents(1, 90, 2).map((row, index) => ({ ...row, id: `${index}-${'x'.repeat(60)}` }));
    const { gateway } = await startBoth({ 'GET /api/projects/1/events/': keyset(rows) }, {}, { hold: 0 });
    const found: string[] = [];
    let after: string | null = null;
    do {
      const page: Page = await askPage(gateway, place(1), { first: 40, after });
      found.push(...page.rows);
      for (const cursor of page.cursors) expect(cursor.length).toBeLessThanOrEqual(3100);
      after = page.hasNextPage ? page.endCursor : null;
    } while (after !== null);
    expect(found).toEqual(idsOf(rows));
  });

  test.each([
    ['the rows of the list', () => ({ offset: 60 })],
    ['rows within their moment', (ids: readonly string[]) => counted(ids.slice(0, 60))],
    [
      'rows within their moment, and name as many of them as they hold',
      (ids: readonly string[]) => counted(ids.slice(10, 60)),
    ],
  ])('stay behind cursors that count %s', async (_name, position) => {
    const rows = tiedEvents(0, 70, 3);
    const { gateway } = await startBoth({ 'GET /api/projects/1/events/': keyset(rows) }, {}, { hold: 0 });
    const after = cursors.encode({ noun: 'Event', scope: '1', filter: {} }, position(idsOf(rows)));
    const page = await askPage(gateway, place(1), { first: 5, after });
    expect(page.rows).toEqual(idsOf(rows.slice(60, 65)));
    const rest = await askPage(gateway, place(1), { first: 20, after: page.cursors[2] });
    expect(rest.rows).toEqual(idsOf(rows.slice(63)));
  });

  test('are asked for in pages of the maximum at most: what is known of their moment is skipped then', async () => {
    const rows = tiedEvents(3, 4, 8);
    const { upstream, gateway } = await startBoth(
      { 'GET /api/projects/1/events/': keyset(rows) },
      { maxPageSize: 5 },
      { hold: 0 },
    );
    const pages = await walkForward(gateway, place(1), 5);
    expect(pages.flatMap((page) => page.rows)).toEqual(idsOf(rows));
    expect(upstream.requests).toHaveLength(3);
    for (const line of upstream.requests) expect(line).toContain('limit=5');
  });

  test('are planned with the rows that come again', async () => {
    const rows = tiedEvents(2, 4, 8);
    const { upstream, gateway } = await startBoth({ 'GET /api/projects/1/events/': keyset(rows) }, { explain: true });
    const { endCursor } = await askPage(gateway, place(1), { first: 4 });
    const query = `{ project(id: 1) { events(first: 4, after: "${endCursor}") { nodes { id } } } }`;
    const answer = await gateway.ask(query, { extensions: { explain: 'plan' } });
    expect(answer.extensions).toMatchObject({
      explain: {
        calls: [
          { upper: 1, rows: 6 },
          { upper: 1, rows: 1 },
        ],
      },
    });
    upstream.reset();
    await gateway.ask(query);
    expect(upstream.requests).toEqual([expect.stringContaining('?limit=6&before=')]);
  });
});
