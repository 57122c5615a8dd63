import { expect, test } from 'vitest';
import { demoKeys } from '../../src/workspace/workspace.ts';
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

test('requests beyond the limit of a key are told when to come back, other keys are not', async () => {
  await using client = await startClient({ requestsPerMinute: 2 });
  await client.read('/api/projects/');
  await client.read('/api/projects/');
  const { status, body, headers } = await client.send('GET', '/api/projects/');
  expect(status).toBe(429);
  expect(body).toEqual(refusal('throttled_error', 'throttled', null, expect.any(String)));
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(50);
  expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(60);
  const other = await client.send('GET', '/api/projects/', undefined, { authorization: `Bearer ${demoKeys[1]}` });
  expect(other.status).toBe(200);
});
