import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { eventsOf, inTurn, listOf } from '../support/lists.ts';
import { bytes, disconnect, drip, hang, raw, refusal, reply, truncated } from '../support/replies.ts';
import * as rows from '../support/rows.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

async function get(upstream: Upstream, target: string): Promise<unknown> {
  const response = await fetch(upstream.url + target);
  return response.json();
}

describe('routes', () => {
  test('a whole target, a path and a pattern are tried in this order', async () => {
    await using upstream = await startUpstream({
      'GET /api/projects/:id/': ({ params }) => ({ pattern: params['id'] ?? null }),
      'GET /api/projects/1/': { path: true },
      'GET /api/projects/1/?a=1': { target: true },
    });
    expect(await get(upstream, '/api/projects/1/?a=1')).toEqual({ target: true });
    expect(await get(upstream, '/api/projects/1/?a=2')).toEqual({ path: true });
    expect(await get(upstream, '/api/projects/%2e2/')).toEqual({ pattern: '%2e2' });
  });

  test('anything else does not exist, in the error format of the API', async () => {
    await using upstream = await startUpstream({ 'GET /api/projects/': [] });
    const response = await fetch(`${upstream.url}/api/projects/`, { method: 'POST' });
    expect(response.status).toBe(404);
    expect(await response.text()).toBe(
      '{"type":"invalid_request","code":"not_found","detail":"Not found.","attr":null}',
    );
  });

  test('a handler sees the request, and its reply is sent as it says', async () => {
    await using upstream = await startUpstream(async ({ method, path, query, body, headers }) => {
      await sleep(1);
      const seen = [method, path, query.get('q'), body, headers.authorization ?? null];
      return reply({ status: 201, headers: { 'x-seen': seen.join(' ') }, body: '{"id": 9007199254740993}' });
    });
    const headers = { authorization: 'Bearer k' };
    const response = await fetch(`${upstream.url}/a/?q=1`, { method: 'PATCH', body: '{}', headers });
    expect([response.status, response.headers.get('x-seen')]).toEqual([201, 'PATCH /a/ 1 {} Bearer k']);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.text()).toBe('{"id": 9007199254740993}');
    expect(upstream.records).toMatchObject([{ method: 'PATCH', target: '/a/?q=1', body: '{}', headers }]);
  });

  test('a handler that throws fails the test that uses the upstream', async () => {
    const upstream = await startUpstream(() => Promise.reject(new Error('wrong fake')));
    expect((await fetch(upstream.url)).status).toBe(500);
    await expect(upstream[Symbol.asyncDispose]()).rejects.toThrow('handlers of the fake upstream failed');
  });
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

describe('lists', () => {
  test('pages have a count and links to their neighbours', async () => {
    const all = [1, 2, 3, 4, 5].map((id) => rows.listedProject(id));
    await using upstream = await startUpstream({
      'GET /api/projects/': listOf(all, { cap: 2, origin: 'http://internal' }),
      'GET /uncounted/': listOf(all, { omitCount: true }),
    });
    expect(await get(upstream, '/api/projects/?limit=3&offset=2')).toEqual({
      count: 5,
      next: 'http://internal/api/projects/?limit=2&offset=4',
      previous: 'http://internal/api/projects/?limit=2&offset=0',
      results: [rows.listedProject(3), rows.listedProject(4)],
    });
    expect(await get(upstream, '/uncounted/?limit=0&offset=x')).toEqual({ next: null, previous: null, results: all });
    all.push(rows.listedProject(6));
    expect(await get(upstream, '/api/projects/?offset=9')).toMatchObject({ count: 6, next: null, results: [] });
  });

  test('pages of events go on from the time of the last row, and keep the offset', async () => {
    const all = [1, 2, 3].map((id) => rows.event(id));
    await using upstream = await startUpstream({ 'GET /events/': eventsOf(all) });
    const before = encodeURIComponent('2024-05-01T09:59:57.998000+00:00');
    expect(await get(upstream, '/events/?limit=1&offset=1')).toEqual({
      next: `${upstream.url}/events/?limit=1&offset=1&before=${before}`,
      results: [rows.event(2)],
    });
    expect(await get(upstream, `/events/?before=${before}`)).toEqual({ next: null, results: [rows.event(3)] });
    expect(await get(upstream, `/events/?after=${before}`)).toEqual({ next: null, results: [rows.event(1)] });
  });

  test('answers in turn end with the last one for ever', async () => {
    await using upstream = await startUpstream({ 'GET /': inTurn(reply({ status: 503, body: 1 }), 2) });
    expect([await get(upstream, '/'), await get(upstream, '/'), await get(upstream, '/')]).toEqual([1, 2, 2]);
  });
});

test('a detail row has what a listed row has, and changes win', () => {
  expect(rows.project(1)).toMatchObject(rows.listedProject(1));
  expect(rows.dashboard(1)).toMatchObject(rows.listedDashboard(1));
  expect(rows.dashboard(1, { tiles: null })['tiles']).toBe(null);
  expect(rows.plugin(1, { plugin_type: 'inline' })).toMatchObject({ id: 1, plugin_type: 'inline' });
});
