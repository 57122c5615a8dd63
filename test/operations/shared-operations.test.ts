import { setTimeout as delay } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { listedProject, project } from '../support/rows.ts';
import { startUpstream } from '../support/upstream.ts';

const query = 'query Q($id: ID!) { project(id: $id) { name timezone } }';
const ask = { variables: { id: '1' } };

function startHolding() {
  return startUpstream(
    {
      'GET /api/projects/1/': project(1),
      'GET /api/projects/2/': project(2),
      'PATCH /api/projects/1/': project(1),
      'GET /api/projects/': { count: 1, next: null, previous: null, results: [listedProject(1)] },
    },
    { hold: 1000 },
  );
}

async function joinedRuns(url: string): Promise<number> {
  const metrics = await (await fetch(new URL('/metrics', url))).text();
  return Number(/^gateway_shared_operations_total (\d+)/m.exec(metrics)?.[1]);
}

test('equal queries under way under one key are executed once, and each is answered whole', async () => {
  await using upstream = await startHolding();
  await using gateway = await startGateway(upstream);
  const answers = Array.from({ length: 20 }, () => gateway.ask(query, ask));
  await vi.waitFor(() => expect(upstream.requests).toHaveLength(1));
  await delay(30);
  upstream.release();
  for (const { data, status } of await Promise.all(answers)) {
    expect([status, data]).toEqual([200, { project: { name: 'Project 1', timezone: 'Europe/Berlin' } }]);
  }
  expect(upstream.requests).toEqual(['GET /api/projects/1/']);
  expect(await joinedRuns(gateway.url)).toBe(19);
});

test('other variables, another key, another document and a wish to know the cost run on their own', async () => {
  await using upstream = await startHolding();
  await using gateway = await startGateway(upstream);
  const answers = [
    gateway.ask(query, ask),
    gateway.ask(query, { variables: { id: '2' } }),
    gateway.ask(query, { ...ask, headers: { authorization: 'Bearer phx_another' } }),
    gateway.ask(query.replace('timezone', 'id'), ask),
    gateway.ask(query, { ...ask, extensions: { cost: true } }),
  ];
  await vi.waitFor(() => expect(upstream.requests).toHaveLength(3));
  await delay(30);
  upstream.release();
  for (const { data, errors } of await Promise.all(answers)) expect([errors, data]).toEqual([undefined, data]);
  expect(await joinedRuns(gateway.url)).toBe(0);
});

test('a query that comes during or after a mutation of the same key joins none from before', async () => {
  await using upstream = await startHolding();
  await using gateway = await startGateway(upstream);
  const before = gateway.ask(query, ask);
  await vi.waitFor(() => expect(upstream.requests).toHaveLength(1));
  const written = gateway.ask('mutation { updateProject(input: { id: 1, name: "New" }) { project { name } } }');
  await vi.waitFor(() => expect(upstream.requests).toHaveLength(2));
  const after = gateway.ask(query, ask);
  await vi.waitFor(() => expect(upstream.requests).toHaveLength(3));
  upstream.release();
  await Promise.all([before, written, after]);
  expect(await joinedRuns(gateway.url)).toBe(0);
});

test.each([{ cost: true }, { explain: 'trace' }])(
  'a mutation that is told with %j ends that sharing, too',
  async (extensions) => {
    await using upstream = await startHolding();
    await using gateway = await startGateway(upstream, { explain: true });
    const before = gateway.ask(query, ask);
    await vi.waitFor(() => expect(upstream.requests).toHaveLength(1));
    const change = 'mutation { updateProject(input: { id: 1, name: "New" }) { project { name } } }';
    const written = gateway.ask(change, { extensions });
    await vi.waitFor(() => expect(upstream.requests).toHaveLength(2));
    const after = gateway.ask(query, ask);
    await delay(30);
    upstream.release();
    await Promise.all([before, written, after]);
    expect(upstream.requests).toHaveLength(3);
    expect(await joinedRuns(gateway.url)).toBe(0);
  },
);

test('a number that is too large for any double is not taken for null', async () => {
  await using upstream = await startHolding();
  await using gateway = await startGateway(upstream);
  const list = 'query L($first: Int) { projects(first: $first) { nodes { name } } }';
  const plain = gateway.ask(list, { variables: { first: null } });
  await vi.waitFor(() => expect(upstream.requests).toHaveLength(1));
  const infinite = gateway.ask(list, { variables: { first: JSON.rawJSON('1e400') } });
  await delay(30);
  upstream.release();
  expect((await plain).errors).toBeUndefined();
  expect((await infinite).errors).toHaveLength(1);
});

test('an operation that reads nothing is not shared', async () => {
  await using upstream = await startHolding();
  await using gateway = await startGateway(upstream);
  await Promise.all([gateway.ask('{ __typename }'), gateway.ask('{ __typename }')]);
  expect(await joinedRuns(gateway.url)).toBe(0);
});
