import { hash } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type GatewayOptions } from '../../src/gateway.ts';
import type { Log } from '../../src/log.ts';
import { createAdminEndpoint } from '../../src/server/admin.ts';
import { startMetricsServer } from '../../src/server/server.ts';
import { startBoth } from '../support/both.ts';
import { cacheSettings } from '../support/cache.ts';
import { freePort } from '../support/free-port.ts';
import { ask, key } from '../support/gateway.ts';
import { pause } from '../support/load.ts';
import { createFolder } from '../support/persisted.ts';
import { runMain } from '../support/process.ts';
import { project } from '../support/rows.ts';
import { startUpstream } from '../support/upstream.ts';

const token = 'an-operators-token-of-33-letters.';
const routes = { 'GET /api/projects/1/': project(1) };
const byName = 'query Open { project(id: 1) { name } }';

const near = { host: '127.0.0.1', compression: false, log: () => undefined };

interface Admin {
  readonly port: number;
  readonly ask: (path: string, authorization?: string, method?: string) => Promise<Response>;
  readonly post: (path: string, body: string) => Promise<Response>;
}

/** Starts a gateway, and its endpoint for operators, for one test. */
async function startAdmin(options: Partial<GatewayOptions> = {}) {
  const { upstream, gateway } = await startBoth(routes, options);
  const { metrics, purge } = gateway.gateway;
  const port = await freePort();
  const admin = createAdminEndpoint({ token: () => token, usage: metrics.usage, purge, log: () => undefined });
  onTestFinished(await startMetricsServer(metrics, { ...near, port, admin }));
  const asked: Admin = {
    port,
    ask: (path, authorization = `Bearer ${token}`, method = 'GET') =>
      fetch(`http://127.0.0.1:${port}${path}`, { method, headers: { authorization } }),
    post: (path, body) =>
      fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers: { authorization: `Bearer ${token}` }, body }),
  };
  return { upstream, gateway, admin: asked };
}

test('operators read who has used what', async () => {
  const { gateway, admin } = await startAdmin();
  await gateway.ask(byName, { headers: { 'x-client-name': 'web' } });
  const answer = await admin.ask('/admin/usage');
  expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
  expect(await answer.json()).toMatchObject({
    operations: [{ client: 'web', version: '', operation: 'Open', operations: 1, errors: 0, restCalls: 1 }],
    deprecated: [],
    otherRestCalls: 0,
  });
  expect((await admin.ask('/admin/usage', `bearer ${token}`)).status).toBe(200);
});

test.each(['', 'Bearer', `Basic ${token}`, `Bearer ${token}x`, `Bearer ${token.slice(1)}`, 'Bearer phx_test'])(
  'nobody else does: %j',
  async (authorization) => {
    const { admin } = await startAdmin();
    for (const path of ['/admin/usage', '/admin/', '/admin/nothing']) {
      const answer = await admin.ask(path, authorization);
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
      expect(await answer.text()).not.toContain(token);
    }
  },
);

test('another path, another method and an eleventh request in a second are refused', async () => {
  const { admin } = await startAdmin();
  const wrong = await admin.ask('/admin/usage', undefined, 'POST');
  expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET']);
  expect((await admin.ask('/admin/constructor')).status).toBe(404);
  // Within three seconds at least two of these fall into one of them.
  const answers = await Promise.all(Array.from({ length: 40 }, () => admin.ask('/admin/usage')));
  const statuses = answers.map(({ status }) => status);
  expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(30);
  expect(new Set(statuses)).toEqual(new Set([200, 429]));
  expect(answers.find(({ status }) => status === 429)?.headers.get('retry-after')).toBe('1');
});

test('a request that is too long is refused, and the next one on its connection is answered', async () => {
  const { admin } = await startAdmin();
  const head = `POST /admin/cache/purge HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n`;
  const bodies = [JSON.stringify({ tenant: 'x'.repeat(1_000_000) }), '{"all": true}'];
  const socket = connect(admin.port, '127.0.0.1');
  const received = text(socket);
  for (const [at, body] of bodies.entries()) {
    const close = at === 1 ? 'Connection: close\r\n' : '';
    socket.write(`${head}${close}Content-Length: ${body.length}\r\n\r\n${body}`);
  }
  expect((await received).match(/^HTTP\/1.1 \d+/gm)).toEqual(['HTTP/1.1 400', 'HTTP/1.1 409']);
});

