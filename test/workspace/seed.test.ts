import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findEvents } from '../../workspace/events/rows.ts';
import { seedOnce } from '../../workspace/seed/seed.ts';
import { openStore } from '../../workspace/store.ts';
import { demoKeys, memberKeys, startWorkspace } from '../../workspace/workspace.ts';
import { inForm } from '../support/form.ts';
import { membersOf, resultsOf, startClient } from './client.ts';

function seededStore(): ReturnType<typeof openStore> {
  const store = openStore(':memory:');
  seedOnce(store);
  return store;
}

test('the seed holds 2 organizations, 6 projects, 60 dashboards with tiles, 14 plugins and 5,000 events', () => {
  const { database } = seededStore();
  const counts = ['organizations', 'projects', 'dashboards', 'plugins', 'events'].map(
    (table) => database.prepare(`SELECT count(*) AS count FROM ${table}`).get()?.count,
  );
  expect(counts).toEqual([2, 6, 60, 14, 5000]);
  const empty = database.prepare('SELECT count(*) AS count FROM dashboards WHERE id NOT IN (SELECT owner FROM tiles)');
  expect(empty.get()?.count).toBe(0);
  const types = database.prepare("SELECT DISTINCT body ->> 'plugin_type' AS type FROM plugins ORDER BY type").all();
  expect(types.map(({ type }) => type)).toEqual(['custom', 'local', 'repository', 'source']);
});

test('late events of a project are stored before the first search begins, so that its time does not include that', () => {
  const store = openStore(':memory:');
  seedOnce(store, { lateEvents: true });
  const events = findEvents(store, 1, {});
  expect([...store.lateEvents.keys()]).toEqual([2, 3, 4, 5, 6]);
  expect(events.take(3).toArray()).toHaveLength(3);
});

test('the events of a project lie within 30 days, no two at the same time', () => {
  const rows = seededStore()
    .database.prepare(
      'SELECT project_id, count(*) AS n, count(DISTINCT timestamp) AS times, min(timestamp) AS first, max(timestamp) AS last FROM events GROUP BY project_id',
    )
    .all();
  expect(rows).toHaveLength(6);
  for (const { n, times, first, last } of rows) {
    expect(times).toBe(n);
    expect(Number(last) - Number(first)).toBeLessThan(30 * 86_400_000_000);
    expect(Number(last) - Number(first)).toBeGreaterThan(29 * 86_400_000_000);
  }
});

test('the seed is the same every time', () => {
  const tables = ['users', 'projects', 'dashboards', 'tiles', 'plugins', 'plugin_sources', 'persons', 'events'];
  const [one, other] = [seededStore(), seededStore()].map(({ database }) =>
    tables.map((table) => database.prepare(`SELECT * FROM ${table}`).all()),
  );
  expect(one).toEqual(other);
});

test('events that are stored when they are first asked for are those that are stored at once', () => {
  const late = openStore(':memory:');
  seedOnce(late, { lateEvents: true });
  const { database } = seededStore();
  const events = 'SELECT * FROM events WHERE project_id = ? ORDER BY id';
  for (const id of [6, 1, 2, 3, 4, 5]) {
    expect(late.database.prepare(events).all(id)).toEqual([]);
    expect([...findEvents(late, id, { event: 'none' })]).toEqual([]);
    expect(late.database.prepare(events).all(id)).toEqual(database.prepare(events).all(id));
  }
});

test.each([demoKeys, memberKeys])(
  'each organization has keys that see its own projects: %s and %s',
  async (...keys) => {
    await using client = await startClient();
    const projects = await Promise.all(
      keys.map(async (key) => {
        expect(key).toMatch(/^phx_/);
        const { body } = await client.send('GET', '/api/projects/', undefined, { authorization: `Bearer ${key}` });
        return resultsOf(body).map(({ id }) => id);
      }),
    );
    expect(projects).toEqual([
      [1, 2, 3, 4],
      [5, 6],
    ]);
  },
);

test('a database file keeps what was written over a restart, and is seeded once', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'workspace-'));
  const database = join(folder, 'workspace.db');
  try {
    {
      await using client = await startClient({ database });
      await client.send('POST', '/api/projects/1/dashboards/', { name: 'Kept' });
      await client.send('DELETE', '/api/projects/2/');
    }
    await using client = await startClient({ database });
    expect(await client.read('/api/projects/1/dashboards/61/')).toMatchObject({ name: 'Kept' });
    expect(resultsOf(await client.read('/api/projects/')).map(({ id }) => id)).toEqual([1, 3, 4]);
    expect(await client.read('/api/projects/1/dashboards/')).toMatchObject({ count: 11 });
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('a database of another version is refused, and left as it is', () => {
  const store = openStore(':memory:');
  store.database.exec('PRAGMA user_version = 1');
  expect(() => seedOnce(store)).toThrow('is of another version: remove its file, or name another');
  expect(store.projects.count(1)).toBe(0);
});

test.each(['/nowhere/workspace.db', import.meta.filename])('a database that cannot be used is named: %s', (path) => {
  expect(() => openStore(path)).toThrow(`the workspace's database ${JSON.stringify(path)} cannot be used: `);
});

test('without a file, every start begins with the seed', async () => {
  {
    await using client = await startClient();
    await client.send('DELETE', '/api/projects/1/');
  }
  await using client = await startClient();
  expect(await client.read('/api/projects/')).toMatchObject({ count: 4 });
});

test('a workspace is up within a second', async () => {
  const start = performance.now();
  await using client = await startClient();
  await client.read('/api/projects/');
  // A machine as busy as that of CI takes a few times as long.
  expect(performance.now() - start).toBeLessThan(inForm(10_000, 1000));
});

test('a second workspace on the same port is refused, and leaves the first alone', async () => {
  await using client = await startClient();
  const port = Number(new URL(client.url).port);
  await expect(startWorkspace({ port, host: '127.0.0.1' })).rejects.toThrow('EADDRINUSE');
  expect(membersOf(await client.read('/api/projects/1/')).id).toBe(1);
});
