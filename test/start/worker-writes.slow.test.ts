import { expect, test } from 'vitest';
import { key } from '../support/gateway.ts';
import { runMain } from '../support/process.ts';
import { sendRaw } from '../support/raw-http.ts';
import { project } from '../support/rows.ts';
import { startUpstream } from '../support/upstream.ts';

const [read, write] = ['GET /api/projects/1/', 'PATCH /api/projects/1/'];

/** Asks on a connection of its own, which the next worker in turn gets. */
async function ask(url: string, query: string): Promise<unknown> {
  const headers = ['content-type', 'application/json', 'authorization', `Bearer ${key}`];
  return JSON.parse((await sendRaw(url, { headers, body: JSON.stringify({ query }) })).body);
}

/** Operations that have begun at any worker and have not ended. */
async function underWay(url: string): Promise<number> {
  const { body } = await sendRaw(url, { method: 'GET', path: '/metrics' });
  return Number(/^gateway_operations_in_flight (\d+)$/m.exec(body)?.[1]);
}

test('no worker answers a read after a write with one that was under way before it, also if nothing is cached', async () => {
  let changes = 0;
  const release = Promise.withResolvers<void>();
  await using upstream = await startUpstream(
    {
      [read]: () => {
        const name = `Change ${changes}`;
        return release.promise.then(() => project(1, { name }));
      },
      [write]: () => {
        changes += 1;
        return project(1, { name: `Change ${changes}` });
      },
    },
    { hold: 1 },
  );
  await using running = runMain([], { PORT: '0', WORKERS: '2', UPSTREAM_URL: upstream.url, STOP_DELAY_MS: '50' });
  const [, url = ''] = await running.printed(/^Gateway +(\S+)/m);
  const before = Array.from({ length: 4 }, () => ask(url, '{ project(id: 1) { name } }'));
  await expect.poll(() => upstream.requests.length).toBeGreaterThanOrEqual(2);
  await expect.poll(() => underWay(url)).toBe(before.length);
  await ask(url, 'mutation { updateProject(input: { id: 1, name: "New" }) { project { name } } }');
  const after = Array.from({ length: 4 }, () => ask(url, '{ project(id: 1) { name timezone } }'));
  await expect.poll(() => underWay(url)).toBe(before.length + after.length);
  release.resolve();
  for (const answer of await Promise.all(after))
    expect(answer).toMatchObject({ data: { project: { name: 'Change 1' } } });
  await Promise.all(before);
});
