import { expect, test } from 'vitest';
import { cacheSettings, startBothCaching } from '../support/cache.ts';
import { startGateway } from '../support/gateway.ts';
import { GrowingEvents, quick, subscribe } from '../support/live.ts';
import { metricsOf } from '../support/metrics.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { refusal } from '../support/replies.ts';
import { project } from '../support/rows.ts';
import { startUpstream } from '../support/upstream.ts';

/** Polls name a latest moment, other reads of these tests do not. */
const isPoll = (request: string): boolean => request.includes('before=');
const name = '{ project(id: 1) { name } }';

test('polls are neither answered by the cache, nor kept there, nor counted as reads of it', async () => {
  const events = new GrowingEvents();
  const { upstream, gateway } = await startBothCaching({ 'GET /api/projects/1/events/': events.list }, { live: quick });
  const page = '{ project(id: 1) { events(first: 100) { nodes { event } } } }';
  await gateway.ask(page);
  await using heard = await subscribe(gateway.url);
  const polls = (): number => upstream.requests.filter(isPoll).length;
  await expect.poll(polls).toBeGreaterThan(3);
  events.add(1, '2024-05-01T10:00:00Z');
  await heard.until(() => heard.ids().length === 1);
  expect((await gateway.ask(page)).data).toEqual({ project: { events: { nodes: [] } } });
  const metrics = await metricsOf(gateway);
  expect(metrics).toContain('gateway_cache_reads_total{noun="events",result="miss"} 1\n');
  expect(metrics).toContain('gateway_cache_reads_total{noun="events",result="bypass"} 0\n');
});

test.skipIf(!hasRedis)(
  'a poll that the upstream answers with 401 ends the use of all that the key has read, everywhere',
  async () => {
    const events = new GrowingEvents();
    let isRevoked = false;
    const unlessRevoked =
      (answer: GrowingEvents['list']): GrowingEvents['list'] =>
      (request) =>
        isRevoked ? refusal(401, 'authentication_failed', 'No.') : answer(request);
    await using redis = await startRedis();
    await using upstream = await startUpstream({
      'GET /api/projects/1/events/': unlessRevoked(events.list),
      'GET /api/projects/1/': unlessRevoked(() => project(1)),
    });
    const options = { cache: cacheSettings, persisted: { redisUrl: redis.url } };
    await using following = await startGateway(upstream, { ...options, live: quick });
    await using other = await startGateway(upstream, options);
    const cached = async (): Promise<unknown> => (await other.ask(name, { extensions: { cost: true } })).extensions;
    await expect.poll(cached).toMatchObject({ cost: { cached: 1 } });
    await using heard = await subscribe(following.url);
    await expect.poll(() => upstream.requests.some(isPoll)).toBe(true);
    isRevoked = true;
    await heard.until(() => heard.ended !== undefined);
    await expect
      .poll(async () => (await other.ask(name)).errors)
      .toMatchObject([{ extensions: { code: 'UNAUTHENTICATED' } }]);
  },
);
