import { readFileSync, rmSync } from 'node:fs';
import { Redis } from 'ioredis';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { hashOf } from '../../src/operation/persisted/ids.ts';
import { isObject } from '../../src/rest/values.ts';
import { budgetOf } from '../support/budgets.ts';
import { cacheSettings } from '../support/cache.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { automatic, createFolder, outcomeOf, registration, send } from '../support/persisted.ts';
import { runMain } from '../support/process.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import * as rows from '../support/rows.ts';
import { authority } from '../support/tls.ts';
import { startUpstream } from '../support/upstream.ts';

interface LoggingGateway extends TestGateway {
  /** The states of Redis that were logged, each once, whatever its reasons were. */
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

describe.skipIf(!hasRedis)('Connections to Redis', () => {
  test('an outage of Redis is logged as one, however many connections to it are lost', async () => {
    await using redis = await startRedis();
    await using gateway = await start(redis.url);
    await expectStates(gateway, ['Redis is up']);
    await redis.kill();
    await expectStates(gateway, ['Redis is up', 'Redis is down']);
    await redis.restart();
    await expectStates(gateway, ['Redis is up', 'Redis is down', 'Redis is up']);
    expect(gateway.reported).toEqual([]);
  });

  test('a database that Redis does not have is not replaced by another one', async () => {
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

  test('authorities are no reason to speak TLS with a Redis without it', async () => {
    await using redis = await startRedis();
    await using gateway = await start(redis.url, authority);
    await expectStates(gateway, ['Redis is up']);
    expect(gateway.reported).toEqual([]);
  });

  test('metrics and log say that Redis refuses the password, and why the gateway counts by itself', async () => {
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
  });

  function failuresIn(metrics: string): readonly string[] {
    const samples = metrics.matchAll(/^gateway_redis_failures_total\{command="(\w+)"\} [1-9]/gm);
    return [...samples].map(([, name = '']) => name);
  }

  /** Forbidden commands, each with those that Redis then refuses: a script is refused if a command within it is. */
  const forbidden: readonly [string, readonly string[]][] = [
    ['evalsha', ['evalsha']],
    ['eval', ['eval']],
    ['info', ['evalsha']],
    ['get', ['evalsha', 'get']],
    ['set', ['evalsha', 'set']],
    ['zincrby', ['evalsha']],
    ['pttl', ['pttl']],
  ];

  test.each(forbidden)(
    'metrics and log name the command that is refused if the user may do all but %s',
    async (command, named) => {
      await using redis = await startRedis();
      await redis.ask('ACL', 'SETUSER', 'gateway', 'on', '>right', '~*', '+@all', `-${command}`);
      await using upstream = await startUpstream({ 'GET /api/projects/1/': { body: rows.project(1) } });
      const told: string[] = [];
      await using gateway = await startGateway(upstream, {
        cache: cacheSettings,
        budget: budgetOf({ rest: '1000/1' }),
        persisted: { redisUrl: redis.url.replace('//', '//gateway:right@') },
        log: (_level, message, fields) => {
          if (!isObject(fields) || typeof fields['reason'] !== 'string') return;
          told.push(
            `${message}: ${typeof fields['command'] === 'string' ? fields['command'] : ''} ${fields['reason']}`,
          );
        },
      });
      const countsInRedis = !['evalsha', 'eval', 'info'].includes(command);
      const asksAgain = async (): Promise<string> => {
        const query = `{ project(id: 1) { name } once${told.length}: __typename }`;
        await send(gateway.url, automatic(hashOf(query)));
        await send(gateway.url, registration(query));
        return gateway.gateway.metrics.render();
      };
      await vi.waitFor(
        async () => {
          const metrics = await asksAgain();
          expect(failuresIn(metrics)).toEqual(named);
          expect(metrics).toMatch(
            new RegExp(`^gateway_budget_mode\\{mode="${countsInRedis ? 'redis' : 'local'}"\\} 1$`, 'm'),
          );
          expect(metrics).toMatch(/^gateway_redis_up 1$/m);
        },
        { timeout: 20_000 },
      );
      const lines = named.map((one) => `Redis failed a command: ${one} NOPERM`);
      const local = 'calls cannot be counted in Redis: this gateway has its part of the budget:  NOPERM';
      const expected = countsInRedis ? lines : [local, ...lines];
      expect(told.filter((line) => !line.startsWith('Redis is ')).toSorted()).toEqual(expected.toSorted());
      expect(gateway.reported).toEqual([]);
    },
  );

  /** The ways in which a Redis asks for a password: what a URL has before the host, and how an operator changes the password. */
  const passwordWays: readonly [string, string, (password: string) => readonly [string, ...string[]]][] = [
    ['of all', '', (password) => ['CONFIG', 'SET', 'requirepass', password]],
    [
      'of a user',
      'gateway@',
      (password) => ['ACL', 'SETUSER', 'gateway', 'on', 'resetpass', `>${password}`, '~*', '+@all'],
    ],
  ];

  test.each(passwordWays)(
    'a new password %s in its file is taken at the next connection, and is never logged',
    async (_whose, user, setPassword) => {
      await using redis = await startRedis();
      using folder = createFolder();
      // It stays connected, whatever the password is.
      const operator = new Redis(redis.url);
      onTestFinished(() => operator.disconnect());
      const [command, ...rest] = setPassword('hunter:1%');
      await operator.call(command, ...rest);
      const logged: string[] = [];
      const redisPasswordFile = folder.write('password', 'hunter:1%\n');
      await using gateway = await startGateway(
        { url: 'http://127.0.0.1:1' },
        {
          cache: cacheSettings,
          budget: budgetOf({ rest: '1000/1' }),
          persisted: { redisUrl: redis.url.replace('//', `//${user}`), redisPasswordFile },
          log: (...line) => logged.push(JSON.stringify(line)),
        },
      );
      const expectLogged = (text: string): Promise<void> =>
        vi.waitFor(() => expect(logged.join('\n')).toContain(text), { timeout: 20_000, interval: 5 });
      const isUp = '"Redis is up"';
      await expectLogged(isUp);

      // Between two passwords there may be no file.
      rmSync(redisPasswordFile);
      logged.length = 0;
      await operator.call('CLIENT', 'KILL', 'TYPE', 'normal');
      await expectLogged('"reason":"ENOENT"');
      await expectLogged(isUp);

      logged.length = 0;
      const [again, ...others] = setPassword('hunter:2%');
      await operator.call(again, ...others);
      await operator.call('CLIENT', 'KILL', 'TYPE', 'normal');
      await expectLogged('WRONGPASS');
      expect(logged.join('\n')).not.toContain(isUp);
      folder.write('password', 'hunter:2%\n');
      await expectLogged(isUp);
      await vi.waitFor(
        async () => expect(await gateway.gateway.metrics.render()).toMatch(/^gateway_budget_mode\{mode="redis"\} 1$/m),
        { timeout: 20_000 },
      );
      expect(outcomeOf(await send(gateway.url, registration('{ __typename }')))[0]).toBe(200);
      expect(logged.join('\n')).not.toContain('hunter');
      expect(gateway.reported).toEqual([]);
    },
  );

  test('the first process and all workers take the password from its file', async () => {
    await using redis = await startRedis();
    using folder = createFolder();
    const operator = new Redis(redis.url);
    onTestFinished(() => operator.disconnect());
    await operator.call('CONFIG', 'SET', 'requirepass', 'hunter1');
    const budget = { UPSTREAM_BUDGET: 'rest=1000/1', UPSTREAM_BUDGET_REPLICAS: '1' };
    await using gateway = runMain([], {
      ...{ PORT: '0', WORKSPACE_PORT: '0', STOP_DELAY_MS: '0', WORKERS: '2', CACHE_TTL: 'projects=10', ...budget },
      ...{ REDIS_URL: redis.url, REDIS_PASSWORD_FILE: folder.write('password', 'hunter1') },
    });
    // The first process counts; each worker has documents and a cache.
    await vi.waitFor(() => expect(gateway.output().match(/Redis is up/g)).toHaveLength(3), { timeout: 50_000 });
    expect(gateway.output()).not.toMatch(/hunter|NOAUTH|WRONGPASS/);
  });

  test('a user with the commands that the documentation names may do all that gateways do', async () => {
    const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
    const [, rules = ''] =
      /needs these permissions:\n\n```\n([^]*?)\. Everything that the gateway writes/.exec(page) ?? [];
    const named = rules.match(/[+~][\w*:|]+/g) ?? [];
    expect(named.length).toBeGreaterThan(20);
    await using redis = await startRedis();
    const outsideOfClusters = named.filter((rule) => !rule.startsWith('+cluster'));
    await redis.ask('ACL', 'SETUSER', 'gateway', 'on', '>right', ...outsideOfClusters);
    await using upstream = await startUpstream({ 'GET /api/projects/1/': { body: rows.project(1) } });
    const told: unknown[] = [];
    const startMember = (): Promise<TestGateway> =>
      startGateway(upstream, {
        cache: cacheSettings,
        budget: budgetOf({ rest: '1000/1' }),
        persisted: { redisUrl: redis.url.replace('//', '//gateway:right@') },
        log: (level, ...line) => {
          if (level !== 'info') told.push(line);
        },
      });
    await using first = await startMember();
    await using second = await startMember();
    const query = '{ project(id: 1) { name } }';
    await vi.waitFor(
      async () => {
        await send(first.url, registration(query));
        expect(outcomeOf(await send(second.url, automatic(hashOf(query))))[0]).toBe(200);
        const { extensions } = await second.ask(query, { extensions: { cost: true } });
        expect(extensions?.['cost']).toMatchObject({ cached: 1 });
        for (const { gateway } of [first, second])
          expect(await gateway.metrics.render()).toMatch(/^gateway_budget_mode\{mode="redis"\} 1$/m);
      },
      { timeout: 20_000 },
    );
    // A busy machine may let Redis be late. That is no lack of a permission.
    expect(told.filter((line) => !JSON.stringify(line).includes('no answer within'))).toEqual([]);
  });

  test('nothing but lines of the log is printed of a Redis that refuses commands', async () => {
    await using redis = await startRedis();
    await redis.ask('ACL', 'SETUSER', 'gateway', 'on', '>right', '~*', '+@all', '-info');
    await using gateway = runMain([], {
      ...{ PORT: '0', UPSTREAM_URL: 'http://127.0.0.1:1', CACHE_TTL: 'projects=10', UPSTREAM_BUDGET: 'rest=10/1' },
      ...{
        UPSTREAM_BUDGET_REPLICAS: '1',
        REDIS_URL: redis.url.replace('//', '//gateway:right@'),
        NODE_ENV: 'production',
      },
    });
    await vi.waitFor(() => expect(gateway.output()).toContain('calls cannot be counted in Redis'), { timeout: 50_000 });
    const lines = gateway.output().split('\n').filter(Boolean);
    expect(lines.filter((line) => !line.startsWith('{'))).toEqual([]);
  });
});
