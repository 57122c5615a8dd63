import { hash } from 'node:crypto';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { hashOf } from '../../src/operation/persisted/ids.ts';
import { connectRedis } from '../../src/redis.ts';
import { isObject } from '../../src/rest/values.ts';
import { budgetOf } from '../support/budgets.ts';
import { startCaching } from '../support/cache.ts';
import { expectWithin } from '../support/form.ts';
import type { TestGateway } from '../support/gateway.ts';
import { as, askTimed, codesOf, pause } from '../support/load.ts';
import { automatic, outcomeOf, registration, send } from '../support/persisted.ts';
import { hasSentinel, type RedisGroup, startCluster, startSentinels } from '../support/redis-groups.ts';
import { project } from '../support/rows.ts';
import { authority } from '../support/tls.ts';
import { until } from '../support/until.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

/** Their epochs are on all nodes of a Cluster. */
const keys = Array.from({ length: 8 }, (_, index) => `phx_${index}`);

const query = '{ project(id: 1) { name } }';
const mutation = 'mutation { updateProject(input: { id: 1, name: "New" }) { project { id } } }';

interface LoggingGateway extends TestGateway {
  readonly logged: readonly string[];
}

/** An upstream whose project has another name for each key after that has written. */
interface Projects extends Upstream {
  callsOf(key: string): number;
}

async function startProjects(): Promise<Projects> {
  const written = new Set<string | undefined>();
  const calls: (string | undefined)[] = [];
  const upstream = await startUpstream(({ method, headers: { authorization } }) => {
    calls.push(authorization);
    if (method === 'PATCH') written.add(authorization);
    return project(1, { name: written.has(authorization) ? 'New' : 'Old' });
  });
  upstream.release();
  return { ...upstream, callsOf: (key) => calls.filter((one) => one === `Bearer ${key}`).length };
}

async function startMember(upstream: Upstream, { url: redisUrl }: RedisGroup): Promise<LoggingGateway> {
  const logged: string[] = [];
  const gateway = await startCaching(upstream, {
    persisted: { redisUrl, redisSentinelPassword: 'watch', redisAuthorities: authority },
    budget: budgetOf({ rest: '1000/600' }, { replicas: 2 }),
    log: (_level, message) => logged.push(message),
  });
  await until(() => logged.includes('calls are counted in Redis'));
  return { ...gateway, logged };
}

/** The name of the project for a key, and if the cache knew it. */
async function read({ url }: TestGateway, key: string): Promise<{ name: unknown; isCached: boolean; left: unknown }> {
  const answer = await askTimed(url, query, { ...as(key), extensions: { cost: true } });
  expectWithin(answer.tookMs, 1000);
  const data: unknown = answer.data;
  const name = isObject(data) && isObject(data['project']) ? data['project']['name'] : undefined;
  const cost = isObject(answer.extensions?.['cost']) ? answer.extensions['cost'] : {};
  const budgets: readonly unknown[] = Array.isArray(cost['budget']) ? cost['budget'] : [];
  const [budget] = budgets;
  return { name, isCached: cost['cached'] === 1, left: isObject(budget) ? budget['remaining'] : undefined };
}

/** Waits until what the first gateway reads is given by the second one, for each key, and expects this name of the project. */
async function expectSharedReads(gateways: readonly [TestGateway, TestGateway], name: string): Promise<void> {
  const names = new Set<unknown>();
  for (const key of keys)
    await until(async () => {
      const answers = [await read(gateways[0], key), await read(gateways[1], key)];
      for (const answer of answers) names.add(answer.name);
      return answers.every(({ isCached }) => isCached);
    });
  expect([...names]).toEqual([name]);
}

/** Waits until documents that are registered at the first gateway are known to the second one. */
async function expectSharedDocuments([first, second]: readonly [TestGateway, TestGateway], of: string): Promise<void> {
  for (let count = 0; count < 8; count += 1) {
    const text = `{ ${of}${count}: __typename }`;
    await until(async () => {
      await send(first.url, registration(text), { asKey: 'phx_0' });
      const [status, outcome] = outcomeOf(await send(second.url, automatic(hashOf(text))));
      expect(status).toBe(200);
      return outcome !== 'PERSISTED_QUERY_NOT_FOUND';
    });
  }
}

