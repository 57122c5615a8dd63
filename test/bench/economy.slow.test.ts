import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { planDay, smallDay, wholeDay } from '../../bench/economy/day.ts';
import { History, statesIn, textOf } from '../../bench/economy/history.ts';
import { economyPageOf, economySummary } from '../../bench/economy/page.ts';
import { replay } from '../../bench/economy/replay.ts';
import { readEconomy } from '../../bench/economy/results.ts';

function read(name: string): string {
  return readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
}

test('ECONOMY.md of bench/ and the README show what economy.json holds', () => {
  const economy = readEconomy();
  if (economy === undefined) throw new Error('expected results');
  expect(economy.day).toEqual(wholeDay);
  expect(read('bench/ECONOMY.md')).toBe(economyPageOf(economy));
  expect(read('README.md')).toContain(economySummary(economy));
});

test('a minute of the day can be lived: with the gateway it costs fewer calls, no 429, and everyone sees their own edits', {
  timeout: 120_000,
}, async () => {
  const day = planDay(smallDay);
  const [direct, both] = await Promise.all([replay('direct', day), replay('both', day)]);
  expect(both).toMatchObject({ throttled: 0, unseenEdits: 0 });
  expect(direct.unseenEdits).toBe(0);
  for (const { operations, edits, callsPerMinute } of [direct, both]) {
    expect(Math.min(operations, edits, callsPerMinute)).toBeGreaterThan(0);
  }
  expect(both.callsPerMinute / both.operations).toBeLessThan(direct.callsPerMinute / direct.operations);
});

test('the day is the same for all', () => {
  expect(planDay(wholeDay)).toEqual(planDay(wholeDay));
});

test('a state is as old as the answer to the write that replaced it', () => {
  const history = new History();
  const first = history.begin('a');
  history.end(first, 100);
  expect(history.ageOf(first, 500)).toBe(0);
  const second = history.begin('a');
  expect(history.ageOf(first, 500)).toBe(0);
  history.end(second, 300);
  expect([history.ageOf(first, 500), history.ageOf(second, 500)]).toEqual([200, 0]);
  expect(statesIn(`"${textOf(first)}" and ${textOf(second)}`)).toEqual([first, second]);
});
