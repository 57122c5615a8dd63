import { expect, test, vi } from 'vitest';
import { hashOf } from '../../src/operation/persisted/ids.ts';
import { isObject } from '../../src/rest/values.ts';
import { budgetOf } from '../support/budgets.ts';
import { cacheSettings } from '../support/cache.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { outcomeOf, registration, send } from '../support/persisted.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { authority } from '../support/tls.ts';

interface LoggingGateway extends TestGateway {
  /** What was logged of Redis: each state once, whatever reasons it has had. */
  readonly states: readonly string[];
}

/** A gateway that has as many connections to Redis as one can have. */
async function start(redisUrl: string, redisAuthorities?: string): Promise<LoggingGateway> {
  const states: string[] = [];
  const gateway = await startGateway(
    { url: 'http://127.0.0.1:1' },
    {
      cache: cacheSettings,
      budget: budgetOf({ rest: '1000/1' }),
      persisted: { redisUrl, redisAuthorities },
      log: (_level, message) => {
        if (message.startsWith('Redis is ') && states.at(-1) !== message) states.push(message);
      },
    },
  );
  return { ...gateway, states };
}

async function expectStates(gateway: LoggingGateway, states: readonly string[]): Promise<void> {
  await vi.waitFor(() => expect(gateway.states).toEqual(states), { timeout: 20_000, interval: 5 });
}

test.skipIf(!hasRedis)('an outage of Redis is logged as one, however many connections to it are lost', async () => {
  await using redis = await startRedis();
  await using gateway = await start(redis.url);
  await expectStates(gateway, ['Redis is up']);
  await redis.kill();
  await expectStates(gateway, ['Redis is up', 'Redis is down']);
  await redis.restart();
  await expectStates(gateway, ['Redis is up', 'Redis is down', 'Redis is up']);
  expect(gateway.reported).toEqual([]);
});

test.skipIf(!hasRedis)('a database that Redis does not have is not replaced by another one', async () => {
  await using redis = await startRedis();
  using watched = await redis.watch();
  await using gateway = await start(`${redis.url}/99`);
  const query = '{ __typename }';
  // Each connection tries again and again.
  await vi.waitFor(
    async () => {
      expect(outcomeOf(await send(gateway.url, registration(query)))[0]).toBe(200);
      expect(watched.commands.filter((command) => command === 'select 99').length).toBeGreaterThan(9);
    },
    { timeout: 20_000, interval: 20 },
  );
  expect(await redis.ask('EXISTS', `apq:${hashOf(query)}`)).toBe(0);
  expect(await redis.ask('DBSIZE')).toBe(0);
  expect(gateway.states).toEqual(['Redis is down']);
});

test.skipIf(!hasRedis)('authorities are no reason to speak TLS with a Redis without it', async () => {
  await using redis = await startRedis();
  await using gateway = await start(redis.url, authority);
  await expectStates(gateway, ['Redis is up']);
  expect(gateway.reported).toEqual([]);
});

test.skipIf(!hasRedis)(
  'metrics and log say that Redis refuses the password, and why the gateway counts by itself',
  async () => {
    await using redis = await startRedis();
    await redis.ask('ACL', 'SETUSER', 'gateway', 'on', '>right', '~*', '+@all');
    const reasons: unknown[] = [];
    await using gateway = await startGateway(
      { url: 'http://127.0.0.1:1' },
      {
        budget: budgetOf({ rest: '1000/1' }),
        persisted: { redisUrl: redis.url.replace('//', '//gateway:wrong@') },
        log: (_level, message, fields) => {
          if (message === 'Redis is down' && isObject(fields)) reasons.push(fields['reason']);
        },
      },
    );
    await vi.waitFor(() => expect(reasons).toContain('WRONGPASS'), { timeout: 20_000 });
    const refused = await gateway.gateway.metrics.render();
    expect(refused).toMatch(/^gateway_redis_up 0$/m);
    expect(refused).toMatch(/^gateway_budget_mode\{mode="local"\} 1$/m);
    await redis.ask('ACL', 'SETUSER', 'gateway', '>wrong');
    await vi.waitFor(
      async () => {
        const counted = await gateway.gateway.metrics.render();
        expect(counted).toMatch(/^gateway_redis_up 1$/m);
        expect(counted).toMatch(/^gateway_budget_mode\{mode="redis"\} 1$/m);
      },
      { timeout: 20_000 },
    );
  },
);
