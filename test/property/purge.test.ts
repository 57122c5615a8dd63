import { expect, test } from 'vitest';
import { createRandom } from '../../workspace/seed/random.ts';
import { cacheSettings } from '../support/cache.ts';
import { inForm, measured, seedOf } from '../support/form.ts';
import { ask, startGateway, type TestGateway } from '../support/gateway.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { project } from '../support/rows.ts';
import { startUpstream } from '../support/upstream.ts';

/** `PURGE_SEED=1 npx vitest run test/property/purge` for a run of before. */
const seed = seedOf('PURGE_SEED');
const steps = inForm(2000, 20_000);
const atATime = 8;

const keys = ['phx_one', 'phx_two'];
const sha256 = async (text: string): Promise<string> =>
  Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(text))).toString('hex');

/**
 * Edits that the gateways know nothing of, purges and reads, several at a time. A read may answer what is older than the last
 * edit, but never what is older than an edit that a purge of its key has followed and ended before the read began. Answers
 * which share of the reads the cache has answered.
 */
async function cachedShareOf(
  gateways: readonly TestGateway[],
  now: { readonly version: () => number; readonly edit: () => void },
) {
  const random = createRandom(seed);
  const below = (bound: number): number => Math.floor(random() * bound);
  const purgedAt = new Map(keys.map((key) => [key, 0]));
  const counts = { reads: 0, cached: 0, purges: 0, edits: 0 };
  const read = async (gateway: TestGateway, key: string): Promise<void> => {
    const floor = purgedAt.get(key) ?? 0;
    const headers = { authorization: `Bearer ${key}` };
    const { body } = await ask(gateway.url, '{ project(id: 1) { name } }', {
      headers,
      extensions: { cost: true },
    });
    expect(Number(/"name":"(\d+)"/.exec(body)?.[1])).toBeGreaterThanOrEqual(floor);
    counts.reads += 1;
    if (body.includes('"cached":1')) counts.cached += 1;
  };
  const purge = async ({ gateway }: TestGateway, all: boolean, key: string): Promise<void> => {
    const version = now.version();
    const purged = await gateway.purge(all ? { all: true } : { keySha256: await sha256(key) });
    expect(purged).toEqual(expect.any(Number));
    for (const one of all ? keys : [key]) purgedAt.set(one, Math.max(purgedAt.get(one) ?? 0, version));
    counts.purges += 1;
  };
  const client = async (): Promise<void> => {
    while (counts.reads + counts.purges + counts.edits < steps) {
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

test('no operation gets what is older than an edit that was purged before it began: one gateway', async () => {
  const edited = await startEdited();
  await using upstream = edited.upstream;
  await using gateway = await startGateway(upstream, { cache: cacheSettings });
  expect(await cachedShareOf([gateway], edited)).toBeGreaterThan(0.1);
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
    expect(await cachedShareOf(gateways, edited)).toBeGreaterThan(0.1);
  },
  600_000,
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
