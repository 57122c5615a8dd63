import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { liveFleet } from '../../bench/fleet/live.ts';
import { pages, readFleet, withFigures } from '../../bench/fleet/page.ts';
import { type FleetCase, planArrivals, smallFleet, wholeCases, wholeFleet } from '../../bench/fleet/plan.ts';
import { readResults } from '../../bench/report/results.ts';
import { hasRedis } from '../support/redis.ts';

test('docs/scaling.md and bench/README.md show what fleet.json and results.json of bench/ hold', () => {
  const [fleet, results] = [readFleet(), readResults()];
  if (fleet === undefined || results === undefined) throw new Error('expected results');
  expect(fleet.size).toEqual(wholeFleet);
  expect(fleet.figures).toMatchObject(wholeCases);
  const texts = pages.map((page) => readFileSync(page, 'utf8'));
  for (const text of texts) expect(text).toBe(withFigures(text, fleet, results));
  expect(texts.map((text) => [...text.matchAll(/<!-- (\w+): [^>]*-->\n\S/g)].map(([, name]) => name))).toEqual([
    ['process', 'redis'],
    ['fleet'],
  ]);
  expect(texts[0]?.match(/[^\s|]*\w[^\s|]*/g)?.length).toBeLessThanOrEqual(800);
});

test('what people ask of a fleet is the same each time', () => {
  const arrivals = planArrivals(wholeFleet, 50);
  expect(planArrivals(wholeFleet, 50)).toEqual(arrivals);
  expect(arrivals).toHaveLength(16_000);
  expect(new Set(arrivals.map(({ project }) => project)).size).toBe(wholeFleet.projects);
});

describe.skipIf(!hasRedis)('A small fleet', { timeout: 60_000 }, () => {
  const live = (one: Partial<FleetCase>) =>
    liveFleet(smallFleet, { gateways: 3, sharing: 'both', hasOutage: false, ...one });

  test('shares its answers and its budget in Redis, and nothing without', async () => {
    const [both, none] = await Promise.all([live({}), live({ sharing: 'none' })]);
    expect(both.operations).toBe(none.operations);
    expect(both.found).toBeGreaterThan(0);
    expect([none.found, none.commands]).toEqual([0, 0]);
    // If the machine is so slow that Redis is lost, two gateways have their parts beside what was called before; and each
    // counts its first eight calls alone, until the key is proven.
    const { calls } = smallFleet.limit;
    expect(both.mostCalls).toBeLessThanOrEqual(calls + 2 * (calls / 3) + 2 * 8);
  });

  test('goes on while Redis is away, with a part of the budget for each gateway', async () => {
    const one = await live({ hasOutage: true });
    expect(one.operationsInOutage).toBeGreaterThan(0);
    expect(one.refused).toBeLessThan(one.operations);
    expect(one.losses).toBeGreaterThanOrEqual(3);
  });
});
