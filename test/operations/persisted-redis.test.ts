import { afterAll, describe, expect, test } from 'vitest';
import { hashOf } from '../../src/operation/persisted/ids.ts';
import { expectWithin } from '../support/form.ts';
import { key, startGateway, type TestGateway } from '../support/gateway.ts';
import { together } from '../support/load.ts';
import { metricsOf } from '../support/metrics.ts';
import { automatic, outcomeOf, registration, send } from '../support/persisted.ts';
import { hasRedis, type RedisServer, startRedis } from '../support/redis.ts';
import { refusal } from '../support/replies.ts';
import { project } from '../support/rows.ts';
import { authority } from '../support/tls.ts';
import { until } from '../support/until.ts';
import { startUpstream } from '../support/upstream.ts';

if (!hasRedis) console.warn('There is no redis-server on this machine: the tests of the shared store are skipped.');

const accepted = new Set([`Bearer ${key}`, 'Bearer phx_other']);

/** Takes two keys, and refuses all others. */
const upstream = await startUpstream({
  'GET /api/projects/1/': ({ headers }) =>
    accepted.has(headers.authorization ?? '') ? project(1) : refusal(401, 'authentication_failed', 'No.'),
});
afterAll(() => upstream[Symbol.asyncDispose]());

interface LoggingGateway extends TestGateway {
  readonly logged: readonly string[];
  readonly failures: readonly unknown[];
}

async function start(redisUrl: string, redisAuthorities?: string): Promise<LoggingGateway> {
  const logged: string[] = [];
  const failures: unknown[] = [];
  const gateway = await startGateway(upstream, {
    persisted: { redisUrl, redisAuthorities },
    log: (_level, message, facts) => {
      logged.push(message);
      if (message === 'Redis failed a command') failures.push(facts);
    },
  });
  return { ...gateway, logged, failures };
}

/** A gateway that has its connection to Redis, and to which the upstream has shown that it knows the key of the tests. */
async function startConnected(redisUrl: string, redisAuthorities?: string): Promise<LoggingGateway> {
  const gateway = await start(redisUrl, redisAuthorities);
  await until(() => gateway.logged.includes('Redis is up'));
  await prove(gateway, key);
  return gateway;
}

async function prove({ url }: TestGateway, asKey: string): Promise<void> {
  const answer = await send(url, { query: '{ project(id: 1) { name } }' }, { asKey });
  expect(outcomeOf(answer)).toEqual([200, { project: { name: 'Project 1' } }]);
}

/** Registers a document with a field of this name until Redis has it: a busy machine may time commands out. */
async function keepOne(redis: RedisServer, { url }: TestGateway, name: string, asKey = key): Promise<void> {
  const query = `{ ${name}: __typename }`;
  await until(async () => {
    await send(url, registration(query), { asKey });
    return (await redis.ask('GET', `apq:${hashOf(query)}`)) === query;
  });
}

async function failuresOf({ url }: TestGateway): Promise<Readonly<Record<string, number>>> {
  const text = await metricsOf({ url });
  const samples = text.matchAll(/^gateway_redis_failures_total\{command="(\w+)"\} (\d+)$/gm);
  return Object.fromEntries([...samples].map(([, command = '', count]) => [command, Number(count)]));
}

const missed = [200, 'PERSISTED_QUERY_NOT_FOUND'];

/** Asks as a client of automatic persisted queries: with the hash, and after a miss with the text, too. */
async function askAutomatically(url: string, query: string): Promise<readonly [status: number, outcome: unknown]> {
  const first = outcomeOf(await send(url, automatic(hashOf(query))));
  return first[1] === missed[1] ? outcomeOf(await send(url, registration(query))) : first;
}

