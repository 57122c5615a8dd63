import { describe, expect, test, vi } from 'vitest';
import { mutation, ownName, query, read, startOneSharing, startTwoSharing, write } from '../support/cache-redis.ts';
import { key, type TestGateway } from '../support/gateway.ts';
import { as } from '../support/load.ts';
import { hasRedis, type RedisServer, startRedis } from '../support/redis.ts';
import { type Json, refusal, reply } from '../support/replies.ts';
import { project } from '../support/rows.ts';

/** Takes from a Redis what it has been told since now, once that is called. */
type Lose = (redis: RedisServer, copy: RedisServer) => Promise<() => Promise<void>>;

async function becomeReplica(redis: RedisServer, of: RedisServer): Promise<void> {
  await redis.ask('REPLICAOF', '127.0.0.1', new URL(of.url).port);
  const isLinked = async (): Promise<string> => String(await redis.ask('INFO', 'replication'));
  await expect.poll(isLinked, { interval: 20, timeout: 30_000 }).toContain('master_link_status:up');
}

const losses: readonly (readonly [string, Lose])[] = [
  ['has forgotten all', async (redis) => async () => void (await redis.ask('FLUSHALL'))],
  [
    'has restored a file from before it',
    async (redis) => {
      await redis.ask('SAVE');
      return () => redis.restart();
    },
  ],
  [
    'is a primary again after it was the replica of one that did not know of it',
    async (redis, copy) => {
      await becomeReplica(copy, redis);
      await copy.ask('REPLICAOF', 'NO', 'ONE');
      return async () => {
        await becomeReplica(redis, copy);
        await redis.ask('REPLICAOF', 'NO', 'ONE');
      };
    },
  ],
];

/** Answers of the upstream after which the gateway must use no earlier answer any more. */
const ends = [
  ['403', refusal(403, 'permission_denied', 'Not yours.')],
  ['404', refusal(404, 'not_found', 'Not found.')],
  ['no-store', reply({ body: project(1), headers: { 'cache-control': 'no-store' } })],
] as const;

describe.skipIf(!hasRedis)('gateways with one Redis', () => {
  test('use nothing from before a write that Redis was not told of, while it does not answer and after that', async () => {
    let name = 'Project of other';
    const answer = (): Json => project(1, { name });
    const { redis, gateway } = await startOneSharing({ [read]: answer, [write]: answer });
    const ask = async (): Promise<unknown> => (await gateway.ask(query)).data;
    for (const _ of [1, 2]) await ask();
    redis.freeze();
    name = 'New';
    expect((await gateway.ask(mutation)).errors).toBeUndefined();
    expect(await ask()).toEqual({ project: { name } });
    redis.thaw();
    for (const _ of [1, 2, 3]) expect(await ask()).toEqual({ project: { name } });
  });

  test('use nothing that one of them has read before another one has written, though the key was new to all', async () => {
    const held = Promise.withResolvers<void>();
    const asNew = as('new');
    let name = 'Old';
    const { upstream, one, two } = await startTwoSharing({
      [read]: async ({ headers }) => {
        if (headers.authorization !== 'Bearer new') return project(1, { name: 'Project of other' });
        const found = name;
        await held.promise;
        return project(1, { name: found });
      },
      [write]: () => {
        name = 'New';
        return project(1, { name });
      },
    });
    const reading = one.ask(query, asNew);
    await expect.poll(() => upstream.requests).toEqual([read]);
    await two.ask(mutation, asNew);
    held.resolve();
    expect((await reading).data).toEqual({ project: { name: 'Old' } });
    for (const gateway of [one, two])
      expect((await gateway.ask(query, asNew)).data).toEqual({ project: { name: 'New' } });
  });

  test('let a write wait no longer than a read for a Redis that does not answer', async () => {
    const { redis, upstream, gateway } = await startOneSharing(ownName, { operationDeadlineMs: 20_000 });
    redis.freeze();
    const startedAt = performance.now();
    expect((await gateway.ask(mutation)).errors).toBeUndefined();
    // More than ten times as long as it takes.
    expect(performance.now() - startedAt).toBeLessThan(2500);
    expect(upstream.requests).toEqual([write]);
  });

  test.each(losses)('are given nothing from before a write once Redis %s', async (_how, lose) => {
    await using copy = await startRedis();
    let name = 'Project of other';
    const answer = (): Json => project(1, { name });
    const { redis, upstream, one, two } = await startTwoSharing({ [read]: answer, [write]: answer });
    const ask = async (gateway: TestGateway): Promise<unknown> => (await gateway.ask(query)).data;
    for (const gateway of [one, two, one, two]) await ask(gateway);
    const loseAll = await lose(redis, copy);
    name = 'New';
    await one.ask(mutation);
    await loseAll();
    for (const gateway of [one, two, one, two]) expect(await ask(gateway)).toEqual({ project: { name } });
    const isCached = async (): Promise<void> => {
      for (const gateway of [one, two, one, two]) expect(await ask(gateway)).toEqual({ project: { name } });
      const made = upstream.requests.length;
      await ask(two);
      expect(upstream.requests).toHaveLength(made);
    };
    await vi.waitFor(isCached, { timeout: 30_000, interval: 20 });
  });

  test('are given nothing that was read before a write, though Redis has forgotten all while it was read', async () => {
    let name = 'Project of other';
    let held = Promise.resolve();
    const { redis, upstream, one, two } = await startTwoSharing({
      [read]: async () => {
        const found = name;
        await held;
        return project(1, { name: found });
      },
      [write]: () => {
        name = 'New';
        return project(1, { name });
      },
    });
    for (const forgets of [1, 2]) {
      await redis.ask('FLUSHALL');
      name = `Old ${forgets}`;
      const { promise, resolve: release } = Promise.withResolvers<void>();
      held = promise;
      const reading = one.ask(query);
      await expect.poll(() => upstream.requests.at(-1)).toBe(read);
      await two.ask(mutation);
      await redis.ask('FLUSHALL');
      release();
      expect((await reading).data).toEqual({ project: { name: `Old ${forgets}` } });
      for (const gateway of [one, two, one, two])
        expect((await gateway.ask(query)).data).toEqual({ project: { name: 'New' } });
      upstream.reset();
    }
  });

  test.each(ends)('end the use of an answer everywhere once one of them is told %s for it', async (_what, answer) => {
    let isGone = false;
    const { upstream, one, two } = await startTwoSharing({
      [read]: () => (isGone ? answer : project(1, { name: 'Project of other' })),
    });
    for (const gateway of [one, two, one, two]) await gateway.ask(query);
    expect(upstream.requests).toEqual([read]);
    isGone = true;
    await one.ask(query, { headers: { authorization: `Bearer ${key}`, 'cache-control': 'no-cache' } });
    await two.ask(query);
    expect(upstream.requests).toEqual([read, read, read]);
  });

  test('keep what they have when a caller asks for what was never there', async () => {
    const { upstream, gateway } = await startOneSharing(({ path }) =>
      path.endsWith('/1/') ? project(1, { name: 'Project of other' }) : refusal(404, 'not_found', 'Not found.'),
    );
    await gateway.ask(query);
    for (const id of [7, 8, 9]) await gateway.ask(`{ project(id: ${id}) { name } }`);
    await gateway.ask(query);
    expect(upstream.requests.filter((request) => request === read)).toHaveLength(1);
  });
});
