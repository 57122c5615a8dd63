import { expect, test } from 'vitest';
import { createCapture, keptEvents } from '../../workspace/capture.ts';
import { seedOnce } from '../../workspace/seed/seed.ts';
import { openStore, type Store } from '../../workspace/store.ts';
import { resultsOf, startClient } from './client.ts';

const seeds = Date.parse('2026-11-20T12:00:00Z');
const minute = 60_000;

function seededStore(): Store {
  const store = openStore(':memory:');
  seedOnce(store);
  return store;
}

/** Takes steps, one a second, from a moment on. */
function capture(store: Store, steps: number, from = seeds + minute): void {
  let now = from;
  const step = createCapture(store, () => now);
  for (let count = 0; count < steps; count += 1) {
    now += 1000;
    step();
  }
}

function capturedIn({ database }: Store, project: number): readonly Record<string, unknown>[] {
  return database
    .prepare('SELECT * FROM events WHERE project_id = ? AND timestamp > ? ORDER BY timestamp')
    .all(project, seeds * 1000);
}

test('a workspace that is set to captures events of now, and stops with the workspace', async () => {
  const start = Date.now();
  await using client = await startClient({ eventsPerMinute: 600 });
  const newest = async (): Promise<number> => {
    const [first] = resultsOf(await client.read('/api/projects/1/events/?limit=1'));
    return Date.parse(String(first?.timestamp));
  };
  await expect.poll(newest).toBeGreaterThanOrEqual(Math.max(start, seeds));
});

test('each example project captures as many events as there are steps, two of ten at the same time', () => {
  const store = seededStore();
  capture(store, 50);
  for (const project of [1, 2, 3, 4, 5, 6]) {
    const events = capturedIn(store, project);
    expect(events).toHaveLength(50);
    expect(new Set(events.map(({ id }) => id)).size).toBe(50);
    expect(new Set(events.map(({ timestamp }) => timestamp)).size).toBe(45);
  }
});

test('what is captured is the same each time, but for ids and times', () => {
  const [one, other] = [seeds + minute, seeds + 2 * minute].map((from) => {
    const store = seededStore();
    capture(store, 30, from);
    return capturedIn(store, 1).map(({ event, person_id: person }) => [event, person]);
  });
  expect(one).toEqual(other);
});

test('a clock behind the example data captures events that are newer than it', () => {
  const store = seededStore();
  capture(store, 10, seeds - 300 * 24 * 60 * minute);
  const events = capturedIn(store, 1);
  expect(events).toHaveLength(10);
  expect(Number(events.at(-1)?.['timestamp']) - seeds * 1000).toBeLessThan(minute * 1000);
});

test('a project keeps the newest events that it has captured, and all of the example data', () => {
  const store = seededStore();
  capture(store, keptEvents + 100);
  const events = capturedIn(store, 2);
  expect(events.length).toBeLessThanOrEqual(keptEvents + 10);
  expect(events.length).toBeGreaterThanOrEqual(keptEvents);
  expect(events.at(-1)?.['timestamp']).toBeGreaterThan((seeds + minute + (keptEvents + 99) * 1000) * 1000);
  const all = store.database.prepare('SELECT count(*) AS count FROM events WHERE project_id = 2').get();
  expect(all?.['count']).toBe(900 + events.length);
});

test('a project that was deleted captures nothing', () => {
  const store = seededStore();
  store.projects.remove(3);
  capture(store, 5);
  expect(capturedIn(store, 3)).toEqual([]);
  expect(capturedIn(store, 4)).toHaveLength(5);
});

test('after another start with the same file, captured events go on behind the earlier ones', () => {
  const store = seededStore();
  capture(store, 20);
  capture(store, 20);
  const times = capturedIn(store, 1).map(({ timestamp }) => Number(timestamp));
  expect(times).toHaveLength(40);
  expect(times).toEqual(times.toSorted((one, another) => one - another));
});
