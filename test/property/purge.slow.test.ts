import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Purge } from '../../src/rest/cache/operator-purge.ts';
import { isObject } from '../../src/rest/values.ts';
import { createRandom } from '../../workspace/seed/random.ts';
import { cacheSettings } from '../support/cache.ts';
import { inForm, measured, seedOf } from '../support/form.ts';
import { freePort } from '../support/free-port.ts';
import { ask, startGateway, type TestGateway } from '../support/gateway.ts';
import { createFolder } from '../support/persisted.ts';
import { runMain } from '../support/process.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { project } from '../support/rows.ts';
import { startUpstream } from '../support/upstream.ts';

/** `PURGE_SEED=1 npx vitest run test/property/purge` for a run of before. */
const seed = seedOf('PURGE_SEED');
const steps = inForm(1000, 20_000);
const stepsOfProcesses = inForm(300, 20_000);
const atATime = 8;

const keys = ['phx_one', 'phx_two'];
const sha256 = async (text: string): Promise<string> =>
  Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(text))).toString('hex');

interface Purgeable {
  readonly url: string;
  readonly purge: Purge;
}

/**
 * Edits that the gateways know nothing of, purges and reads, several at a time. A read may answer what is older than the last
 * edit, but never what is older than an edit that a purge of its key has followed and ended before the read began. Answers
 * which share of the reads the cache has answered.
 */
async function cachedShareOf(
  gateways: readonly Purgeable[],
  now: { readonly version: () => number; readonly edit: () => void },
  most = steps,
) {
  const random = createRandom(seed);
  const below = (bound: number): number => Math.floor(random() * bound);
  const purgedAt = new Map(keys.map((key) => [key, 0]));
  const counts = { reads: 0, cached: 0, purges: 0, edits: 0 };
  const read = async (gateway: Purgeable, key: string): Promise<void> => {
    const floor = purgedAt.get(key) ?? 0;
    // Each time another worker answers.
    const headers = { authorization: `Bearer ${key}`, connection: 'close' };
    const { body } = await ask(gateway.url, '{ project(id: 1) { name } }', {
      headers,
      extensions: { cost: true },
    });
    expect(Number(/"name":"(\d+)"/.exec(body)?.[1])).toBeGreaterThanOrEqual(floor);
    counts.reads += 1;
    if (body.includes('"cached":1')) counts.cached += 1;
  };
  const purge = async (gateway: Purgeable, all: boolean, key: string): Promise<void> => {
    const target = all ? { all: true as const } : { keySha256: await sha256(key) };
    let version = 0;
    // On a busy machine Redis may answer late. The purge then says that it promises nothing, and is asked again.
    const tryOnce = (): ReturnType<Purge> => {
      version = now.version();
      return gateway.purge(target);
    };
    await expect.poll(tryOnce).toEqual(expect.any(Number));
    for (const one of all ? keys : [key]) purgedAt.set(one, Math.max(purgedAt.get(one) ?? 0, version));
    counts.purges += 1;
  };
  const client = async (): Promise<void> => {
    while (counts.reads + counts.purges + counts.edits < most) {
      const [gateway] = gateways.slice(below(gateways.length));
      const [key = ''] = keys.slice(below(keys.length));
      if (gateway === undefined) throw new Error('expected a gateway');
      const draw = below(20);
      if (draw > 3) await read(gateway, key);
      else if (draw > 1) {
        now.edit();
        counts.edits += 1;
      } else await purge(gateway, draw === 0, key);
    }
  };
  await Promise.all(Array.from({ length: atATime }, client));
  measured('purges', { seed, ...counts });
  return counts.cached / counts.reads;
}

async function startEdited() {
  let version = 1;
  const upstream = await startUpstream(
    { 'GET /api/projects/1/': () => project(1, { name: String(version) }) },
    { hold: 0 },
  );
  return { upstream, version: () => version, edit: () => void (version += 1) };
}

function purgeable({ url, gateway }: TestGateway): Purgeable {
  return { url, purge: gateway.purge };
}

