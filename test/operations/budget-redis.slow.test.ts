import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { budgetOf } from '../support/budgets.ts';
import { inForm } from '../support/form.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { as, codesOf } from '../support/load.ts';
import { runMain } from '../support/process.ts';
import { hasRedis, type RedisServer, startRedis } from '../support/redis.ts';
import { project } from '../support/rows.ts';
import { askOne, askUntilAnswered, expectLeft, overload, rates, startThrottled } from '../support/throttled.ts';
import { until } from '../support/until.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

interface Member extends TestGateway {
  readonly logged: readonly string[];
}

const warning = 'calls cannot be counted in Redis: a window later this gateway goes on with its part of the budget';

async function startMember(
  upstream: { readonly url: string },
  redisUrl: string,
  rest: string,
  replicas: number,
  operationDeadlineMs = 1500,
): Promise<Member> {
  const logged: string[] = [];
  const gateway = await startGateway(upstream, {
    persisted: { redisUrl },
    budget: budgetOf({ rest }, { replicas }),
    operationDeadlineMs,
    log: (_level, message) => void logged.push(message),
  });
  return { ...gateway, logged };
}

/** Waits until so many gateways have told Redis their calls. */
async function joined(redis: RedisServer, count: number): Promise<void> {
  await until(async () => {
    const name = await nameIn(redis, ':gateways');
    return name !== undefined && (await redis.ask('SCARD', name)) === count;
  });
}

async function namesIn(redis: RedisServer): Promise<readonly string[]> {
  const names = await redis.ask('KEYS', '*');
  return Array.isArray(names) ? names.map(String).toSorted() : [];
}

async function nameIn(redis: RedisServer, end: string): Promise<string | undefined> {
  return (await namesIn(redis)).find((name) => name.endsWith(end));
}

async function startProjects(): Promise<Upstream> {
  const upstream = await startUpstream({ 'GET /api/projects/:id/': ({ params }) => project(Number(params['id'])) });
  upstream.release();
  return upstream;
}

function one(id: number): string {
  return `{ project(id: ${id}) { name } }`;
}

/** Reads projects by their ids, one after the other; each of them has to be answered. */
async function read(gateway: Member, ...ids: readonly number[]): Promise<void> {
  for (const id of ids) expect(codesOf(await gateway.ask(one(id)))).toEqual([]);
}

/** Waits until all of these gateways are known to Redis, and each knows that the key is one. */
async function proven(redis: RedisServer, ...gateways: readonly Member[]): Promise<void> {
  await joined(redis, gateways.length);
  for (const gateway of gateways) await read(gateway, 1);
}

