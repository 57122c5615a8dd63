import { describe, expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import { askPage, idsOf, type Page, type Place, rowsOf, walkBackward, walkForward } from '../support/connections.ts';
import { eventsOf, listOf } from '../support/lists.ts';
import type { JsonObject } from '../support/replies.ts';
import type { Handler } from '../support/routes.ts';
import { event, listedDashboard, listedProject, plugin } from '../support/rows.ts';
import { type Upstream } from '../support/upstream.ts';

const sizes = [1, 2, 3, 4, 5, 6, 7];
const lengths = Array.from({ length: 21 }, (_, length) => length);

/** Every length at every page size, each with a project of its own, so that requests can be told apart. */
const cases = lengths.flatMap((length) => sizes.map((size) => ({ length, size, project: 1000 + length * 10 + size })));

const dashboardsOf = (project: number): Place => ({ field: 'dashboards', under: `project(id: ${project})` });
const eventsPlace = (project: number): Place => ({ field: 'events', under: `project(id: ${project})` });

/** Answers for each case's project with the rows of that case. */
function byProject(rowsFor: (length: number, size: number) => Handler): Handler {
  const handlers = new Map(cases.map(({ length, size, project }) => [String(project), rowsFor(length, size)]));
  return (request) => handlers.get(request.params['project'] ?? '')?.(request) ?? null;
}

function requestsOf(upstream: Upstream, project: number): string[] {
  return upstream.requests.filter((line) => line.includes(`/${project}/`)).map((line) => line.replace(/^.*\//, ''));
}

function rowsIn(pages: readonly Page[]): string[] {
  return pages.flatMap(({ rows }) => rows);
}

describe('walking forward', () => {
  test('visits each dashboard once and in order, one call a page, for every page size and length', async () => {
    const { upstream, gateway } = await startBoth(
      {
        'GET /api/projects/:project/dashboards/': byProject((length) => listOf(rowsOf(length, listedDashboard))),
      },
      {},
      { hold: 0 },
    );
    const walks = cases.map(async ({ length, size, project }) => {
      const pages = await walkForward(gateway, dashboardsOf(project), size);
      expect(rowsIn(pages)).toEqual(idsOf(rowsOf(length, listedDashboard)));
      expect(pages.map(({ hasNextPage }) => hasNextPage)).toEqual(pages.map((_, page) => page < pages.length - 1));
      expect(pages.map(({ hasPreviousPage }) => hasPreviousPage)).toEqual(pages.map((_, page) => page > 0));
      const calls = Math.max(Math.ceil(length / size), 1);
      const offset = (page: number): string => (page === 0 ? '' : `&offset=${page * size}`);
      expect(requestsOf(upstream, project)).toEqual(
        Array.from({ length: calls }, (_, page) => `?limit=${size}${offset(page)}`),
      );
    });
    await Promise.all(walks);
    expect(gateway.reported).toEqual([]);
  });

  test('visits each project and each plugin once', async () => {
    const projects = rowsOf(11, listedProject);
    const plugins = rowsOf(9, plugin);
    const { upstream, gateway } = await startBoth(
      {
        'GET /api/projects/': listOf(projects),
        'GET /api/organizations/@current/plugins/': listOf(plugins),
      },
      {},
      { hold: 0 },
    );
    expect(rowsIn(await walkForward(gateway, { field: 'projects' }, 4))).toEqual(idsOf(projects));
    const place: Place = { field: 'plugins', under: 'organization(id: "@current")' };
    expect(rowsIn(await walkForward(gateway, place, 4))).toEqual(idsOf(plugins));
    expect(rowsIn((await walkBackward(gateway, place, 4)).toReversed())).toEqual(idsOf(plugins));
    expect(upstream.requests.slice(0, 3)).toEqual([
      'GET /api/projects/?limit=4',
      'GET /api/projects/?limit=4&offset=4',
      'GET /api/projects/?limit=4&offset=8',
    ]);
  });
});

describe('walking backward', () => {
  // With a page maximum of 7 most lists end behind the first page that the tail is looked for in.
  test.each([100, 7])('visits each dashboard once and in order, the page maximum being %i', async (maxPageSize) => {
    const { upstream, gateway } = await startBoth(
      {
        'GET /api/projects/:project/dashboards/': byProject((length) => listOf(rowsOf(length, listedDashboard))),
      },
      { maxPageSize },
      { hold: 0 },
    );
    const walks = cases.map(async ({ length, size, project }) => {
      const pages = (await walkBackward(gateway, dashboardsOf(project), size)).toReversed();
      expect(rowsIn(pages)).toEqual(idsOf(rowsOf(length, listedDashboard)));
      // The page that the list begins with may be shorter, no other.
      expect(pages.slice(1).map(({ rows }) => rows.length)).toEqual(pages.slice(1).map(() => size));
      expect(pages.map(({ hasNextPage }) => hasNextPage)).toEqual(pages.map((_, page) => page < pages.length - 1));
      expect(pages.map(({ hasPreviousPage }) => hasPreviousPage)).toEqual(pages.map((_, page) => page > 0));
      const tailCalls = length > maxPageSize ? 2 : 1;
      expect(requestsOf(upstream, project)).toHaveLength(pages.length - 1 + tailCalls);
    });
    await Promise.all(walks);
    expect(gateway.reported).toEqual([]);
  });
});

describe('walking events', () => {
  /** `next` as the contract shows it: by offset, and without a count. */
  const byOffset = (rows: readonly JsonObject[]): Handler => listOf(rows, { omitCount: true });

  test.each([
    ['by time', eventsOf],
    ['by offset', byOffset],
  ] as const)('visits each once, one call a page, if `next` goes on %s', async (_way, list) => {
    const { upstream, gateway } = await startBoth(
      {
        'GET /api/projects/:project/events/': byProject((length) => list(rowsOf(length, event))),
      },
      {},
      { hold: 0 },
    );
    const walks = cases.map(async ({ length, size, project }) => {
      const pages = await walkForward(gateway, eventsPlace(project), size);
      expect(rowsIn(pages)).toEqual(idsOf(rowsOf(length, event)));
      expect(pages.map(({ hasNextPage }) => hasNextPage)).toEqual(pages.map((_, page) => page < pages.length - 1));
      expect(pages.map(({ hasPreviousPage }) => hasPreviousPage)).toEqual(pages.map((_, page) => page > 0));
      expect(requestsOf(upstream, project)).toHaveLength(Math.max(Math.ceil(length / size), 1));
    });
    await Promise.all(walks);
    expect(gateway.reported).toEqual([]);
  });

  test.each([
    ['by time', eventsOf],
    ['by offset', byOffset],
  ] as const)('keeps the filter on every page if `next` goes on %s', async (_way, list) => {
    const rows = rowsOf(7, event);
    const { upstream, gateway } = await startBoth({ 'GET /api/projects/1/events/': list(rows) }, {}, { hold: 0 });
    const filter = {
      occurredAfter: '2024-01-01T00:00:00Z',
      occurredBefore: '2025-01-01T00:00:00Z',
      event: '$pageview',
      where: ["a = 'b'"],
    };
    expect(rowsIn(await walkForward(gateway, eventsPlace(1), 3, { filter }))).toEqual(idsOf(rows));
    expect(upstream.requests).toHaveLength(3);
    for (const request of upstream.requests) {
      const { searchParams } = new URL(request.replace('GET ', ''), upstream.url);
      expect(searchParams.get('event')).toBe('$pageview');
      expect(searchParams.get('where')).toBe('["a = \'b\'"]');
      expect(searchParams.get('after')).toBe('2024-01-01T00:00:00Z');
      expect(searchParams.get('before')).toMatch(/^202[45]-/);
    }
  });

  test('a cursor from the middle of a page goes on behind its own row', async () => {
    const rows = rowsOf(12, event);
    const { gateway } = await startBoth({ 'GET /api/projects/1/events/': eventsOf(rows) }, {}, { hold: 0 });
    const first = await askPage(gateway, eventsPlace(1), { first: 5 });
    const second = await askPage(gateway, eventsPlace(1), { first: 5, after: first.endCursor });
    for (const [index, cursor] of [...first.cursors, ...second.cursors].entries()) {
      const { rows: following } = await askPage(gateway, eventsPlace(1), { first: 2, after: cursor });
      expect(following).toEqual(idsOf(rows).slice(index + 1, index + 3));
    }
  });
});