test('no operation gets what is older than an edit that was purged before it began: one gateway', async () => {
  const edited = await startEdited();
  await using upstream = edited.upstream;
  await using gateway = await startGateway(upstream, { cache: cacheSettings });
  expect(await cachedShareOf([purgeable(gateway)], edited)).toBeGreaterThan(0.1);
}, 600_000);

test.skipIf(!hasRedis)(
  'the same over four processes and one Redis',
  async () => {
    const edited = await startEdited();
    await using upstream = edited.upstream;
    await using redis = await startRedis();
    const options = { cache: cacheSettings, persisted: { redisUrl: redis.url } };
    await using stack = new AsyncDisposableStack();
    const gateways = await Promise.all(Array.from({ length: 4 }, () => startGateway(upstream, options)));
    for (const gateway of gateways) {
      stack.use(gateway);
      await expect.poll(() => gateway.gateway.purge({ all: true })).toEqual(expect.any(Number));
    }
    expect(await cachedShareOf(gateways.map(purgeable), edited)).toBeGreaterThan(0.1);
  },
  600_000,
);

/** A gateway with two workers, as a process of its own, that operators ask on its other port. */
async function startProcess(
  stack: AsyncDisposableStack,
  settings: Readonly<Record<string, string>>,
): Promise<Purgeable> {
  const token = 'an-operators-token-of-33-letters.';
  const folder = stack.use(createFolder());
  const port = String(await freePort());
  const operators = { METRICS_PORT: port, ADMIN_TOKEN_FILE: folder.write('token', token) };
  const common = { PORT: '0', WORKERS: '2', LOG_LEVEL: 'warn', CACHE_TTL: 'projects=600' };
  const running = stack.use(runMain([], { ...common, ...operators, ...settings }));
  const [, url = ''] = await running.printed(/^Gateway +(\S+)/m);
  const purge: Purge = async (target) => {
    for (;;) {
      const answer = await fetch(`http://127.0.0.1:${port}/admin/cache/purge`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
        body: JSON.stringify(target),
      });
      const body: unknown = await answer.json();
      if (answer.ok && isObject(body)) return Number(body['keys']);
      // Ten a second are taken, and a Redis that was late has promised nothing.
      if (answer.status !== 429 && answer.status !== 503) throw new Error(`expected 200, but got ${answer.status}`);
      await delay(100);
    }
  };
  return { url, purge };
}

test('the same with two workers, and no Redis', async () => {
  const edited = await startEdited();
  await using upstream = edited.upstream;
  await using stack = new AsyncDisposableStack();
  const gateway = await startProcess(stack, { UPSTREAM_URL: upstream.url });
  expect(await cachedShareOf([gateway], edited, stepsOfProcesses)).toBeGreaterThan(0);
}, 1_800_000);

test.skipIf(!hasRedis)(
  'the same over two gateways with two workers each, and one Redis',
  async () => {
    const edited = await startEdited();
    await using upstream = edited.upstream;
    await using redis = await startRedis();
    await using stack = new AsyncDisposableStack();
    const settings = { UPSTREAM_URL: upstream.url, REDIS_URL: redis.url };
    const gateways = await Promise.all([startProcess(stack, settings), startProcess(stack, settings)]);
    expect(await cachedShareOf(gateways, edited, stepsOfProcesses)).toBeGreaterThan(0);
  },
  1_800_000,
);

test.skipIf(!hasRedis)('a Redis that cannot be asked is no success', async () => {
  const edited = await startEdited();
  await using upstream = edited.upstream;
  const redis = await startRedis();
  await using gateway = await startGateway(upstream, { cache: cacheSettings, persisted: { redisUrl: redis.url } });
  const target = { keySha256: await sha256('phx_one') };
  await expect.poll(() => gateway.gateway.purge(target)).toBe(1);
  await redis[Symbol.asyncDispose]();
  expect(await gateway.gateway.purge(target)).toBe('out of reach');
  expect(await gateway.gateway.purge({ all: true })).toBe('out of reach');
});
