import { expect, test } from 'vitest';
import { arrayOf, objectOf } from '../../workspace/json.ts';
import { callTool, startAgents } from '../support/agents.ts';
import { startOver } from '../support/both.ts';
import { cacheSettings } from '../support/cache.ts';
import { freePort } from '../support/free-port.ts';
import { ask, type TestGateway } from '../support/gateway.ts';
import { GrowingEvents, quick, subscribe } from '../support/live.ts';
import { together } from '../support/load.ts';
import { accepts, askForParts } from '../support/parts.ts';
import { createFolder } from '../support/persisted.ts';
import { runMain } from '../support/process.ts';
import { notFound, reply } from '../support/replies.ts';
import type { Routes } from '../support/routes.ts';
import { project } from '../support/rows.ts';
import { startUpstream } from '../support/upstream.ts';

const documents = 'query Open($id: ID!) { project(id: $id) { name } }';

const token = 'an-operators-token-of-33-letters.';

/** Projects that are there, fail once, always fail, or are gone; each answer takes a moment. */
function routesOf(events = new GrowingEvents()): Routes {
  const failed = new Set<string>();
  return {
    'GET /api/projects/1/events/': events.list,
    'PATCH /api/projects/:id/': ({ params }) => project(Number(params['id'])),
    'GET /api/projects/:id/': ({ params }) => {
      const { id = '' } = params;
      if (id === '7') return reply({ status: 500, body: '{}' });
      if (id === '8') return notFound;
      if (id !== '9' || failed.has(id)) return project(Number(id));
      failed.add(id);
      return reply({ status: 503, headers: { 'retry-after': '0' }, body: '{}' });
    },
  };
}

/** Operations that share, retry, fail, write, leave, come in parts and come from agents. */
async function useAll({ url }: Pick<TestGateway, 'url'>): Promise<void> {
  const as = (client: string): object => ({ headers: { 'x-client-name': client, connection: 'close' } });
  await ask(url, '{ project(id: 1) { name } }', as('web'));
  await together(24, 12, (index) =>
    ask(url, `query Shared { project(id: ${1 + (index % 3)}) { name ${index % 2 ? 'timezone' : ''} } }`, as('web')),
  );
  for (const id of [7, 8, 9])
    await ask(url, `query Failing { a: project(id: ${id}) { name } b: project(id: 4) { name } }`, as('ios'));
  await ask(url, 'mutation Rename { updateProject(input: { id: 5, name: "x" }) { project { name } } }', as('web'));
  await ask(url, '{ nothing }', as('broken'));
  await together(6, 6, async (index) => {
    const signal = AbortSignal.timeout(5 * index);
    const query = `query Left { a: project(id: ${10 + index}) { name } b: project(id: ${20 + index}) { name } }`;
    await ask(url, query, { ...as('hasty'), signal }).catch(() => undefined);
  });
  const query = 'query Parts { project(id: 30) { name } ... @defer { late: project(id: 31) { name } } }';
  await Array.fromAsync((await askForParts(url, query, accepts['v0.2'], as('parts'))).parts);
  for (const id of ['40', '41', '8']) await callTool({ url }, 'Open', { id });
}

/** The calls of all clients, and those that belong to none. */
async function summed(read: () => Promise<unknown>): Promise<readonly [number, number]> {
  const { operations, otherRestCalls } = objectOf(await read());
  const calls = arrayOf(operations).map((operation) => Number(objectOf(operation)['restCalls']));
  return [calls.reduce((sum, each) => sum + each, 0), Number(otherRestCalls)];
}

test.each([
  ['with a cache', { cache: cacheSettings }],
  ['without one', {}],
])('the calls of all clients are those that the upstream has counted, %s', async (_name, options) => {
  const events = new GrowingEvents();
  const { upstream, gateway } = await startOver(
    routesOf(events),
    (api) => startAgents(api, documents, { live: quick, ...options }),
    { hold: 0 },
  );
  await useAll(gateway);
  const read = (): Promise<unknown> => gateway.gateway.metrics.usage();
  // Those of clients that have left end a moment later.
  await expect.poll(() => summed(read)).toEqual([upstream.requests.length, 0]);
  const before = upstream.requests.length;

  await using stream = await subscribe(gateway.url, { headers: { 'x-client-name': 'live' } });
  await expect.poll(() => upstream.requests.length).toBeGreaterThan(before + 3);
  events.add(1, '2024-05-01T10:00:00Z');
  await stream.until(() => stream.ids().length === 1);
  stream.leave();
  await expect
    .poll(async () => (await summed(read)).reduce((sum, calls) => sum + calls))
    .toBe(upstream.requests.length);
});

test('the same with two workers', async () => {
  await using upstream = await startUpstream(routesOf(), { hold: 0 });
  using folder = createFolder();
  const port = await freePort();
  await using main = runMain([], {
    ...{ PORT: '0', UPSTREAM_URL: upstream.url, WORKERS: '2', METRICS_PORT: String(port), LOG_LEVEL: 'warn' },
    ...{ ADMIN_TOKEN_FILE: folder.write('token', token), MCP_TOOLS: '*', CACHE_TTL: 'projects=600' },
    PERSISTED_DOCUMENTS: folder.write('tools.graphql', documents),
    PERSISTED_DOCUMENTS_MODE: 'allow',
  });
  const [, url = ''] = await main.printed(/^Gateway +(\S+)/m);
  await useAll({ url });
  const headers = { authorization: `Bearer ${token}` };
  const read = async (): Promise<unknown> => (await fetch(`http://127.0.0.1:${port}/admin/usage`, { headers })).json();
  await expect.poll(() => summed(read), { interval: 300 }).toEqual([upstream.requests.length, 0]);
});
