import { afterAll, expect, test } from 'vitest';
import { membersOf, resultsOf, startClient, targetOf } from './client.ts';

// Nothing here writes, so that one workspace serves all.
const client = await startClient();
afterAll(() => client[Symbol.asyncDispose]());

async function walk(start: string, link: 'next' | 'previous' = 'next', walked = client): Promise<unknown[][]> {
  const pages: unknown[][] = [];
  for (let target: string | undefined = start; target !== undefined; ) {
    const page = membersOf(await walked.read(target));
    pages.push(resultsOf(page).map(({ id }) => id));
    target = page[link] === null ? undefined : targetOf(page[link]);
  }
  return pages;
}

test.each([
  ['/api/projects/', [[1, 2, 3], [4]]],
  ['/api/projects/1/dashboards/', [[1, 2, 3], [4, 5, 6], [7, 8, 9], [10]]],
  [
    '/api/organizations/@current/plugins/',
    [
      [1, 2, 3],
      [4, 5, 6],
      [7, 8, 9],
    ],
  ],
])('following next walks all of %s', async (path, pages) => {
  expect(await walk(`${path}?limit=3`)).toEqual(pages);
});

test('following previous walks back to the start', async () => {
  expect(await walk('/api/projects/1/dashboards/?limit=4&offset=6', 'previous')).toEqual([
    [7, 8, 9, 10],
    [3, 4, 5, 6],
    [1, 2, 3, 4],
  ]);
});

test('links are absolute and keep the rest of the query', async () => {
  const { next, previous } = membersOf(await client.read('/api/projects/?limit=1&offset=1&x=y'));
  expect({ next, previous }).toEqual({
    next: `${client.url}/api/projects/?limit=1&offset=2&x=y`,
    previous: `${client.url}/api/projects/?limit=1&x=y`,
  });
});

test.each([
  '?limit=x',
  '?limit=-1',
  '?limit=0',
  '?limit=',
  '?limit=1.5',
  '?offset=x',
  '?offset=-1',
  '?limit=1&limit=9',
])('a list falls back silently on %s', async (query) => {
  expect(resultsOf(await client.read(`/api/projects/${query}`))).toHaveLength(4);
});

test('an offset past the end answers an empty page that still counts', async () => {
  expect(await client.read('/api/projects/?offset=50')).toMatchObject({ count: 4, next: null, results: [] });
  expect(await client.read('/api/projects/1/events/?offset=5000')).toEqual({ next: null, results: [] });
});

test('a page of events holds 100 by default and 1,000 at most', async () => {
  expect(resultsOf(await client.read('/api/projects/1/events/'))).toHaveLength(100);
  expect(resultsOf(await client.read('/api/projects/1/events/?limit=1200'))).toHaveLength(1000);
});

test.each(['offset', 'before'] as const)(
  'following next of events by %s walks all of them once, the newest first',
  async (eventsNext) => {
    await using dialect = await startClient({ eventsNext });
    const ids = (await walk('/api/projects/4/events/?limit=150', 'next', dialect)).flat();
    expect(new Set(ids).size).toBe(500);
    expect(ids).toEqual(resultsOf(await client.read('/api/projects/4/events/?limit=1000')).map(({ id }) => id));
  },
);

test('following next of events from an offset before a time loses none', async () => {
  const all = resultsOf(await client.read('/api/projects/4/events/?limit=1000'));
  const before = encodeURIComponent(String(all[0]?.timestamp));
  const ids = (await walk(`/api/projects/4/events/?limit=3&offset=477&before=${before}`)).flat();
  expect(ids).toEqual(all.slice(478).map(({ id }) => id));
});

test.each([
  ['offset', 'limit=2&offset=3&event=%24pageview', () => ''],
  ['before', 'limit=2&offset=1&event=%24pageview', (last: string) => `&before=${encodeURIComponent(last)}`],
] as const)('next of events by %s keeps the query', async (eventsNext, query, beforeOf) => {
  await using dialect = await startClient({ eventsNext });
  const page = membersOf(await dialect.read('/api/projects/1/events/?limit=2&offset=1&event=%24pageview'));
  const before = beforeOf(String(resultsOf(page)[1]?.timestamp));
  expect(page.next).toBe(`${dialect.url}/api/projects/1/events/?${query}${before}`);
  expect(Object.keys(page)).toEqual(['next', 'results']);
});
