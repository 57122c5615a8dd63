import { expect, onTestFinished } from 'vitest';
import type { GatewayOptions } from '../../src/gateway.ts';
import { isObject } from '../../src/rest/values.ts';
import { startOver } from './both.ts';
import { type CachingGateway, startCaching } from './cache.ts';
import { key, type TestGateway } from './gateway.ts';
import { type RedisServer, startRedis } from './redis.ts';
import { type Handler, type Routes } from './routes.ts';
import { project } from './rows.ts';
import { type Upstream } from './upstream.ts';

/** A read. */
export const query = '{ project(id: 1) { name } }';
/** The REST call of the query. */
export const read = 'GET /api/projects/1/';
/** The REST call of the mutation. */
export const write = 'PATCH /api/projects/1/';
/** A write. */
export const mutation = 'mutation { updateProject(input: { id: 1, name: "New" }) { project { id } } }';

/** A gateway that shares its cache over Redis. */
export interface SharingGateway extends CachingGateway {
  readonly warned: readonly string[];
}

/** A gateway that uses what it shares. */
export async function startSharing(
  upstream: Upstream,
  { url }: RedisServer,
  options: Partial<GatewayOptions> = {},
): Promise<SharingGateway> {
  const logged: string[] = [];
  const warned: string[] = [];
  const gateway = await startCaching(upstream, {
    ...options,
    persisted: { redisUrl: url },
    log: (level, message, fields) => {
      logged.push(message);
      if (level !== 'info') warned.push(JSON.stringify([message, fields]));
    },
  });
  await expect.poll(() => logged, { interval: 5 }).toContain('Redis is up');
  await expect.poll(() => cachedIn(gateway, 'other'), { interval: 5 }).toBe(1);
  // Only a key that the upstream takes has an epoch in Redis.
  await gateway.ask(query, { headers: { authorization: `Bearer ${key}`, 'cache-control': 'no-store' } });
  upstream.reset();
  return { ...gateway, warned };
}

/** Starts a Redis, an upstream and one gateway that uses both, for one test: all stop when it has ended. */
export async function startOneSharing(routes: Routes | Handler = ownName, options: Partial<GatewayOptions> = {}) {
  const redis = await startRedis();
  onTestFinished(() => redis[Symbol.asyncDispose]());
  const both = await startOver(routes, (upstream) => startSharing(upstream, redis, options));
  return { redis, ...both };
}

/** Starts the same with two gateways, each with options of its own. */
export async function startTwoSharing(
  routes: Routes | Handler = ownName,
  ofOne: Partial<GatewayOptions> = {},
  ofTwo: Partial<GatewayOptions> = {},
) {
  const { redis, upstream, gateway: one } = await startOneSharing(routes, ofOne);
  const two = await startSharing(upstream, redis, ofTwo);
  onTestFinished(() => two[Symbol.asyncDispose]());
  return { redis, upstream, one, two };
}

/** The number of reads of the query that the cache answers for a key. */
export async function cachedIn(gateway: TestGateway, of = key): Promise<unknown> {
  const request = { headers: { authorization: `Bearer ${of}` }, extensions: { cost: true } };
  const answer = await gateway.ask(query, request);
  expect(answer).toMatchObject({ data: { project: { name: `Project of ${of}` } } });
  const cost = answer.extensions?.['cost'];
  return isObject(cost) ? cost['cached'] : cost;
}

/** Answers with one project, whose name tells the key. */
export const ownName: Handler = ({ headers }) =>
  project(1, { name: `Project of ${headers.authorization?.slice('Bearer '.length)}` });
