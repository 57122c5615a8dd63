import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import { askPage, idsOf, type Page, type Place } from '../support/connections.ts';
import type { JsonObject } from '../support/replies.ts';
import { event } from '../support/rows.ts';
import { type EventsOptions, keyset } from '../support/ties.ts';

const place: Place = { field: 'events', under: 'project(id: 1)' };

interface Step {
  readonly size: number;
  /** The edge that the next page goes on behind. */
  readonly edge: number;
  /** Where events arrive before the next page: at the top, or in front of the row of this index, at the same moment. */
  readonly arrivals: readonly number[];
}

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({
    size: fc.integer({ min: 1, max: 12 }),
    edge: fc.nat(11),
    arrivals: fc.array(fc.oneof(fc.constant(0), fc.nat(300)), { maxLength: 3 }),
  }),
  { minLength: 1, maxLength: 6 },
);

/** The number of events in each moment, the latest first: more than a page has, and more than a cursor names. */
const ties = (most: number): fc.Arbitrary<number[]> =>
  fc.array(fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 9 }), fc.integer({ min: 20, max: most })), {
    minLength: 1,
    maxLength: 5,
  });

/** Few enough that a cursor names as many events as may come in front of it within its moment. */
const mostArrivals = 25;

function eventsAt(moments: readonly number[]): JsonObject[] {
  const times = moments.flatMap((count, index) => {
    const timestamp = new Date(Date.UTC(2024, 4, 1, 10) - index * 137).toISOString();
    return Array<string>(count).fill(timestamp);
  });
  return times.map((timestamp, index) => event(index + 1, { timestamp }));
}

/** One more event, `nth` of those that arrive. */
function arrive(rows: JsonObject[], at: number, nth: number): void {
  const newest = new Date(Date.UTC(2024, 4, 1, 11) + Math.floor(nth / 3) * 1000).toISOString();
  const shared = at === 0 ? undefined : rows[at]?.['timestamp'];
  rows.splice(shared === undefined ? 0 : at, 0, event(10_000 + nth, { timestamp: shared ?? newest }));
}

test.each<[string, EventsOptions & { readonly maximum: number }]>([
  ['of 12 rows at most', { maximum: 12 }],
  ['that the upstream caps at 7 rows', { maximum: 12, cap: 7 }],
  ['of 300 rows at most', { maximum: 300 }],
  [
    'of 300 rows at most, from an upstream that orders moments of up to 50 events anew each time',
    { maximum: 300, shuffled: true },
  ],
])(
  'behind any edge a list of events goes on with what was not visited, in pages %s',
  { timeout: 120_000 },
  async (_name, { maximum, ...options }) => {
    let rows: JsonObject[] = [];
    let list = keyset(rows);
    const { gateway } = await startBoth(
      { 'GET /api/projects/1/events/': (request) => list(request) },
      { maxPageSize: maximum },
      { hold: 0 },
    );
    await fc.assert(
      fc.asyncProperty(ties(options.shuffled === true ? 25 : 130), steps, async (moments, walk) => {
        rows = eventsAt(moments);
        list = keyset(rows, options);
        const expected = idsOf(rows);
        const visited: string[] = [];
        let after: string | null = null;
        let arrived = 0;
        for (let turn = 0; ; turn += 1) {
          const { size = 1, edge = 0, arrivals = [] } = walk[turn % walk.length] ?? {};
          const page: Page = await askPage(gateway, place, { first: size, after });
          expect(new Set([...visited, ...page.rows]).size).toBe(visited.length + page.rows.length);
          if (page.rows.length === 0) break;
          const last = Math.min(edge, page.rows.length - 1);
          visited.push(...page.rows.slice(0, last + 1));
          after = page.cursors[last] ?? null;
          for (const at of arrived < mostArrivals ? arrivals : []) arrive(rows, at, (arrived += 1));
        }
        const found = visited.filter((id) => expected.includes(id));
        expect(options.shuffled === true ? found.toSorted() : found).toEqual(expected);
      }),
      { numRuns: Number(process.env['TIES_RUNS'] ?? 25) },
    );
  },
);
