import { expect, test } from 'vitest';
import { startBoth, startChanging } from '../support/both.ts';
import { askPage, at, type Place, rowsOf, idsOf as textsOf, walkForward } from '../support/connections.ts';
import { eventsOf, inTurn, listOf } from '../support/lists.ts';
import type { JsonObject } from '../support/replies.ts';
import type { Handler } from '../support/routes.ts';
import { event, listedDashboard, listedProject, plugin } from '../support/rows.ts';
import { startUpstream } from '../support/upstream.ts';

const organization = '018f1c4e-0000-7000-8000-00000000000a';

/** Every list of the API: how it is asked for, where it is read, and what its rows are. */
const lists: { place: Place; path: string; row: (id: number) => JsonObject }[] = [
  { place: { field: 'projects' }, path: '/api/projects/', row: listedProject },
  {
    place: { field: 'dashboards', under: 'project(id: 1)' },
    path: '/api/projects/1/dashboards/',
    row: listedDashboard,
  },
  { place: { field: 'events', under: 'project(id: 1)' }, path: '/api/projects/1/events/', row: event },
  {
    place: { field: 'plugins', under: `organization(id: "${organization}")` },
    path: `/api/organizations/${organization}/plugins/`,
    row: plugin,
  },
];

const events: Place = { field: 'events', under: 'project(id: 1)' };
const eventsPath = '/api/projects/1/events/';

function handlerOf(place: Place): typeof listOf {
  return place.field === 'events' ? eventsOf : listOf;
}

function idsOf(pages: readonly { readonly rows: readonly string[] }[]): string[] {
  return pages.flatMap(({ rows }) => rows);
}

test('only the query of next and previous is used: their host and their scheme are never called', async () => {
  await using internal = await startUpstream(() => ({ next: null, results: [] }));
  const origins = [
    internal.url,
    internal.url.replace('http:', 'https:'),
    'http://10.0.0.1',
    'https://web.internal:8000',
  ];
  const { upstream, gateway, answerWith } = await startChanging();
  for (const { place, path, row } of lists) {
    const rows = rowsOf(7, row);
    for (const origin of origins) {
      answerWith({ [`GET ${path}`]: handlerOf(place)(rows, { origin, cap: 2 }) });
      expect(idsOf(await walkForward(gateway, place, 3))).toEqual(textsOf(rows));
      expect(upstream.requests.length).toBeGreaterThanOrEqual(4);
      expect(upstream.records.every(({ headers }) => upstream.url.endsWith(headers.host ?? '?'))).toBe(true);
    }
    // Nor is the path, nor any parameter that does not move through the list.
    for (const elsewhere of ['http://user:pw@web.internal', internal.url.replace('http:', ''), 'file:///etc']) {
      const next = `${elsewhere}/api/users/@me/?limit=1000&offset=2&format=csv&select=%5B%5D&event=other&x=1#y`;
      answerWith(
        inTurn({ count: 3, next, results: rows.slice(0, 2) }, { count: 3, next: null, results: rows.slice(2, 3) }),
      );
      await walkForward(gateway, place, 2);
      expect(upstream.requests).toEqual([`GET ${path}?limit=2`, `GET ${path}?limit=2&offset=2`]);
    }
  }
  expect(internal.requests).toEqual([]);
});

test("the end of a list is decided by next, not by the page's length, as limit may not have been honoured", async () => {
  const { upstream, gateway, answerWith } = await startChanging();
  for (const { place, path, row } of lists) {
    const rows = rowsOf(5, row);
    const ids = textsOf(rows);
    const next = `http://127.0.0.1${path}?limit=3&offset=3`;
    /** A page of three rows: its ids, and whether the list goes on. */
    const pageOf = async (answer: JsonObject): Promise<readonly [rows: readonly string[], more: boolean]> => {
      answerWith({ [`GET ${path}`]: answer });
      const page = await askPage(gateway, place, { first: 3 });
      expect(upstream.requests).toHaveLength(1);
      return [page.rows, page.hasNextPage];
    };
    // As many rows as asked for, and no next: the end.
    expect(await pageOf({ next: null, results: rows.slice(0, 3) })).toEqual([ids.slice(0, 3), false]);
    // Fewer than asked for, and no next: the end, whatever the count says.
    expect(await pageOf({ next: null, count: 9, results: rows.slice(0, 2) })).toEqual([ids.slice(0, 2), false]);
    // As many as asked for, and a next: not the end, whatever the count says.
    expect(await pageOf({ next, count: 0, results: rows.slice(0, 3) })).toEqual([ids.slice(0, 3), true]);
    // More rows than asked for: only those asked for, and the list goes on behind them.
    expect(await pageOf({ next: null, results: rows })).toEqual([ids.slice(0, 3), true]);
    // A cap: what is missing is fetched.
    answerWith({ [`GET ${path}`]: handlerOf(place)(rows, { cap: 2 }) });
    expect(await askPage(gateway, place, { first: 5 })).toMatchObject({ rows: ids, hasNextPage: false });
    // Of events the last row comes again with each call, because others may share its moment.
    expect(upstream.requests).toHaveLength(place.field === 'events' ? 4 : 3);
  }
});

