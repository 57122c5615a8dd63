import { describe, expect, test, vi } from 'vitest';
import { isObject } from '../../src/rest/values.ts';
import { budgetOf } from '../support/budgets.ts';
import { cacheSettings, startCaching } from '../support/cache.ts';
import {
  cachedIn,
  mutation,
  ownName,
  query,
  read,
  startOneSharing,
  startSharing,
  startTwoSharing,
  write,
} from '../support/cache-redis.ts';
import { key, type TestGateway } from '../support/gateway.ts';
import { metricsOf } from '../support/metrics.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { refusal } from '../support/replies.ts';
import type { Handler } from '../support/routes.ts';
import { project } from '../support/rows.ts';
import { startUpstream } from '../support/upstream.ts';

async function failuresOf({ url }: TestGateway): Promise<number> {
  const metrics = await metricsOf({ url });
  return Number(/^gateway_redis_failures_total\{command="evalsha"\} (\d+)$/m.exec(metrics)?.[1]);
}

async function staleIn(gateway: TestGateway): Promise<unknown> {
  const { extensions } = await gateway.ask(query, { extensions: { cost: true } });
  return isObject(extensions?.['cost']) ? extensions['cost']['stale'] : undefined;
}

describe.skipIf(!hasRedis)('gateways with one Redis', () => {
  test('are given what another one has read, until one of them has written', async () => {
    const { redis, upstream, one, two } = await startTwoSharing();
    expect(await cachedIn(one)).toBe(0);
    await expect.poll(() => redis.names('cache:answer:*')).toHaveLength(2);
    expect(await cachedIn(two)).toBe(1);
    await two.ask(mutation);
    expect(await cachedIn(one)).toBe(0);
    expect(upstream.requests).toEqual([read, write, read]);
  });

  test('answer equal queries without executing them until one of them has written', async () => {
    let name = 'Old';
    const { upstream, one, two } = await startTwoSharing({
      [read]: ({ headers }) =>
        project(1, { name: headers.authorization === 'Bearer other' ? 'Project of other' : name }),
      [write]: () => {
        name = 'New';
        return project(1, { name });
      },
    });
    for (const expected of ['Old', 'New']) {
      if (expected === 'New') await two.ask(mutation);
      for (let round = 0; round < 4; round += 1) {
        for (const gateway of [one, two]) {
          expect((await gateway.ask(query)).data).toEqual({ project: { name: expected } });
        }
      }
    }
    for (const { url } of [one, two]) {
      const metrics = await metricsOf({ url });
      expect(Number(/^gateway_reused_operations_total (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThanOrEqual(4);
    }
    expect(upstream.requests.filter((request) => request === write)).toHaveLength(1);
  });

  test('keep nothing there that tells a key, a path or a value, and nothing without an end', async () => {
    const { redis, gateway } = await startOneSharing();
    await cachedIn(gateway);
    await expect.poll(() => redis.names('cache:answer:*')).toHaveLength(2);
    for (const name of await redis.names()) {
      const value = String(await redis.ask('GET', name));
      expect(`${name} ${value}`).not.toMatch(/phx_|Bearer|projects|Project/);
      expect(Number(await redis.ask('PTTL', name))).toBeGreaterThan(0);
    }
  });

  test('take a value that was copied from another name, or changed, for a miss', async () => {
    const { redis, one, two } = await startTwoSharing();
    await cachedIn(one);
    await expect.poll(() => redis.names('cache:answer:*')).toHaveLength(2);
    const [a = '', b = ''] = await redis.names('cache:answer:*');
    await redis.ask('RENAME', a, 'kept');
    await redis.ask('COPY', b, a);
    await redis.ask('COPY', 'kept', b, 'REPLACE');
    expect(await cachedIn(two)).toBe(0);
    await two.ask(mutation);
    expect(await cachedIn(two)).toBe(0);
    await expect.poll(() => redis.names('cache:answer:*')).toHaveLength(3);
    for (const name of await redis.names('cache:answer:*')) await redis.ask('APPEND', name, 'x');
    expect(await cachedIn(one)).toBe(0);
  });

  test.each([
    ['is older than they may give it', '5990000'],
    ['is of no known age, because its end was put off', '9990000'],
  ])('read anew what another one keeps for longer if it %s', async (_what, leftMs) => {
    const keepingFor = (staleSeconds: number) => ({ cache: { ...cacheSettings, staleSeconds } });
    const { redis, one, two } = await startTwoSharing(ownName, keepingFor(6000), keepingFor(0));
    await cachedIn(one);
    await expect.poll(() => redis.names('cache:answer:*')).toHaveLength(2);
    for (const name of await redis.names('cache:answer:*')) await redis.ask('PEXPIRE', name, leftMs);
    expect(await cachedIn(two)).toBe(0);
  });

  test('give no key what another one has read, though the epoch of that was copied to its name', async () => {
    const { redis, gateway } = await startOneSharing();
    await cachedIn(gateway);
    await expect.poll(() => cachedIn(gateway)).toBe(1);
    await expect.poll(() => redis.names('cache:epoch:*')).toHaveLength(2);
    const [a = '', b = ''] = await redis.names('cache:epoch:*');
    for (const [from, to] of [
      [a, b],
      [b, a],
    ] as const) {
      await redis.ask('COPY', from, to, 'REPLACE');
      // First while reads are in flight, then with kept answers. `cachedIn` expects the own answer of each key.
      for (let times = 0; times < 2; times += 1) await Promise.all([key, 'other'].map((of) => cachedIn(gateway, of)));
    }
  });

  test('go on without it while it is down or does not answer, say so once, and share again after that', async () => {
    const { redis, one, two } = await startTwoSharing();
    await cachedIn(one);
    redis.freeze();
    // The epoch cannot be known: nothing of the cache is used.
    expect([await cachedIn(one), await cachedIn(one)]).toEqual([0, 0]);
    expect(await failuresOf(one)).toBeGreaterThan(0);
    redis.thaw();
    await redis.kill();
    await expect.poll(() => one.warned.join()).toContain('Redis is down');
    expect(await cachedIn(one)).toBe(0);
    await one.ask(mutation);
    await redis.restart();
    await expect.poll(() => cachedIn(one), { interval: 20 }).toBe(1);
    await expect.poll(() => cachedIn(two), { interval: 20 }).toBe(1);
    expect(one.warned).toEqual([...new Set(one.warned)]);
    expect(one.reported).toEqual([]);
  });

  test('forget on a purge of all keys what they share, and nothing of another upstream in the same Redis', async () => {
    const { redis, one, two } = await startTwoSharing();
    await using another = await startUpstream(ownName);
    await using other = await startSharing(another, redis);
    for (const gateway of [one, two, other]) await expect.poll(() => cachedIn(gateway)).toBe(1);
    // The keys `phx_test` and `other`.
    expect(await one.gateway.purge({ all: true })).toBe(2);
    expect([await cachedIn(two), await cachedIn(other)]).toEqual([0, 1]);
  });

  test.each([
    ['has no memory', 'CONFIG', ['SET', 'maxmemory', '1'], ['SET', 'maxmemory', '0']],
    ['is a replica', 'REPLICAOF', ['127.0.0.1', '1'], ['NO', 'ONE']],
  ] as const)(
    'use nothing from before a write that Redis could not be told of because it %s',
    async (_what, command, refuse, allow) => {
      let name = 'Project of phx_test';
      const answer: Handler = ({ headers }) =>
        project(1, { name: headers.authorization === `Bearer ${key}` ? name : 'Project of other' });
      const { redis, one, two } = await startTwoSharing({ [read]: answer, [write]: answer });
      for (const gateway of [one, two]) await expect.poll(() => cachedIn(gateway)).toBe(1);
      const epochs = async (): Promise<string> =>
        String(await redis.ask('MGET', ...(await redis.names('cache:epoch:*'))));
      const before = await epochs();
      await redis.ask(command, ...refuse);
      name = 'New';
      await one.ask(mutation);
      expect((await two.ask(query)).data).toEqual({ project: { name } });
      await redis.ask(command, ...allow);
      await expect.poll(() => epochs()).not.toBe(before);
      expect((await two.ask(query)).data).toEqual({ project: { name } });
    },
  );

  test('cache nothing if Redis may not be asked which server it is, and say so', async () => {
    await using redis = await startRedis();
    await using upstream = await startUpstream(ownName);
    await redis.ask('ACL', 'SETUSER', 'gateway', 'on', 'nopass', '~*', '+@all', '-info');
    const warned: string[] = [];
    await using gateway = await startCaching(upstream, {
      persisted: { redisUrl: redis.url.replace('//', '//gateway:any@') },
      log: (_level, message, fields) => void warned.push(JSON.stringify([message, fields])),
    });
    await expect.poll(() => warned.join(), { interval: 5 }).toContain('Redis is up');
    expect([await cachedIn(gateway), await cachedIn(gateway)]).toEqual([0, 0]);
    expect(warned.join()).toContain('Redis failed a command');
  });

  test('keep nothing there for keys that callers have invented', async () => {
    const { redis, upstream, gateway } = await startOneSharing(({ target, headers }) =>
      headers.authorization === 'Bearer other'
        ? project(1, { name: 'Project of other' })
        : refusal(401, 'authentication_failed', `No key for ${target}.`),
    );
    const before = await redis.names();
    for (let index = 0; index < 100; index += 1) {
      const request = { headers: { authorization: `Bearer invented-${index}` } };
      for (const asked of ['{ __typename }', query, '{ __typename }']) await gateway.ask(asked, request);
    }
    expect(upstream.requests).toHaveLength(100);
    expect(await redis.names()).toEqual(before);
    const request = { headers: { authorization: 'Bearer invented' } };
    expect((await gateway.ask(mutation, request)).errors).toHaveLength(1);
    expect(await redis.names()).toEqual(before);
  });

  test('keep the epoch of a key that is used for days, whichever of them has read or written first', async () => {
    const { redis, one, two } = await startTwoSharing();
    const [others = ''] = await redis.names('cache:epoch:*');
    await one.ask(mutation);
    const isKept = async (): Promise<void> => {
      const names = await redis.names('cache:epoch:*');
      const name = names.find((known) => known !== others) ?? '';
      expect(Number(await redis.ask('PTTL', name))).toBeGreaterThan(86_400_000);
    };
    await vi.waitFor(isKept, { timeout: 30_000 });
    expect([await cachedIn(two), await cachedIn(two)]).toEqual([0, 1]);
    await redis.ask('FLUSHALL');
    expect([await cachedIn(two), await cachedIn(two)]).toEqual([0, 1]);
    await vi.waitFor(isKept, { timeout: 30_000 });
    expect(await cachedIn(one)).toBe(1);
  });

  test('refresh by one call for all of them what has become too old', async () => {
    const { redis, upstream, one, two } = await startTwoSharing();
    expect([await cachedIn(one), await cachedIn(two)]).toEqual([0, 1]);
    const staleMs = cacheSettings.staleSeconds * 1000;
    for (const name of await redis.names('cache:answer:*')) await redis.ask('PEXPIRE', name, String(staleMs - 1));
    for (const gateway of [one, two]) {
      gateway.pass(cacheSettings.ttls.projects);
      expect(await staleIn(gateway)).toBe(1);
      await expect.poll(() => staleIn(gateway), { interval: 5 }).toBe(0);
      const longestMs = async (): Promise<number> => {
        const names = await redis.names('cache:answer:*');
        return Math.max(...(await Promise.all(names.map(async (name) => Number(await redis.ask('PTTL', name))))));
      };
      await expect.poll(longestMs).toBeGreaterThan(staleMs);
    }
    expect(upstream.requests).toEqual([read, read]);
  });

  test('read an answer that is too old once, whichever of them are asked meanwhile', async () => {
    let held = Promise.resolve();
    const { redis, upstream, one, two } = await startTwoSharing(async ({ headers }) => {
      await held;
      return project(1, { name: `Project of ${headers.authorization?.slice('Bearer '.length)}` });
    });
    expect([await cachedIn(one), await cachedIn(two)]).toEqual([0, 1]);
    for (const name of await redis.names('cache:answer:*')) await redis.ask('PEXPIRE', name, '1000');
    const { promise, resolve: release } = Promise.withResolvers<undefined>();
    held = promise;
    using watched = await redis.watch();
    const claims = (): number => watched.commands.filter((command) => command.startsWith('set cache:refresh:')).length;
    for (const [index, gateway] of [one, two].entries()) {
      gateway.pass(cacheSettings.ttls.projects);
      expect(await staleIn(gateway)).toBe(1);
      await expect.poll(() => claims(), { interval: 5 }).toBe(index + 1);
    }
    release(undefined);
    for (const gateway of [one, two]) await expect.poll(() => staleIn(gateway), { interval: 5 }).toBe(0);
    expect(upstream.requests).toEqual([read, read]);
  });

  test('ask for no call of the budget and once for the epoch if the cache has all that an operation reads', async () => {
    await using redis = await startRedis();
    await using upstream = await startUpstream(ownName);
    const logged: string[] = [];
    await using gateway = await startCaching(upstream, {
      budget: budgetOf({ rest: '100/600' }),
      persisted: { redisUrl: redis.url },
      log: (_level, message) => logged.push(message),
    });
    await expect.poll(() => logged, { interval: 5 }).toContain('calls are counted in Redis');
    await expect.poll(() => cachedIn(gateway), { interval: 5 }).toBe(1);
    using watched = await redis.watch();
    const scriptsOf = (kind: string): number =>
      watched.commands.filter((command) => command.startsWith('evalsha') && command.includes(` ${kind}:`)).length;
    // The monitor is told what came before the first of these, too.
    await redis.ask('ECHO', 'begin');
    await expect.poll(() => watched.commands, { interval: 5 }).toContain('ECHO begin');
    const heartbeats = scriptsOf('budget');
    const operations = 20;
    for (let count = 0; count < operations; count += 1)
      expect(await gateway.ask(`{ project(id: 1) { name } name${count}: __typename }`)).toMatchObject({ status: 200 });
    await expect.poll(() => scriptsOf('cache'), { interval: 5 }).toBe(operations);
    // One a second is the heartbeat.
    expect(scriptsOf('budget') - heartbeats).toBeLessThan(operations / 4);
    expect(watched.commands.filter((command) => /^(?:get|set|exists|pttl) /.test(command))).toEqual([]);
  });
});
