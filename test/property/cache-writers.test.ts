import { assert, asyncProperty, gen } from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import type { GatewayOptions } from '../../src/gateway.ts';
import { cacheSettings } from '../support/cache.ts';
import { at } from '../support/connections.ts';
import { inForm, measured, seedOf } from '../support/form.ts';
import { ask, startGateway, type TestGateway } from '../support/gateway.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { type Entries, startTenants } from '../support/tenants.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { Random } from './random.ts';
import { countingProjects, SwitchingWriter, type Writer } from './writers.ts';

/** `WRITERS_CASES=600 WRITERS_SEED=1 npx vitest run test/property/cache-writers` for a part of a long run. */
const numRuns = Number(process.env['WRITERS_CASES'] ?? inForm(20, 20_000));
const seed = seedOf('WRITERS_SEED');

const clients = 3;
const stepsOfClient = 6;

/** Two tenants with a key each, and two that share one and reach different projects with it. */
const entries: Entries = {
  acme: { key: 'phx_acme', mutations: true },
  globex: { key: 'phx_globex', mutations: true },
  north: { key: 'phx_shared', projects: ['1', '2'], mutations: true },
  south: { key: 'phx_shared', projects: ['2', '3'], mutations: true },
};

interface Called {
  readonly gateways: readonly TestGateway[];
  readonly writers: readonly Writer[];
}

async function withKeys(upstream: Upstream, options: Partial<GatewayOptions>): Promise<Called> {
  const gateways = [await startGateway(upstream, options), await startGateway(upstream, options)];
  const writers = ['phx_one', 'phx_two'].map((key) => {
    return { key, reach: [1, 2, 3], headers: { authorization: `Bearer ${key}` } };
  });
  return { gateways, writers };
}

/** Two users of each tenant. */
async function withTokens(upstream: Upstream, options: Partial<GatewayOptions>): Promise<Called> {
  const one = await startTenants(upstream, entries, options);
  const gateways = [one, await startTenants(upstream, entries, options)];
  const exp = Math.floor(Date.now() / 1000) + 86_400;
  const users = Object.entries(entries).flatMap(([tenant, { key, projects }]) =>
    ['user-1', 'user-2'].map(async (sub): Promise<Writer> => {
      const headers = await one.headersOf(tenant, { claims: { sub, exp } });
      return { key, reach: projects?.map(Number) ?? [1, 2, 3], headers };
    }),
  );
  return { gateways, writers: await Promise.all(users) };
}

/** Waits until a gateway uses what it shares. */
async function shares({ url }: TestGateway, [writer]: readonly Writer[]): Promise<void> {
  const request = { headers: { ...writer?.headers }, extensions: { cost: true } };
  const use = async (): Promise<void> => {
    const { extensions } = await ask(url, '{ project(id: 1) { name } }', request);
    expect(at(extensions, 'cost', 'cached')).toBe(1);
  };
  await vi.waitFor(use, { timeout: 30_000, interval: 20 });
}

const hit = /^gateway_cache_reads_total\{.*result="(?:hit|stale)"\} (\d+)$/gm;
const reuse = /^gateway_reused_operations_total (\d+)$/gm;

/** The sum of numbers in the metrics of gateways. */
async function sumOf(gateways: readonly TestGateway[], pattern: RegExp): Promise<number> {
  const metrics = await Promise.all(gateways.map(({ gateway }) => gateway.metrics.render()));
  return [...metrics.join('\n').matchAll(pattern)].reduce((sum, [, count]) => sum + Number(count), 0);
}

const modes = [
  { mode: 'forward', start: withKeys },
  { mode: 'jwt', start: withTokens },
];

describe.skipIf(!hasRedis).each(modes)('over two gateways and a Redis, with AUTH=$mode', ({ mode, start }) => {
  test(`no client reads what is not its own, or is older than a write that was answered (seed ${seed})`, async () => {
    let random: Random | undefined;
    await using redis = await startRedis();
    await using upstream = await startUpstream(
      countingProjects(() => random?.number(0, 6) ?? 0),
      { hold: 1 },
    );
    const { gateways, writers } = await start(upstream, { cache: cacheSettings, persisted: { redisUrl: redis.url } });
    for (const gateway of gateways) await shares(gateway, writers);
    const urls = gateways.map(({ url }) => url);
    const answered = new Map<string, number>();
    let told = 0;
    await assert(
      asyncProperty(gen(), async (g) => {
        const choices = new Random(g);
        random = choices;
        const wrong: string[] = [];
        const run = async (): Promise<void> => {
          const client = new SwitchingWriter(urls, choices, choices.pick(writers), answered);
          for (let step = 0; step < stepsOfClient; step += 1) wrong.push(...(await client.step()));
          told += client.told;
        };
        await Promise.all(Array.from({ length: clients }, run));
        expect(wrong).toEqual([]);
        upstream.reset();
      }),
      { numRuns, seed, endOnFailure: true },
    );
    random = undefined;
    const [hits, reused] = [await sumOf(gateways, hit), await sumOf(gateways, reuse)];
    // Otherwise it would say nothing of the cache.
    expect(hits).toBeGreaterThan(told / 50);
    expect(reused).toBeGreaterThan(told / 100);
    const writes = [...answered.values()].reduce((sum, count) => sum + count, 0);
    measured('reads of own writes', { mode, interleavings: numRuns, told, writes, hits, reused });
    await Promise.all(gateways.map((gateway) => gateway[Symbol.asyncDispose]()));
  }, 7_200_000);
});
