import { getIntrospectionQuery } from 'graphql';
import { expect, test, vi } from 'vitest';
import { type GatewayOptions } from '../../src/gateway.ts';
import { startBoth } from '../support/both.ts';
import { at } from '../support/connections.ts';
import { metricsOf } from '../support/metrics.ts';
import { listedProject, project } from '../support/rows.ts';

const query = 'query Q($id: ID!) { project(id: $id) { name timezone } }';
const ask = { variables: { id: '1' } };

const routes = {
  'GET /api/projects/1/': project(1),
  'GET /api/projects/2/': project(2),
  'PATCH /api/projects/1/': project(1),
  'GET /api/projects/': { count: 1, next: null, previous: null, results: [listedProject(1)] },
};

/** Starts a gateway over an upstream that holds its answers back until `upstream.release()`. */
function startHolding(options: Partial<GatewayOptions> = {}): ReturnType<typeof startBoth> {
  return startBoth(routes, options, { hold: 1000 });
}

/** Stops the clock: however long a busy machine takes to read requests that were sent together, they can share. */
function stopClock(): void {
  vi.spyOn(performance, 'now').mockReturnValue(performance.now());
}

async function metric(url: string, name: string): Promise<number> {
  const metrics = await metricsOf({ url });
  return Number(new RegExp(`^${name} (\\d+)`, 'm').exec(metrics)?.[1]);
}

function joinedRuns(url: string): Promise<number> {
  return metric(url, 'gateway_shared_operations_total');
}

/** Waits until so many operations have begun that have not ended. */
async function underWay(url: string, operations: number): Promise<void> {
  await expect.poll(() => metric(url, 'gateway_operations_in_flight')).toBe(operations);
}

test('equal queries under way under one key are executed once, and each is answered whole', async () => {
  stopClock();
  const { upstream, gateway } = await startHolding();
  const answers = Array.from({ length: 20 }, () => gateway.ask(query, ask));
  await expect.poll(() => joinedRuns(gateway.url)).toBe(19);
  upstream.release();
  for (const { data, status } of await Promise.all(answers)) {
    expect([status, data]).toEqual([200, { project: { name: 'Project 1', timezone: 'Europe/Berlin' } }]);
  }
  expect(upstream.requests).toEqual(['GET /api/projects/1/']);
});

test('other variables, another key, another document and a request for the cost run on their own', async () => {
  stopClock();
  const { upstream, gateway } = await startHolding();
  const answers = [
    gateway.ask(query, ask),
    gateway.ask(query, { variables: { id: '2' } }),
    gateway.ask(query, { ...ask, headers: { authorization: 'Bearer phx_another' } }),
    gateway.ask(query.replace('timezone', 'id'), ask),
    gateway.ask(query, { ...ask, extensions: { cost: true } }),
  ];
  await underWay(gateway.url, 5);
  await expect.poll(() => upstream.requests).toHaveLength(3);
  upstream.release();
  const given = (await Promise.all(answers)).map(({ data, errors }) => [errors, at(data, 'project', 'name')]);
  expect(given).toEqual([1, 2, 1, 1, 1].map((id) => [undefined, `Project ${id}`]));
  expect(await joinedRuns(gateway.url)).toBe(0);
});

test.each([
  ['a mutation', {}],
  ['a mutation with its cost', { cost: true }],
  ['a mutation with its trace', { explain: 'trace' }],
])('a query that comes during or after %s of the same key joins none from before', async (_what, extensions) => {
  stopClock();
  const { upstream, gateway } = await startHolding({ explain: true });
  const before = gateway.ask(query, ask);
  await expect.poll(() => upstream.requests).toHaveLength(1);
  const change = 'mutation { updateProject(input: { id: 1, name: "New" }) { project { name } } }';
  const written = gateway.ask(change, { extensions });
  await expect.poll(() => upstream.requests).toHaveLength(2);
  const after = gateway.ask(query, ask);
  await expect.poll(() => upstream.requests).toHaveLength(3);
  upstream.release();
  await Promise.all([before, written, after]);
  expect(await joinedRuns(gateway.url)).toBe(0);
});

test('a number that is too large for any double is not taken for null', async () => {
  stopClock();
  const { upstream, gateway } = await startHolding();
  const list = 'query L($first: Int) { projects(first: $first) { nodes { name } } }';
  const plain = gateway.ask(list, { variables: { first: null } });
  await expect.poll(() => upstream.requests).toHaveLength(1);
  const infinite = gateway.ask(list, { variables: { first: JSON.rawJSON('1e400') } });
  // It waits for nothing that is held.
  expect((await infinite).errors).toHaveLength(1);
  upstream.release();
  expect((await plain).errors).toBeUndefined();
});

test('equal introspections at once are executed once', async () => {
  const now = vi.spyOn(performance, 'now');
  now.mockReturnValue(performance.now());
  const epoch = Promise.withResolvers<string>();
  let waiting = 0;
  const current = (): Promise<string> => {
    waiting += 1;
    if (waiting === 20) {
      // This turn of the event loop has taken its time, so the answer is written in the next turn.
      now.mockReturnValue(performance.now() + 50);
      epoch.resolve('epoch');
    }
    return epoch.promise;
  };
  const purge = (): Promise<undefined> => Promise.resolve(undefined);
  const { gateway } = await startHolding({ epochs: { current, renew: () => undefined, purge } });
  const answers = await Promise.all(Array.from({ length: 20 }, () => gateway.ask(getIntrospectionQuery())));
  for (const { data, errors } of answers) expect([errors, data]).toEqual([undefined, answers[0]?.data]);
  expect(await joinedRuns(gateway.url)).toBe(19);
});

test('an operation that reads nothing is not shared', async () => {
  const { gateway } = await startHolding();
  await Promise.all([gateway.ask('{ __typename }'), gateway.ask('{ __typename }')]);
  expect(await joinedRuns(gateway.url)).toBe(0);
});