describe('150 connections keep no scraper out', () => {
  const post = 'POST /admin/cache/purge HTTP/1.1\r\nHost: x\r\n';
  test.each([
    ['that say nothing', ''],
    ['whose head does not end', post],
    ['that have no token and send no body', `${post}Content-Length: 20\r\n\r\n`],
    ['that have asked before', 'GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n'],
  ])('%s', async (_, bytes) => {
    const { admin } = await startAdmin();
    const sockets = Array.from({ length: 150 }, () => connect(admin.port, '127.0.0.1').on('error', () => undefined));
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    for (const socket of sockets) if (!socket.destroyed) socket.write(bytes);
    const answer = await admin.ask('/metrics');
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('gateway_operations_total')]);
    for (const socket of sockets) socket.destroy();
  });
});

test('a request without the token is answered and its connection closed before its body has arrived', async () => {
  const { admin } = await startAdmin();
  const socket = connect(admin.port, '127.0.0.1');
  const received = text(socket);
  socket.write('POST /admin/cache/purge HTTP/1.1\r\nHost: x\r\nContent-Length: 20\r\n\r\n{"all"');
  expect(await received).toMatch(/^HTTP\/1.1 401 Unauthorized\r\n(.+\r\n)*connection: close\r\n/i);
});

test('operators forget what is cached: of a key, of a tenant that there is, or all', async () => {
  const { upstream, gateway, admin } = await startAdmin({ cache: cacheSettings });
  const callsAfter = async (): Promise<number> => {
    await gateway.ask(byName);
    return upstream.requests.length;
  };
  const purge = async (body: unknown): Promise<unknown> => {
    const answer = await admin.post('/admin/cache/purge', typeof body === 'string' ? body : JSON.stringify(body));
    if (answer.status !== 429) return [answer.status, await answer.json()];
    await pause(300);
    return purge(body);
  };
  expect([await callsAfter(), await callsAfter()]).toEqual([1, 1]);
  expect(await purge({ keySha256: hash('sha256', key) })).toEqual([200, { keys: 1 }]);
  expect([await callsAfter(), await callsAfter()]).toEqual([2, 2]);
  expect(await purge({ keySha256: hash('sha256', 'phx_other') })).toEqual([200, { keys: 1 }]);
  expect(await callsAfter()).toBe(2);
  expect(await purge({ all: true })).toEqual([200, { keys: 2 }]);
  expect(await callsAfter()).toBe(3);
  expect(await purge({ tenant: 'nobody' })).toEqual([404, { error: 'UPSTREAM_KEYS has no such tenant' }]);
  for (const wrong of [
    '',
    '{',
    '[]',
    {},
    { all: false },
    { tenant: 1 },
    { all: true, tenant: 'a' },
    { keySha256: 'ab' },
    { tenant: 'x'.repeat(5000) },
  ]) {
    expect(await purge(wrong)).toEqual([
      400,
      { error: expect.stringContaining('expected {"tenant": "NAME"}') as unknown },
    ]);
  }
});

test('without a cache there is nothing to forget, which is no success', async () => {
  const { admin } = await startAdmin();
  expect((await admin.post('/admin/cache/purge', '{"all": true}')).status).toBe(409);
});

test.each(['redis://127.0.0.1:1', 'redis+cluster://127.0.0.1:1'])(
  'a purge that reaches no server of %s is no success',
  async (redisUrl) => {
    const { admin } = await startAdmin({ cache: cacheSettings, persisted: { redisUrl } });
    const answer = await admin.post('/admin/cache/purge', '{"all": true}');
    expect([answer.status, await answer.json()]).toEqual([
      503,
      { error: 'not all that share the cache could be told: ask again' },
    ]);
  },
);