test('walking stops, with an error, when next repeats or does not advance over the same rows', async () => {
  const last = 'http://127.0.0.1/';
  const timestamp = '2024-05-01T09:59:58.999000+00:00';
  const stuck: Record<string, (request: { target: string }) => string> = {
    'the page itself': ({ target }) => `${last}${target.slice(1)}`,
    'the start': () => `${last}?limit=2&offset=0`,
    'no offset': () => `${last}?limit=2`,
    'no query': () => last,
    'a negative offset': () => `${last}?offset=-2`,
    'a word': () => `${last}?offset=next`,
    'no number': () => `${last}?offset=1e400`,
    'an empty text': () => '',
  };
  const { upstream, gateway, answerWith } = await startChanging();
  for (const { place, row } of lists) {
    for (const next of Object.values(stuck)) {
      const results = rowsOf(2, row);
      answerWith((request) => ({ count: 9, next: next(request), results }));
      await expect(walkForward(gateway, place, 5)).rejects.toThrow('UPSTREAM_INVALID_RESPONSE');
      expect(upstream.requests.length).toBeLessThanOrEqual(2);
    }
  }
  // The same next again and again, where following it once was right.
  for (const { place, row } of lists) {
    const moves = place.field === 'events' ? `before=${encodeURIComponent(timestamp)}` : 'offset=2';
    const handler: Handler = ({ target }) => {
      const results = rowsOf(2, (id) => row(/before=|offset=/.test(target) ? id + 2 : id));
      return { next: `${last}?${moves}`, results };
    };
    for (const size of [2, 10]) {
      answerWith(handler);
      await expect(walkForward(gateway, place, size)).rejects.toThrow('UPSTREAM_INVALID_RESPONSE');
      expect(upstream.requests.length).toBeLessThanOrEqual(4);
    }
  }
});

test('the plus of +00:00 in next goes out as %2B, however it came', async () => {
  const time = '2024-05-01T09:59:58.999000+00:00';
  const encoded = '2024-05-01T09%3A59%3A58.999000%2B00%3A00';
  const { upstream, gateway, answerWith } = await startChanging();
  // Encoded in next as it has to be, as Django does it, and wrongly left as it is.
  for (const text of [encoded, '2024-05-01T09:59:58.999000%2B00:00', time]) {
    answerWith({
      [`GET ${eventsPath}`]: inTurn(
        { next: `http://web/api/events/?before=${text}&limit=1&offset=0`, results: [event(0)] },
        { next: null, results: [event(2)] },
      ),
    });
    expect(idsOf(await walkForward(gateway, events, 1))).toHaveLength(2);
    expect(upstream.requests).toEqual([`GET ${eventsPath}?limit=1`, `GET ${eventsPath}?limit=1&before=${encoded}`]);
  }
});

test('duplicates and a drifting count are tolerated, and a walk within a page answers each row once', async () => {
  const { upstream, gateway, answerWith } = await startChanging();
  for (const { place, path, row } of lists) {
    const [one, two, three, four, five] = [row(1), row(2), row(3), row(4), row(5)];
    const link = (offset: number): string => `http://127.0.0.1${path}?offset=${offset}`;
    const pages = [
      { count: 5, next: link(2), results: [one, two] },
      // The order changed in between, so that rows come again.
      { count: 4, next: link(4), results: [two, three] },
      { count: 900, next: null, results: [four, one, five] },
    ];
    answerWith({ [`GET ${path}`]: inTurn(...pages) });
    const page = await askPage(gateway, place, { first: 10 });
    expect(page.rows).toEqual(textsOf([one, two, three, four, five]));
    expect(new Set(page.cursors).size).toBe(5);
    expect(upstream.requests).toHaveLength(3);
  }
});

test('timestamps come in as they are in every form, but for a Z if they have no zone', async () => {
  const answered: Readonly<Record<string, string>> = {
    '2024-05-01T12:00:00.5+02:00': '2024-05-01T12:00:00.5+02:00',
    '2024-05-01T02:00:00-0800': '2024-05-01T02:00:00-0800',
    '2024-05-01 10:00:00+00:00': '2024-05-01 10:00:00+00:00',
    '2024-05-01 10:00:00.25': '2024-05-01 10:00:00.25Z',
    '2024-05-01T10:00:00.123456789Z': '2024-05-01T10:00:00.123456789Z',
    '2024-02-29': '2024-02-29',
    '': '',
  };
  const rows = Object.keys(answered).map((timestamp, index) => event(index + 1, { timestamp }));
  const { gateway } = await startBoth({ [`GET ${eventsPath}`]: { next: null, results: rows } });
  const answer = await gateway.ask('{ project(id: 1) { events { nodes { timestamp } } } }');
  expect(at(answer.data, 'project', 'events', 'nodes')).toEqual(
    Object.values(answered).map((timestamp) => ({ timestamp })),
  );
});
