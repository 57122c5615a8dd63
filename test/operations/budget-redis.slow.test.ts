import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { connectRedis } from '../../src/redis.ts';
import { createLedger } from '../../src/rest/budget/create-ledger.ts';
import type { WantDecision } from '../../src/rest/ledger.ts';
import { isObject } from '../../src/rest/values.ts';
import { startOver } from '../support/both.ts';
import { budgetOf } from '../support/budgets.ts';
import { inForm } from '../support/form.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { as, codesOf } from '../support/load.ts';
import { metricsOf } from '../support/metrics.ts';
import { runMain } from '../support/process.ts';
import { hasRedis, type RedisServer, startRedis } from '../support/redis.ts';
import { type Routes } from '../support/routes.ts';
import { project } from '../support/rows.ts';
import { askOne, askUntilAnswered, expectLeft, overload, rates, startThrottled } from '../support/throttled.ts';
import { until } from '../support/until.ts';
import { startUpstream } from '../support/upstream.ts';

interface Member extends TestGateway {
  readonly logged: readonly string[];
  /** The reasons for which calls could not be counted in Redis. */
  readonly reasons: readonly unknown[];
}

const warning = 'calls cannot be counted in Redis: this gateway has its part of the budget';

const loss = 'Redis has lost calls that it had counted: this gateway has added its own again';

const counting = 'calls are counted in Redis';

async function startMember(
  upstream: { readonly url: string },
  redisUrl: string,
  rest: string,
  replicas: number,
  operationDeadlineMs = 1500,
): Promise<Member> {
  const logged: string[] = [];
  const reasons: unknown[] = [];
  const gateway = await startGateway(upstream, {
    persisted: { redisUrl },
    budget: budgetOf({ rest }, { replicas }),
    operationDeadlineMs,
    log: (_level, message, fields) => {
      logged.push(message);
      if (message === warning) reasons.push(isObject(fields) ? fields['reason'] : fields);
    },
  });
  return { ...gateway, logged, reasons };
}

async function countedTogether(urls: readonly string[]): Promise<void> {
  for (const url of urls)
    await until(async () => {
      const metrics = await metricsOf({ url });
      return metrics.includes('gateway_budget_mode{mode="redis"} 1');
    });
}

async function nameIn(redis: RedisServer, end: string): Promise<string | undefined> {
  return (await redis.names()).find((name) => name.endsWith(end));
}

const routes: Routes = { 'GET /api/projects/:id/': ({ params }) => project(Number(params['id'])) };

function one(id: number): string {
  return `{ project(id: ${id}) { name } }`;
}

async function read(gateway: Member, ...ids: readonly number[]): Promise<void> {
  for (const id of ids) expect(codesOf(await gateway.ask(one(id)))).toEqual([]);
}

/** Starts for one test a Redis, an upstream, and a member that counts in Redis and to which the key is proven. */
async function startProven(rest: string, replicas: number) {
  const redis = await startRedis();
  onTestFinished(() => redis[Symbol.asyncDispose]());
  const { upstream, gateway } = await startOver(routes, (api) => startMember(api, redis.url, rest, replicas));
  await prove(gateway);
  return { redis, upstream, gateway };
}

/** Starts the same and a second such member. */
async function startTwoProven(rest: string, replicas: number) {
  const { redis, upstream, gateway: first } = await startProven(rest, replicas);
  const second = await startMember(upstream, redis.url, rest, replicas);
  onTestFinished(() => second[Symbol.asyncDispose]());
  await prove(second);
  return { redis, upstream, first, second };
}

async function prove(gateway: Member): Promise<void> {
  await until(() => gateway.logged.includes(counting));
  await read(gateway, 1);
}

/** Waits until these members count in Redis again. */
async function countAgain(...members: readonly Member[]): Promise<void> {
  for (const { logged } of members) await until(() => logged.filter((message) => message === counting).length === 2);
}

