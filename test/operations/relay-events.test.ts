import { describe, expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import {
  askPage,
  at,
  idsOf,
  type Place,
  pageField,
  rowsOf,
  textAt,
  toPage,
  walkForward,
} from '../support/connections.ts';
import { startGateway } from '../support/gateway.ts';
import { inTurn, listOf } from '../support/lists.ts';
import type { JsonObject } from '../support/replies.ts';
import type { Handler } from '../support/routes.ts';
import { event } from '../support/rows.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const events: Place = { field: 'events', under: 'project(id: 1)' };
const path = 'GET /api/projects/1/events/';

/** `count` events, newest first, `together` of them at each instant. */
function eventsInGroups(count: number, together: number): JsonObject[] {
  return rowsOf(count, (id) => event(id, { timestamp: secondOf(Math.floor((id - 1) / together)) }));
}

function secondOf(step: number): string {
  return `2024-05-01T10:00:${String(59 - step).padStart(2, '0')}+00:00`;
}

/** A keyset by the time of a page's last row. `next` keeps the rest of the query, the offset too. */
function keysetEvents(rows: readonly JsonObject[], isIn: (time: string, before: string) => boolean): Handler {
  return ({ query, target, headers }) => {
    const before = query.get('before');
    const between = rows.filter((row) => before === null || isIn(textAt(row, 'timestamp'), before));
    const offset = Number(query.get('offset') ?? 0);
    const end = offset + Number(query.get('limit') ?? 100);
    const results = between.slice(offset, end);
    if (end >= between.length) return { next: null, results };
    const next = new URL(target, `http://${headers.host}`);
    next.searchParams.set('before', textAt(results, results.length - 1, 'timestamp'));
    return { next: next.href, results };
  };
}

/** A keyset whose `before` includes that instant, as the contract does not rule out: boundary rows come again. */
function inclusiveEvents(rows: readonly JsonObject[]): Handler {
  return keysetEvents(rows, (time, before) => time <= before);
}

/** The `before` and `offset` of each request, and how many rows it asked for. */
function positionsIn(upstream: Upstream): string[] {
  return upstream.requests.map((line) => {
    const { searchParams } = new URL(line.replace('GET ', ''), upstream.url);
    const [limit, offset, before] = ['limit', 'offset', 'before'].map((name) => searchParams.get(name));
    return [`limit ${limit}`, offset && `offset ${offset}`, before && `before ${before}`].filter(Boolean).join(' ');
  });
}

describe('events at the same instant', () => {
  test.each([
    [1, 'each at its own instant'],
    [3, 'three at each instant'],
    [20, 'all at one instant'],
  ])('are visited once if boundary rows come again: groups of %i, %s', async (together) => {
    for (const size of [1, 2, 3, 4, 5, 6, 7]) {
      const rows = eventsInGroups(20, together);
      await using upstream = await startUpstream({ [path]: inclusiveEvents(rows) });
      upstream.release();
      await using gateway = await startGateway(upstream);
      const pages = await walkForward(gateway, events, size);
      expect(pages.flatMap((page) => page.rows)).toEqual(idsOf(rows));
      // Every page but the last is full, although the upstream spent rows of its pages on repetitions.
      expect(pages.slice(0, -1).map((page) => page.rows.length)).toEqual(pages.slice(1).map(() => size));
    }
  });

  test('cost further calls only if boundary rows come again', async () => {
    const rows = eventsInGroups(6, 1);
    const { upstream, gateway } = await startBoth({ [path]: inclusiveEvents(rows) }, {}, { hold: 0 });
    const { endCursor } = await askPage(gateway, events, { first: 3 });
    const { rows: following } = await askPage(gateway, events, { first: 2, after: endCursor });
    expect(following).toEqual(idsOf(rows.slice(3, 5)));
    expect(positionsIn(upstream)).toEqual([
      'limit 3',
      // The third row is asked for again; the second comes, too, and one is missing.
      `limit 3 before ${secondOf(1)}`,
      // The third and the fourth come and leave no room for others: the list goes on behind them.
      `limit 2 before ${secondOf(2)}`,
      `limit 1 offset 2 before ${secondOf(2)}`,
    ]);
  });

  test('are not skipped if windows behind several of them are asked at once', async () => {
    const rows = eventsInGroups(12, 3);
    const { gateway } = await startBoth({ [path]: inclusiveEvents(rows) }, {}, { hold: 0 });
    const { endCursor } = await askPage(gateway, events, { first: 2 });
    const { cursors } = await askPage(gateway, events, { first: 4, after: endCursor });
    const fields = [endCursor, ...cursors].map((after, index) => pageField(events, { first: 2, after }, `p${index}`));
    const answer = await gateway.ask(`{ project(id: 1) { ${fields.join('\n')} } }`);
    const pages = fields.map((_field, index) => toPage(at(answer.data, 'project', `p${index}`)).rows);
    expect(pages).toEqual(fields.map((_field, index) => idsOf(rows.slice(index + 2, index + 4))));
  });

  test('the offset of a request is dropped from the position that its `next` names', async () => {
    const rows = eventsInGroups(9, 1);
    const exclusive = keysetEvents(rows, (time, before) => time < before);
    await using upstream = await startUpstream({ [path]: exclusive });
    upstream.release();
    // Rows that were answered before are skipped, because they do not fit into a page beside the wanted rows.
    await using gateway = await startGateway(upstream, { maxPageSize: 3 });
    const { cursors } = await askPage(gateway, events, { first: 3 });
    const second = await askPage(gateway, events, { first: 3, after: cursors[0] });
    const third = await askPage(gateway, events, { first: 3, after: second.endCursor });
    expect([...second.rows, ...third.rows]).toEqual(idsOf(rows.slice(1, 7)));
    expect(positionsIn(upstream)).toEqual([
      'limit 3',
      'limit 3 offset 1 before 2024-05-01T10:01:00Z',
      `limit 3 offset 1 before ${secondOf(2)}`,
    ]);
  });
});

describe('the `next` of an event list', () => {
  const page = (next: string | null, ...ids: number[]): JsonObject => ({
    next,
    results: ids.map((id) => event(id, { timestamp: secondOf(id) })),
  });

  test.each([
    ['with the same rows', [1, 2]],
    ['over rows of one instant', [2, 2]],
  ])('that repeats, %s, is an error and no silent end', async (_rows, seconds) => {
    const next = `https://api.example.com/api/projects/1/events/?before=${encodeURIComponent(secondOf(2))}`;
    const results = seconds.map((second, index) => event(index + 1, { timestamp: secondOf(second) }));
    const { upstream, gateway } = await startBoth({ [path]: { next, results } }, {}, { hold: 0 });
    await expect(askPage(gateway, events, { first: 10 })).rejects.toThrow('UPSTREAM_INVALID_RESPONSE');
    expect(upstream.requests).toHaveLength(3);
  });

  test.each([secondOf(1), secondOf(1).replace('+00:00', 'Z'), secondOf(1).replace('+00:00', '')])(
    'that goes back, to %s, is an error, and does not lead in a circle',
    async (back) => {
      const next = (time: string): string =>
        `https://api.example.com/api/projects/1/events/?before=${encodeURIComponent(time)}`;
      const { upstream, gateway } = await startBoth(
        {
          [path]: inTurn(page(next(secondOf(2)), 1, 2), page(next(back), 3, 4)),
        },
        {},
        { hold: 0 },
      );
      await expect(askPage(gateway, events, { first: 10 })).rejects.toThrow('UPSTREAM_INVALID_RESPONSE');
      expect(positionsIn(upstream)).toEqual(['limit 10', `limit 9 before ${secondOf(1)}`]);
    },
  );

  test('counts by offset as well, and an upstream that caps its pages is asked on until the page is full', async () => {
    const rows = rowsOf(10, event);
    const { upstream, gateway } = await startBoth(
      { [path]: listOf(rows, { cap: 3, omitCount: true }) },
      {},
      { hold: 0 },
    );
    const { rows: found, hasNextPage } = await askPage(gateway, events, { first: 7 });
    expect(found).toEqual(idsOf(rows.slice(0, 7)));
    expect(hasNextPage).toBe(true);
    expect(positionsIn(upstream)).toEqual(['limit 7', 'limit 4 offset 3', 'limit 1 offset 6']);
  });
});

describe('event connections', () => {
  test('without `first` ask for 50, and `first: 0` reads one row to know whether there are any', async () => {
    const { upstream, gateway } = await startBoth({ [path]: listOf([event(1)], { omitCount: true }) });
    expect(await askPage(gateway, events)).toMatchObject({ rows: [event(1)['id']], hasNextPage: false });
    expect(await askPage(gateway, events, { first: 0 })).toEqual({
      rows: [],
      cursors: [],
      hasNextPage: true,
      hasPreviousPage: false,
      startCursor: null,
      endCursor: null,
    });
    expect(positionsIn(upstream)).toEqual(['limit 50', 'limit 1']);
  });

  test('go forward only', async () => {
    const { upstream, gateway } = await startBoth({});
    const { errors } = await gateway.ask('{ project(id: 1) { events(last: 1) { nodes { id } } } }');
    expect(errors?.map(({ message }) => message)).toEqual(['Unknown argument "last" on field "Project.events".']);
    expect(upstream.requests).toEqual([]);
  });
});