test('a purge at one worker is one at all, and what all have counted is added up, whichever is asked', async () => {
  await using upstream = await startUpstream(routes);
  using folder = createFolder();
  const port = await freePort();
  const settings = {
    PORT: '0',
    UPSTREAM_URL: upstream.url,
    METRICS_PORT: String(port),
    WORKERS: '2',
    CACHE_TTL: 'projects=600',
  };
  await using gateway = runMain([], { ...settings, ADMIN_TOKEN_FILE: folder.write('token', token) });
  const [, url = ''] = await gateway.printed(/^Gateway +(\S+)/m);
  const headers = { 'x-client-name': 'web', connection: 'close' };
  const askAll = async (): Promise<number> => {
    for (let times = 0; times < 10; times += 1) await ask(url, byName, { headers });
    return upstream.requests.length;
  };
  const before = await askAll();
  expect(await askAll()).toBe(before);
  const answer = await fetch(`http://127.0.0.1:${port}/admin/cache/purge`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({ all: true }),
  });
  expect(answer.status).toBe(200);
  expect(await askAll()).toBe(2 * before);
  for (let times = 0; times < 4; times += 1) {
    const usage = await fetch(`http://127.0.0.1:${port}/admin/usage`, {
      headers: { authorization: `Bearer ${token}`, connection: 'close' },
    });
    expect(await usage.json()).toMatchObject({
      operations: [{ client: 'web', operations: 30, restCalls: 2 * before }],
    });
  }
});

test('without a token there is nothing below /admin/, and never on the port of the gateway', async () => {
  const { gateway } = await startBoth(routes);
  const port = await freePort();
  const close = await startMetricsServer(gateway.gateway.metrics, { ...near, port });
  const headers = { authorization: `Bearer ${token}` };
  for (const url of [`http://127.0.0.1:${port}`, gateway.url]) {
    expect((await fetch(new URL('/admin/usage', url), { headers })).status).toBe(404);
  }
  close();
});

test('metrics are at their path whatever its query is, on a port of their own as on that of the gateway', async () => {
  const { gateway } = await startBoth(routes);
  const port = await freePort();
  const close = await startMetricsServer(gateway.gateway.metrics, { ...near, port });
  for (const url of [`http://127.0.0.1:${port}`, gateway.url]) {
    expect((await fetch(new URL('/metrics?from=prometheus', url))).status).toBe(200);
  }
  close();
});

test('scrapes and requests of operators that fail are answered, and the log says why', async () => {
  const { gateway } = await startBoth(routes);
  const port = await freePort();
  const lines: unknown[] = [];
  const log: Log = (_level, message, fields) => void lines.push([message, fields]);
  const fail = (): Promise<never> => Promise.reject(new Error('the primary did not answer in time'));
  const admin = createAdminEndpoint({ token: () => token, usage: fail, purge: gateway.gateway.purge, log });
  const metrics = { ...gateway.gateway.metrics, render: fail };
  const close = await startMetricsServer(metrics, { ...near, port, admin, log });
  const headers = { authorization: `Bearer ${token}` };
  const statuses: number[] = [];
  for (const path of ['/metrics', '/metrics', '/admin/usage'])
    statuses.push((await fetch(`http://127.0.0.1:${port}${path}`, { headers })).status);
  expect(statuses).toEqual([500, 500, 503]);
  const reason = 'the primary did not answer in time';
  expect(lines).toEqual([
    ['metrics cannot be read', { reason }],
    ["an operator's request failed", { path: '/admin/usage', reason }],
  ]);
  close();
});

test('a token that is replaced in its file counts from then on, and one that is too short changes nothing', async () => {
  await using upstream = await startUpstream(routes);
  using folder = createFolder();
  const port = await freePort();
  const settings = { PORT: '0', UPSTREAM_URL: upstream.url, METRICS_PORT: String(port) };
  await using gateway = runMain([], { ...settings, ADMIN_TOKEN_FILE: folder.write('token', `${token}\n`) });
  await gateway.printed(/^Gateway /m);
  const statusOf = async (shown: string): Promise<number> =>
    (await fetch(`http://127.0.0.1:${port}/admin/usage`, { headers: { authorization: `Bearer ${shown}` } })).status;
  expect(await statusOf(token)).toBe(200);
  const next = token.toUpperCase();
  folder.write('token', next);
  await expect.poll(() => statusOf(next), { interval: 300 }).toBe(200);
  expect(await statusOf(token)).toBe(401);
  folder.write('token', 'short');
  await gateway.printed(/tokens of ADMIN_TOKEN_FILE stay as they were/);
  expect(await statusOf(next)).toBe(200);
});
