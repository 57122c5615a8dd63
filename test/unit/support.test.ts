import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { bytes, disconnect, drip, hang, raw, refusal, reply, truncated } from '../support/replies.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

async function get(upstream: Upstream, target: string): Promise<unknown> {
  const response = await fetch(upstream.url + target);
  return response.json();
}

test('a handler that throws fails the test that uses the upstream', async () => {
  const upstream = await startUpstream(() => Promise.reject(new Error('wrong fake')));
  expect((await fetch(upstream.url)).status).toBe(500);
  await expect(upstream[Symbol.asyncDispose]()).rejects.toThrow('handlers of the fake upstream failed');
});

describe('recording', () => {
  test('requests sent together overlap and are one wave, requests sent one after the other are two', async () => {
    await using upstream = await startUpstream(() => null);
    await Promise.all(['/1/', '/2/', '/3/'].map((target) => get(upstream, target)));
    await get(upstream, '/4/');
    expect(upstream.requests.toSorted()).toEqual(['GET /1/', 'GET /2/', 'GET /3/', 'GET /4/']);
    expect(upstream.overlapped('GET /1/', 'GET /3/')).toBe(true);
    expect(upstream.overlapped('GET /1/', 'GET /4/')).toBe(false);
    expect([upstream.waves(), upstream.mostInFlight]).toEqual([2, 3]);
  });

  test('asking whether a request overlapped that was never made is a mistake', async () => {
    await using upstream = await startUpstream({});
    expect(() => upstream.overlapped('GET /1/', 'GET /2/')).toThrow('expected a request GET /1/ but got none');
  });

  test('two equal requests overlap only if there are two', async () => {
    await using upstream = await startUpstream(() => null);
    await get(upstream, '/1/');
    expect(upstream.overlapped('GET /1/', 'GET /1/')).toBe(false);
    upstream.reset();
    expect([upstream.requests, upstream.waves(), upstream.mostInFlight]).toEqual([[], 0, 0]);
    await Promise.all([get(upstream, '/1/'), get(upstream, '/1/')]);
    expect(upstream.overlapped('GET /1/', 'GET /1/')).toBe(true);
  });

  test('requests are held until enough of them wait, or until they are released', async () => {
    await using upstream = await startUpstream(() => null, { hold: 2 });
    const first = get(upstream, '/1/');
    await expect.poll(() => upstream.records).toHaveLength(1);
    await sleep(20);
    expect(upstream.records).toMatchObject([{ target: '/1/', endedAt: Infinity }]);
    await Promise.all([first, get(upstream, '/2/')]);
    const third = get(upstream, '/3/');
    await sleep(20);
    upstream.release();
    await Promise.all([third, get(upstream, '/4/')]);
  });

  test('a client that leaves is recorded', async () => {
    await using upstream = await startUpstream({ 'GET /1/': hang });
    await expect(fetch(`${upstream.url}/1/`, { signal: AbortSignal.timeout(30) })).rejects.toThrow('timeout');
    await expect.poll(() => upstream.records).toMatchObject([{ cancelled: true }]);
  });
});

test('faults reach the client as what they are', async () => {
  await using upstream = await startUpstream({
    'GET /disconnect/': disconnect,
    'GET /bytes/': bytes('no HTTP at all\r\n\r\n'),
    'GET /truncated/': truncated('{"id": 1, "name": "Ada"}'),
    'GET /drip/': drip('{"name":"Zoë"}', 1),
    'GET /raw/': raw((response) => response.writeHead(204).end()),
    'GET /refusal/': refusal(400, 'invalid_input', 'Too long.', 'name'),
    'DELETE /': reply({ status: 405 }),
  });
  await Promise.all(
    ['/disconnect/', '/bytes/', '/truncated/'].map((target) =>
      expect(get(upstream, target)).rejects.toThrow(/fetch failed|terminated/),
    ),
  );
  expect(await get(upstream, '/drip/')).toEqual({ name: 'Zoë' });
  expect((await fetch(`${upstream.url}/raw/`)).status).toBe(204);
  expect(await get(upstream, '/refusal/')).toMatchObject({ type: 'validation_error', attr: 'name' });
  const refused = await fetch(upstream.url, { method: 'DELETE' });
  expect([refused.status, refused.headers.get('content-type'), await refused.text()]).toEqual([405, null, '']);
});
