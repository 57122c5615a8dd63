import { expect, test } from 'vitest';
import { ApiError } from '../../workspace/errors.ts';
import { createThrottle } from '../../workspace/throttle.ts';
import { demoKeys } from '../../workspace/workspace.ts';
import { membersOf, refusal, resultsOf, startClient } from './client.ts';

test('latency makes every answer late', async () => {
  await using client = await startClient({ latencyMs: 60 });
  const start = performance.now();
  await client.read('/api/projects/');
  expect(performance.now() - start).toBeGreaterThan(55);
});

test('an error rate of a quarter fails every fourth request', async () => {
  await using client = await startClient({ errorRate: 0.25 });
  const statuses: number[] = [];
  for (let count = 0; count < 8; count += 1) statuses.push((await client.send('GET', '/api/projects/')).status);
  expect(statuses).toEqual([200, 200, 200, 503, 200, 200, 200, 503]);
});

test('an error rate of 1 fails every request, in the error format', async () => {
  await using client = await startClient({ errorRate: 1 });
  const { status, body } = await client.send('POST', '/api/projects/', { name: 'x' });
  expect(status).toBe(503);
  expect(body).toEqual(refusal('server_error', 'error', null, expect.any(String)));
});

test('a page cap shortens pages, and next still walks the whole list', async () => {
  await using client = await startClient({ pageCap: 2 });
  const page = membersOf(await client.read('/api/projects/?limit=50'));
  expect(resultsOf(page)).toHaveLength(2);
  expect(page.next).toBe(`${client.url}/api/projects/?limit=2&offset=2`);
  expect(resultsOf(await client.read('/api/projects/1/events/'))).toHaveLength(2);
});

test('requests beyond a rate of a key are told when to come back, other keys and surfaces are not', async () => {
  const minute = 60_000;
  const rates = { rest: [{ limit: 2, ms: minute }], events: [{ limit: 1, ms: minute }] };
  await using client = await startClient({ rates });
  await client.read('/api/projects/');
  await client.read('/api/projects/1/');
  const { status, body, headers } = await client.send('GET', '/api/organizations/@current/plugins/');
  expect(status).toBe(429);
  expect(body).toEqual(refusal('throttled_error', 'throttled', null, expect.any(String)));
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(50);
  expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(60);
  const other = await client.send('GET', '/api/projects/', undefined, { authorization: `Bearer ${demoKeys[1]}` });
  expect(other.status).toBe(200);
  await client.read('/api/projects/1/events/values/?key=plan');
  await client.read('/api/projects/1/events/?limit=1');
  expect((await client.send('GET', '/api/projects/1/events/?limit=1')).status).toBe(429);
});

test('a rate holds for any span of its length, and what was refused does not count', () => {
  let now = 0;
  const rates = [
    { limit: 2, ms: 1000 },
    { limit: 3, ms: 60_000 },
  ];
  const throttle = createThrottle({ rest: rates }, () => now);
  const statusAt = (time: number): number => {
    now = time;
    try {
      throttle('key', 'rest');
      return 200;
    } catch (error) {
      return error instanceof ApiError ? error.status : 500;
    }
  };
  const times = [0, 900, 950, 999, 1000, 2500, 60_000, 60_900, 61_000];
  expect(times.map(statusAt)).toEqual([200, 200, 429, 429, 200, 429, 200, 200, 200]);
});