describe.skipIf(!hasRedis)('Gateways that count in one Redis', () => {
  test('share one budget, once each of them knows that the key is one', async () => {
    await using redis = await startRedis();
    await using upstream = await startProjects();
    await using first = await startMember(upstream, redis.url, '6/600', 2);
    await using second = await startMember(upstream, redis.url, '6/600', 2);
    await proven(redis, first, second);
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

  test('tell it names that hold hashes only, and neither keys nor users', async () => {
    await using redis = await startRedis();
    await using upstream = await startProjects();
    await using gateway = await startMember(upstream, redis.url, '6/600', 1);
    await joined(redis, 1);
    await gateway.ask(one(1), as('phx_secret'));
    await until(async () => (await namesIn(redis)).length === 3);
    const names = await namesIn(redis);
    expect(names.filter((name) => !/^budget:[\w-]{43}:(?:born|gateways|rest)$/.test(name))).toEqual([]);
    const set = (await nameIn(redis, ':rest')) ?? '';
    const members = await redis.ask('ZRANGE', set, '0', '-1');
    expect(members).toEqual([expect.stringMatching(/^[\w-]{12}1$/)]);
    expect(Number(await redis.ask('PTTL', set))).toBeGreaterThan(500_000);
  });

  test('have their part each while Redis is away, once a window has passed, and say so once', async () => {
    await using redis = await startRedis();
    await using upstream = await startProjects();
    await using gateway = await startMember(upstream, redis.url, '4/1', 2, 5000);
    await proven(redis, gateway);
    await redis.kill();
    await until(() => gateway.logged.includes(warning));
    const lostAt = performance.now();
    const answers = await Promise.all([2, 3, 4].map((id) => gateway.ask(one(id))));
    expect(answers.flatMap(codesOf)).toEqual([]);
    // Two of them a window after the loss, the third one a further window later.
    expect(performance.now() - lostAt).toBeGreaterThan(1900);
    expect(upstream.requests).toHaveLength(4);
    expect(gateway.logged.filter((message) => message === warning)).toHaveLength(1);
    await redis.restart();
    await until(() => gateway.logged.includes('calls are counted in Redis again'));
    const set = await nameIn(redis, ':rest');
    // What it has called alone is told.
    expect(Number(await redis.ask('ZCARD', set ?? ''))).toBeGreaterThanOrEqual(1);
  });

  test('wait no longer than a window for calls from before the clock of Redis was put back', async () => {
    await using redis = await startRedis();
    await using upstream = await startProjects();
    await using gateway = await startMember(upstream, redis.url, '4/1', 1);
    await proven(redis, gateway);
    const set = (await nameIn(redis, ':rest')) ?? '';
    const inAnHour = String(Date.now() + 3_600_000);
    for (const id of ['a', 'b', 'c', 'd']) await redis.ask('ZADD', set, inAnHour, id);
    expect((await gateway.ask(one(2))).status).toBe(200);
    expect(codesOf(await gateway.ask(one(3)))).toEqual([]);
  });

  test('find out that Redis has forgotten everything, and send it their calls anew', async () => {
    await using redis = await startRedis();
    await using upstream = await startProjects();
    await using gateway = await startMember(upstream, redis.url, '4/600', 1);
    await proven(redis, gateway);
    await read(gateway, 2, 3);
    await redis.ask('FLUSHALL');
    await gateway.ask(one(4));
    await joined(redis, 1);
    const codes = async (id: number): Promise<readonly unknown[]> => codesOf(await gateway.ask(one(id)));
    await until(async () => (await codes(4)).length === 0);
    expect(await codes(5)).toEqual(['RATE_LIMITED']);
    expect(upstream.requests).toHaveLength(4);
  });

  test('do not believe a Redis that was started again with an older file until all have sent it their calls', async () => {
    await using redis = await startRedis();
    await using upstream = await startProjects();
    await using first = await startMember(upstream, redis.url, '6/600', 2);
    {
      await using second = await startMember(upstream, redis.url, '6/600', 2);
      await proven(redis, first, second);
      await redis.ask('SAVE');
      await read(second, 2, 3);
    }
    await redis.restart();
    await until(() => first.logged.includes('calls are counted in Redis again'));
    // The file has none of the last two calls, but says that both gateways have told theirs.
    expect((await first.ask(one(4))).status).toBe(429);
    expect(upstream.requests).toHaveLength(4);
    await using third = await startMember(upstream, redis.url, '6/600', 2);
    await joined(redis, 2);
    await read(first, 4);
    expect(third.reported).toEqual([]);
  });

  test('go on with a Redis that may not be asked which of its processes it is, and say so once', async () => {
    await using redis = await startRedis();
    await using upstream = await startProjects();
    await redis.ask('ACL', 'SETUSER', 'gateway', 'on', 'nopass', '~*', '+@all', '-info');
    await using gateway = await startMember(upstream, redis.url.replace('//', '//gateway:any@'), '6/600', 1);
    await joined(redis, 1);
    const told = { extensions: { cost: true } };
    const { extensions } = await gateway.ask(one(1), told);
    await redis.ask('FLUSHALL');
    await gateway.ask(one(2));
    await joined(redis, 1);
    expect(extensions).toMatchObject({ cost: { budget: [{ limit: 6, remaining: 5 }] } });
    expect(gateway.logged.filter((message) => message.startsWith('Redis may lose calls unnoticed'))).toHaveLength(1);
  });

  test('get not one 429 under three times the load, one of them with workers, though Redis is killed and started again', {
    timeout: inForm(60_000, 900_000),
  }, async () => {
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
    await joined(redis, 3);
    for (const each of urls) await askOne(each, 1);
    const loading = overload(urls);
    await delay(inForm(1500, 200_000));
    await redis.kill();
    await delay(inForm(1000, 100_000));
    await redis.restart();
    const answers = await loading;
    expect(answers.filter(({ status }) => status !== 200 && status !== 429)).toEqual([]);
    expect(throttled.answered(429)).toBe(0);
    expect(throttled.upstream.requests.length).toBeGreaterThan(inForm(20, 60));
    await joined(redis, 3);
    for (const each of urls) expectLeft(await askUntilAnswered(each), throttled, answers);
  });
});