/** Waits until both gateways find all calls of a key counted. */
async function expectSharedCalls(gateways: readonly [TestGateway, TestGateway], upstream: Projects): Promise<void> {
  await until(async () => {
    const left = [await read(gateways[0], 'phx_0'), await read(gateways[1], 'phx_0')].map((answer) => answer.left);
    return left.every((one) => one === 1000 - upstream.callsOf('phx_0'));
  });
}

const ways: readonly [string, (upstream: Upstream) => Promise<RedisGroup>][] = [
  ['Sentinels', () => startSentinels({ tls: true })],
  ['a Cluster', ({ url }) => startCluster(`{${hash('sha256', url, 'base64url')}}`, { tls: true })],
];

describe.skipIf(!hasSentinel).each(ways)('Gateways with one Redis of %s over TLS', (_kind, startGroup) => {
  test('share documents, budget and cache, and nothing waits long or is given from before a write in a fail-over', async () => {
    const printed = [vi.spyOn(console, 'error'), vi.spyOn(console, 'warn')];
    await using upstream = await startProjects();
    await using redis = await startGroup(upstream);
    await using first = await startMember(upstream, redis);
    await using second = await startMember(upstream, redis);
    const both = [first, second] as const;
    await expectSharedReads(both, 'Old');
    await expectSharedDocuments(both, 'before');
    await expectSharedCalls(both, upstream);

    // From now on, the replica receives nothing from the primary.
    redis.replica.freeze();
    await redis.primary.ask('CLIENT', 'KILL', 'TYPE', 'replica');
    for (const key of keys) {
      const written = await askTimed(first.url, mutation, as(key));
      expect(codesOf(written)).toEqual([]);
      expectWithin(written.tookMs, 1000);
    }
    await redis.primary.kill();
    redis.replica.thaw();
    const names = new Set<unknown>();
    await until(async () => {
      for (const key of keys) for (const gateway of both) names.add((await read(gateway, key)).name);
      return redis.isPromoted();
    });
    expect([...names]).toEqual(['New']);

    await expectSharedReads(both, 'New');
    await expectSharedDocuments(both, 'after');
    await expectSharedCalls(both, upstream);
    expect([...first.reported, ...second.reported]).toEqual([]);
    for (const spy of printed) expect(spy).not.toHaveBeenCalled();
    for (const { logged } of both) expect(logged).toEqual(expect.arrayContaining(['Redis is down', 'Redis is up']));
  });
});

test.skipIf(!hasSentinel).each([
  ['Sentinels', () => startSentinels()],
  ['a Cluster', () => startCluster('any')],
] as const)('a Redis of %s is reached without TLS', async (_kind, startGroup) => {
  await using group = await startGroup();
  const redis = connectRedis({ redisUrl: group.url, redisSentinelPassword: 'watch' });
  onTestFinished(() => redis?.close());
  await until(() => redis?.isUp === true);
  for (const name of ['a', 'b', 'c', 'd']) {
    await redis?.ask('set', [name, `value of ${name}`]);
    expect(await redis?.ask('get', [name])).toBe(`value of ${name}`);
  }
});

test.skipIf(!hasSentinel)('a purge reaches the nodes of a Cluster whose connections have just ended', async () => {
  await using group = await startCluster('any');
  const redis = connectRedis({ redisUrl: group.url });
  if (redis === undefined) throw new Error('no Redis');
  onTestFinished(() => redis.close());
  await until(() => redis.isUp);
  const set = async (): Promise<void> => {
    for (let index = 0; index < 50; index += 1) await redis.ask('set', [`purged:${index}`, '1']);
  };
  await set();
  expect(await redis.unlinkAll('purged:*')).toBe(50);
  await set();
  await group.primary.ask('CLIENT', 'KILL', 'TYPE', 'normal');
  await pause(50);
  expect(await redis.unlinkAll('purged:*')).toBe(50);
});
