import { describe, expect, test } from 'vitest';
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
});