describe.skipIf(!hasRedis)('Gateways with the same REDIS_URL', () => {
  test('know what clients registered at another, and let it expire', async () => {
    await using redis = await startRedis();
    await using one = await startConnected(redis.url);
    await using two = await startConnected(redis.url);
    const query = '{ shared: __typename }';
    const hash = hashOf(query);
    expect(outcomeOf(await send(two.url, automatic(hash)))).toEqual(missed);
    expect(outcomeOf(await send(one.url, registration(query)))).toEqual([200, { shared: 'Query' }]);
    await until(async () => (await redis.ask('GET', `apq:${hash}`)) === query);
    expect(outcomeOf(await send(two.url, automatic(hash)))).toEqual([200, { shared: 'Query' }]);
    expect(outcomeOf(await send(two.url, { documentId: `sha256:${hash}` }, { method: 'GET' }))).toEqual([
      200,
      { shared: 'Query' },
    ]);
    const seconds = Number(await redis.ask('TTL', `apq:${hash}`));
    expect(seconds).toBeGreaterThan(6 * 24 * 3600);
    expect(seconds).toBeLessThanOrEqual(7 * 24 * 3600);
  });

  test('keep no document there of callers without a key, or with keys that the upstream refuses', async () => {
    await using redis = await startRedis();
    await using one = await startConnected(redis.url);
    await using two = await startConnected(redis.url);
    const query = '{ project(id: 1) { name } flooded: __typename }';
    const texts = Array.from({ length: 60 }, (_, index) => `${query} #${index} ${'x'.repeat(10_000)}`);
    await together(texts.length, 8, async (index) => {
      const text = texts[index] ?? '';
      const wire = { asKey: index % 2 === 0 ? null : `phx_invented_${index}` };
      expect((await send(one.url, registration(text), wire)).data).toMatchObject({ flooded: 'Query' });
      expect((await send(one.url, automatic(hashOf(text)), wire)).data).toMatchObject({ flooded: 'Query' });
    });
    await keepOne(redis, one, 'last');
    // The document, and what is in the room of its caller.
    expect(await redis.ask('DBSIZE')).toBe(2);

    // One that was accepted runs what another caller registered.
    const [text = ''] = texts;
    const hash = hashOf(text);
    expect(outcomeOf(await send(two.url, automatic(hash)))).toEqual(missed);
    const answer = [200, { project: { name: 'Project 1' }, flooded: 'Query' }];
    expect(outcomeOf(await send(one.url, automatic(hash)))).toEqual(answer);
    await until(async () => (await redis.ask('GET', `apq:${hash}`)) === text);
    expect(outcomeOf(await send(two.url, automatic(hash)))).toEqual(answer);
  });

  test('keep what was registered last there, if a caller has registered more than has room', async () => {
    await using redis = await startRedis();
    await using gateway = await startConnected(redis.url);
    await keepOne(redis, gateway, 'first');
    const [room = ''] = await redis.names('apq:room:*');
    expect(Number(await redis.ask('TTL', room))).toBeGreaterThan(6 * 24 * 3600);
    const old = hashOf('{ old: __typename }');
    await redis.ask('SET', `apq:${old}`, 'large');
    await redis.ask('ZADD', room, '1', `${old} ${4 * 2 ** 20}`);
    await redis.ask('ZINCRBY', room, `-${4 * 2 ** 20}`, 'bytes');

    await keepOne(redis, gateway, 'next');
    await until(async () => (await redis.ask('EXISTS', `apq:${old}`)) === 0);
    expect(await redis.names()).toHaveLength(3);
    const kept = await redis.ask('ZRANGE', room, '0', '+inf', 'BYSCORE');
    const sizeOf = (name: string): number => `{ ${name}: __typename }`.length + 200;
    expect(kept).toEqual(['first', 'next'].map((name) => `${hashOf(`{ ${name}: __typename }`)} ${sizeOf(name)}`));
    expect(Number(await redis.ask('ZSCORE', room, 'bytes'))).toBe(-sizeOf('first') - sizeOf('next'));
  });

  test('believe Redis nothing that is not the text of its hash, and replace that by the text', async () => {
    await using redis = await startRedis();
    await using gateway = await startConnected(redis.url);
    const hash = hashOf('{ asked: __typename }');
    await redis.ask('SET', `apq:${hash}`, '{ planted: __typename }');
    expect(outcomeOf(await send(gateway.url, automatic(hash)))).toEqual(missed);
    await redis.ask('DEL', `apq:${hash}`);
    await redis.ask('LPUSH', `apq:${hash}`, 'no text');
    expect(outcomeOf(await send(gateway.url, automatic(hash)))).toEqual(missed);
    await redis.ask('DEL', `apq:${hash}`);
    await redis.ask('SET', `apq:${hash}`, '{ planted: __typename }');
    await keepOne(redis, gateway, 'asked');
  });

  test('fail no operation while Redis is killed and comes back under load, and share again afterwards', async () => {
    await using redis = await startRedis();
    await using one = await startConnected(redis.url);
    await using two = await startConnected(redis.url);
    const failures: unknown[] = [];
    let asked = 0;
    const over = new AbortController();
    const client = async (number: number): Promise<void> => {
      for (let turn = 0; !over.signal.aborted; turn += 1) {
        // Some documents are known already, others are new.
        const name = `a${number}_${turn % 7 === 0 ? turn : turn % 7}`;
        const answer = await askAutomatically((turn + number) % 2 === 0 ? one.url : two.url, `{ ${name}: __typename }`);
        asked += 1;
        if (answer[0] !== 200 || JSON.stringify(answer[1]) !== `{"${name}":"Query"}`) failures.push(answer);
      }
    };
    const clients = Promise.all(Array.from({ length: 16 }, (_, number) => client(number)));
    /** Time enough for every client to have been answered some times. */
    const goOn = async (): Promise<void> => {
      const goal = asked + 100;
      await until(() => asked >= goal);
    };
    try {
      await goOn();
      await redis.kill();
      await goOn();
      await redis.restart();
      await until(() => one.logged.findLast((line) => line.startsWith('Redis')) === 'Redis is up');
      await goOn();
      redis.freeze();
      await goOn();
      redis.thaw();
      await goOn();
    } finally {
      over.abort();
      await clients;
    }
    expect(failures).toEqual([]);
    expect([...one.reported, ...two.reported]).toEqual([]);

    const query = '{ after: __typename }';
    await until(async () => {
      await send(one.url, registration(query));
      return outcomeOf(await send(two.url, automatic(hashOf(query))))[1] !== missed[1];
    });
    expect(one.logged).toEqual(expect.arrayContaining(['Redis is up', 'Redis is down']));
  });

  test('go on reading when Redis is full and refuses to write, say so once, and count it', async () => {
    await using redis = await startRedis();
    await using gateway = await startConnected(redis.url);
    const known = '{ known: __typename }';
    await redis.ask('SET', `apq:${hashOf(known)}`, known);
    await redis.ask('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
    await redis.ask('CONFIG', 'SET', 'maxmemory', '1');
    let turn = 0;
    // More than one: a busy machine may time one out, and then a second passes without any.
    await until(async () => {
      await send(gateway.url, registration(`{ a${turn++}: __typename }`));
      return ((await failuresOf(gateway))['evalsha'] ?? 0) >= 3;
    });
    expect(outcomeOf(await send(gateway.url, automatic(hashOf(known))))).toEqual([200, { known: 'Query' }]);
    expect(gateway.failures.filter((failure) => JSON.stringify(failure).includes('OOM'))).toEqual([
      { command: 'evalsha', reason: 'OOM' },
    ]);
    expect((await failuresOf(gateway))['get']).toBe(0);
  });

  test.each([
    ['may not write', '-set', 'set', { get: 0, set: 1 }],
    ['may not read', '-get', 'get', { get: 1, set: 0 }],
  ])('a user that %s there is told of in the log and in the metrics', async (_what, rule, command, counts) => {
    await using redis = await startRedis();
    await redis.ask('ACL', 'SETUSER', 'app', 'on', '>pass', '~*', '+@all', rule);
    await using gateway = await startConnected(redis.url.replace('//', '//app:pass@'));
    const query = '{ a: __typename }';
    expect(await askAutomatically(gateway.url, query)).toEqual([200, { a: 'Query' }]);
    await until(() => gateway.failures.length > 0);
    expect(gateway.failures).toEqual([{ command, reason: 'NOPERM' }]);
    expect(await failuresOf(gateway)).toMatchObject(counts);
  });

  test('trust a Redis by the authority of REDIS_CA, and none without it', async () => {
    await using redis = await startRedis({ tls: true });
    await using stranger = await start(redis.url);
    await until(() => stranger.logged.includes('Redis is down'));
    await using gateway = await startConnected(redis.url, authority);
    expect(await askAutomatically(gateway.url, '{ a: __typename }')).toEqual([200, { a: 'Query' }]);
    expect(stranger.logged).not.toContain('Redis is up');
  });

  test('wait for a Redis that does not answer only for a moment, and then not at all', async () => {
    await using redis = await startRedis();
    await using gateway = await startConnected(redis.url);
    redis.freeze();
    const times: number[] = [];
    for (let turn = 0; turn < 20; turn += 1) {
      const begin = performance.now();
      expect(outcomeOf(await send(gateway.url, automatic(hashOf(`${turn}`))))).toEqual(missed);
      times.push(performance.now() - begin);
    }
    const [longest = 0] = times;
    expect(longest).toBeGreaterThan(100);
    // One that waited, too, would take as long as the first; a busy machine does not hold up all of them.
    expect(Math.min(...times)).toBeLessThan(longest / 2);
    expectWithin(times.toSorted((a, b) => a - b)[10] ?? longest, longest / 2);
    redis.thaw();
  });
});

test('A Redis that is not there is a miss, and what was registered at a gateway stays known to it', async () => {
  await using gateway = await start('redis://127.0.0.1:1');
  const query = '{ alone: __typename }';
  expect(outcomeOf(await send(gateway.url, automatic(hashOf(query))))).toEqual(missed);
  expect(outcomeOf(await send(gateway.url, registration(query)))).toEqual([200, { alone: 'Query' }]);
  expect(outcomeOf(await send(gateway.url, automatic(hashOf(query))))).toEqual([200, { alone: 'Query' }]);
  expect(gateway.logged).toContain('Redis is down');
  expect(gateway.reported).toEqual([]);
});