describe.skipIf(!hasRedis)('Gateways that count in one Redis', () => {
  test('share one budget, once each of them knows that the key is one', async () => {
    const { upstream, first, second } = await startTwoProven('6/600', 2);
    await read(first, 2, 3);
    await read(second, 4, 5);
    const told = { extensions: { cost: true } };
    for (const gateway of [first, second]) {
      const { status, extensions } = await gateway.ask(one(6), told);
      expect(status).toBe(429);
      expect(extensions).toMatchObject({ cost: { budget: [{ limit: 6, remaining: 0, resetsIn: 600 }] } });
    }
    expect(upstream.requests).toHaveLength(6);
  });

  test('make at most eight calls each with a key that all of them meet at once, before they count together', async () => {
    await using redis = await startRedis();
    await using upstream = await startUpstream(routes);
    const start = (): Promise<Member> => startMember(upstream, redis.url, '20/600', 3);
    await using first = await start();
    await using second = await start();
    await using third = await start();
    const all = [first, second, third];
    for (const { logged } of all) await until(() => logged.includes(counting));
    await Promise.all(all.flatMap((gateway) => Array.from({ length: 20 }, (_, index) => gateway.ask(one(index + 1)))));
    expect(upstream.requests.length).toBeGreaterThanOrEqual(20);
    expect(upstream.requests.length).toBeLessThanOrEqual(20 + 2 * 8);
  });

  test('tell it names that hold hashes only, and neither keys nor users', async () => {
    await using redis = await startRedis();
    await using upstream = await startUpstream(routes, { hold: 0 });
    await using gateway = await startMember(upstream, redis.url, '6/600', 1);
    await until(() => gateway.logged.includes(counting));
    await gateway.ask(one(1), as('phx_secret'));
    await until(async () => (await redis.names()).length === 2);
    const names = await redis.names();
    expect(names.filter((name) => !/^budget:\{[\w-]{43}\}:(?:logs|[\w-]{43}:rest)$/.test(name))).toEqual([]);
    const set = (await nameIn(redis, ':rest')) ?? '';
    const members = await redis.ask('ZRANGE', set, '0', '-1');
    expect(members).toEqual([expect.stringMatching(/^[\w-]{12}1$/)]);
    for (const name of names) expect(Number(await redis.ask('PTTL', name))).toBeGreaterThan(50_000);
    expect(Number(await redis.ask('PTTL', set))).toBeGreaterThan(500_000);
  });

  test('go on at once with their part each while Redis is away, and say so once', async () => {
    const { redis, upstream, gateway } = await startProven('6/600', 2);
    await redis.kill();
    await until(() => gateway.logged.includes(warning));
    await read(gateway, 2, 3);
    expect((await gateway.ask(one(4))).status).toBe(429);
    expect(upstream.requests).toHaveLength(3);
    expect(gateway.logged.filter((message) => message === warning)).toHaveLength(1);
    await redis.restart();
    await countAgain(gateway);
    // Redis is told of the calls that the gateway has counted alone.
    const set = await nameIn(redis, ':rest');
    expect(await redis.ask('ZCOUNT', set ?? '', '0', '+inf')).toBe(3);
  });

  test('go on after Redis was started again without its data, though fewer run than there may be', async () => {
    const { redis, upstream, first, second } = await startTwoProven('8/3600', 3);
    await redis.restart();
    await countAgain(first, second);
    await read(first, 2, 3, 4);
    await read(second, 5, 6, 7);
    for (const gateway of [first, second]) expect((await gateway.ask(one(8))).status).toBe(429);
    expect(upstream.requests).toHaveLength(8);
  });

  test('go on with their part while Redis does not answer, and count together again when it does', async () => {
    const { redis, upstream, gateway } = await startProven('8/600', 2);
    redis.freeze();
    await read(gateway, 2, 3, 4);
    expect(gateway.logged).toContain(warning);
    expect((await gateway.ask(one(5))).status).toBe(429);
    redis.thaw();
    await countAgain(gateway);
    await read(gateway, 5, 6, 7, 8);
    expect((await gateway.ask(one(9))).status).toBe(429);
    expect(upstream.requests).toHaveLength(8);
  });

  test('wait no longer than a window for calls from before the clock of Redis was put back', async () => {
    const { redis, gateway } = await startProven('4/1', 1);
    const set = (await nameIn(redis, ':rest')) ?? '';
    const inAnHour = String(Date.now() + 3_600_000);
    for (const id of ['a', 'b', 'c', 'd']) await redis.ask('ZADD', set, inAnHour, id);
    expect((await gateway.ask(one(2))).status).toBe(200);
    expect(codesOf(await gateway.ask(one(3)))).toEqual([]);
  });

  test('find out that Redis has forgotten everything, add their calls again, and say so', async () => {
    const { redis, upstream, first, second } = await startTwoProven('6/600', 2);
    await read(first, 2);
    await read(second, 3);
    await redis.ask('FLUSHALL');
    for (const { logged } of [first, second]) await until(() => logged.includes(loss));
    await read(first, 4);
    await read(second, 5);
    for (const gateway of [first, second]) expect((await gateway.ask(one(6))).status).toBe(429);
    expect(upstream.requests).toHaveLength(6);
  });

  test('add their calls again if Redis has evicted the counts of one key alone', async () => {
    const { redis, upstream, gateway } = await startProven('4/600', 1);
    await read(gateway, 2, 3);
    await redis.ask('DEL', (await nameIn(redis, ':rest')) ?? '');
    await read(gateway, 4);
    expect((await gateway.ask(one(5))).status).toBe(429);
    expect(gateway.logged).toContain(loss);
    expect(upstream.requests).toHaveLength(4);
  });

  test('all add their calls again once one of them finds that the counts of a key were evicted', async () => {
    const { redis, upstream, first, second } = await startTwoProven('6/600', 2);
    await read(first, 2);
    await read(second, 3);
    await redis.ask('DEL', (await nameIn(redis, ':rest')) ?? '');
    await read(first, 4);
    // It has not called meanwhile.
    await until(() => second.logged.includes(loss));
    await read(first, 5);
    expect((await first.ask(one(6))).status).toBe(429);
    expect(upstream.requests).toHaveLength(6);
  });

  test('take it for no loss that a key has no call there any more', async () => {
    await using redis = await startRedis();
    const connection = connectRedis({ redisUrl: redis.url });
    if (connection === undefined) throw new Error('expected a connection');
    onTestFinished(() => connection.close());
    const settings = budgetOf({ rest: '1/600' }, { scope: 'all' });
    const upstreamUrl = 'http://api.test';
    const ledger = createLedger({ settings, operationDeadlineMs: 1000, upstreamUrl, redis: connection });
    onTestFinished(() => ledger.close?.());
    await until(() => ledger.counting?.().mode === 'redis');
    const account = { key: '', subject: '' };
    const begin = async (id: string): Promise<WantDecision | undefined> => {
      const bySurface = [{ surface: 'rest', ids: [id] }] as const;
      return (await ledger.reserve([{ ...account, isBackground: false, holdsPlaces: false, bySurface }]))[0];
    };
    const eras = async (): Promise<unknown> =>
      redis.ask('ZRANGE', (await nameIn(redis, ':logs')) ?? '', '-1', '-1', 'BYSCORE');
    const before = await eras();
    expect(before).toHaveLength(1);
    expect(await begin('first')).toMatchObject({ kind: 'begin' });
    expect(await nameIn(redis, ':rest')).toBeDefined();
    ledger.end({ ...account, id: 'first', surface: 'rest' }, 'not sent');
    await until(async () => (await nameIn(redis, ':rest')) === undefined);
    expect(await begin('second')).toMatchObject({ kind: 'begin' });
    expect(await nameIn(redis, ':rest')).toBeDefined();
    expect(await eras()).toEqual(before);
  });

  test('add their calls again to a Redis that was filled with other things until it dropped the counts', async () => {
    const { redis, upstream, gateway } = await startProven('4/600', 1);
    await read(gateway, 2, 3);
    const set = (await nameIn(redis, ':rest')) ?? '';
    await redis.ask('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru', 'maxmemory', '4mb');
    for (let filler = 0; (await redis.ask('EXISTS', set)) === 1; filler += 1)
      await redis.ask('SET', `filler ${filler}`, 'x'.repeat(100_000));
    await read(gateway, 4);
    expect((await gateway.ask(one(5))).status).toBe(429);
    expect(upstream.requests).toHaveLength(4);
  });

  test('add what an older file lacks when Redis was started again with it', async () => {
    const { redis, upstream, first, second } = await startTwoProven('6/600', 2);
    await redis.ask('SAVE');
    await read(second, 2, 3);
    await redis.restart();
    await countAgain(first, second);
    await read(first, 4, 5);
    for (const gateway of [first, second]) expect((await gateway.ask(one(6))).status).toBe(429);
    expect(upstream.requests).toHaveLength(6);
  });

  test.each([
    {
      reason: 'NOPERM',
      forbid: (redis: RedisServer) => redis.ask('ACL', 'SETUSER', 'gateway', 'on', 'nopass', '~*', '+@all', '-eval'),
      allow: (redis: RedisServer) => redis.ask('ACL', 'SETUSER', 'gateway', '+eval'),
    },
    {
      reason: 'READONLY',
      forbid: async (redis: RedisServer) => {
        await redis.ask('ACL', 'SETUSER', 'gateway', 'on', 'nopass', '~*', '+@all');
        await redis.ask('CONFIG', 'SET', 'replica-serve-stale-data', 'yes');
        await redis.ask('REPLICAOF', '127.0.0.1', '1');
      },
      allow: (redis: RedisServer) => redis.ask('REPLICAOF', 'NO', 'ONE'),
    },
  ])('say once that Redis does not let them count, with $reason, and go on with their part', async (refusal) => {
    await using redis = await startRedis();
    await using upstream = await startUpstream(routes, { hold: 0 });
    await refusal.forbid(redis);
    const url = redis.url.replace('//', '//gateway:any@');
    await using gateway = await startMember(upstream, url, '6/600', 2);
    await until(() => gateway.reasons.includes(refusal.reason));
    await read(gateway, 1, 2, 3);
    await refusal.allow(redis);
    await until(() => gateway.logged.includes(counting));
    await read(gateway, 4);
    expect(gateway.reasons).toEqual([refusal.reason]);
  });

  test.each([
    { name: 'get not one 429 while Redis is up', isKilled: false, most: 0 },
    // Each of the others at most its part, which is a third of the short window.
    { name: 'get few 429s though Redis is killed and started again', isKilled: true, most: 2 * inForm(6, 20) },
  ])(
    'under three times the load, one of them with workers, $name',
    {
      timeout: inForm(60_000, 900_000),
    },
    async ({ isKilled, most }) => {
      await using redis = await startRedis();
      await using throttled = await startThrottled();
      const start = (): Promise<Member> => startMember(throttled.upstream, redis.url, rates, 3);
      await using first = await start();
      await using second = await start();
      await using third = runMain([], {
        ...{ PORT: '0', WORKERS: '2', LOG_LEVEL: 'warn', UPSTREAM_URL: throttled.upstream.url, REDIS_URL: redis.url },
        ...{ UPSTREAM_BUDGET: `rest=${rates}`, UPSTREAM_BUDGET_REPLICAS: '3', OPERATION_DEADLINE_MS: '1500' },
      });
      const [, url = ''] = await third.printed(/^Gateway +(\S+)/m);
      const urls = [first.url, second.url, url];
      await countedTogether(urls);
      // The last one has two workers.
      for (const each of [...urls, url]) await askOne(each, 1);
      const loading = overload(urls);
      await delay(inForm(1500, 200_000));
      if (isKilled) await redis.kill();
      await delay(inForm(1000, 100_000));
      if (isKilled) await redis.restart();
      const answers = await loading;
      expect(answers.filter(({ status }) => status !== 200 && status !== 429)).toEqual([]);
      expect(throttled.answered(429)).toBeLessThanOrEqual(most);
      expect(throttled.upstream.requests.length).toBeGreaterThan(inForm(20, 60));
      await countedTogether(urls);
      for (const each of urls) expectLeft(await askUntilAnswered(each), throttled, answers);
    },
  );
});
