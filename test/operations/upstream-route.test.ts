import { expect, test } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { codesOf } from '../support/load.ts';
import { hasNginx, startNginx } from '../support/nginx.ts';
import { startProxy } from '../support/proxy.ts';
import { disconnect, drip, hang, refusal, reply } from '../support/replies.ts';
import * as rows from '../support/rows.ts';
import { authority, serverTls } from '../support/tls.ts';
import { startUpstream } from '../support/upstream.ts';

const query = '{ project(id: 1) { name } }';
const routes = { 'GET /api/projects/1/': rows.project(1) };
const answered = { project: { name: 'Project 1' } };

test('an https upstream is reached through a tunnel, and the proxy sees nothing of what is said', async () => {
  await using upstream = await startUpstream(routes, { tls: serverTls });
  await using proxy = await startProxy();
  const url = `${proxy.url.replace('//', '//user:p%40ss@')}/`;
  const upstreamRoute = { proxy: url, authorities: authority };
  await using gateway = await startGateway(upstream, { upstreamRoute });
  expect((await gateway.ask(query)).data).toEqual(answered);
  expect((await gateway.ask(query)).data).toEqual(answered);
  expect(upstream.requests).toEqual(['GET /api/projects/1/', 'GET /api/projects/1/']);
  // The second call uses the tunnel of the first.
  expect(proxy.requests).toEqual([`CONNECT ${new URL(upstream.url).host}`]);
  expect(proxy.authorizations).toEqual([`Basic ${Buffer.from('user:p@ss').toString('base64')}`]);
  expect(upstream.records[0]?.headers).not.toHaveProperty('proxy-authorization');
});

test('the cost of an answer has no call that still waited for a connection when the answer was complete', async () => {
  const list = { count: 2, next: null, previous: null, results: [1, 2].map((id) => rows.listedDashboard(id)) };
  const absent = { ...routes, 'GET /api/projects/2/dashboards/': list };
  await using upstream = await startUpstream(absent, { tls: serverTls, hold: 0 });
  await using proxy = await startProxy({ tunnels: 1 });
  const upstreamRoute = { proxy: proxy.url, authorities: authority };
  await using gateway = await startGateway(upstream, { upstreamRoute });
  expect((await gateway.ask(query)).data).toEqual(answered);
  upstream.reset();
  const nested = '{ project(id: 2) { name dashboards(first: 2) { nodes { tiles } } } }';
  const answer = await gateway.ask(nested, { extensions: { cost: true } });
  // One tunnel for all: when the project turned out to be absent, the first dashboard was asked for, and the second waited.
  expect(answer).toMatchObject({ data: { project: null }, extensions: { cost: { requested: 4, actual: 3 } } });
});

test('an http upstream is reached by whole URLs, its answers and writes unchanged', async () => {
  await using upstream = await startUpstream({ ...routes, 'PATCH /api/projects/1/': rows.project(1) });
  await using proxy = await startProxy();
  const upstreamRoute = { proxy: proxy.url };
  await using gateway = await startGateway(upstream, { upstreamRoute });
  expect((await gateway.ask(query)).data).toEqual(answered);
  await gateway.ask('mutation { updateProject(input: { id: 1, name: "a" }) { project { name } } }');
  expect(proxy.requests).toEqual([`GET ${upstream.url}/api/projects/1/`, `PATCH ${upstream.url}/api/projects/1/`]);
  const [read, write] = upstream.records;
  expect(read?.headers).toMatchObject({ host: new URL(upstream.url).host, authorization: 'Bearer phx_test' });
  expect(write?.body).toBe('{"name":"a"}');
});

test.each([
  ['localhost', 'https'],
  ['127.0.0.1', 'https'],
  ['localhost', 'http'],
  ['127.0.0.1', 'http'],
])(
  'a proxy that speaks https itself, at %s, is trusted by the same authorities (%s upstream)',
  async (host, scheme) => {
    await using upstream = await startUpstream(routes, scheme === 'https' ? { tls: serverTls } : {});
    await using proxy = await startProxy({ tls: serverTls });
    const url = proxy.url.replace('127.0.0.1', host);
    const upstreamRoute = { proxy: url, authorities: authority };
    await using gateway = await startGateway(upstream, { upstreamRoute });
    expect((await gateway.ask(query)).data).toEqual(answered);
    expect(proxy.requests).toHaveLength(1);
  },
);

test.skipIf(!hasNginx)(
  'nginx, which opens no tunnels, is told as the proxy that fails, with what it answered',
  async () => {
    await using upstream = await startUpstream(routes, { tls: serverTls });
    await using nginx = await startNginx({ server: 'location / { return 403; }' });
    const lines: unknown[] = [];
    await using gateway = await startGateway(upstream, {
      upstreamRoute: { proxy: nginx.url.replace('//', '//user:pa55word@'), authorities: authority },
      log: (level, message, fields) => lines.push({ level, message, ...fields }),
    });
    const answer = await gateway.ask(query);
    expect(codesOf(answer)).toEqual(['UPSTREAM_UNAVAILABLE']);
    const { host } = new URL(nginx.url);
    expect(lines).toContainEqual({
      ...{
        level: 'warn',
        message: 'proxy on the way to the upstream fails',
        host,
        upstream: new URL(upstream.url).host,
      },
      ...{ reason: 'PROXY_REFUSED', status: expect.any(Number) as unknown, meaning: 'the proxy refused the tunnel' },
    });
    expect(JSON.stringify(lines)).not.toContain('pa55word');
    expect(answer.body).not.toContain(host);
    expect(upstream.requests).toEqual([]);
  },
);

test.each(['https', 'http'])('limits, deadline and retries hold through a proxy to an %s upstream', async (scheme) => {
  let left = 0;
  await using upstream = await startUpstream(
    {
      'GET /api/projects/1/': () => {
        left += 1;
        return left === 1 ? disconnect : rows.project(1);
      },
      'GET /api/projects/2/': reply({ status: 302, headers: { location: '/api/projects/1/' } }),
      'GET /api/projects/3/': hang,
      'GET /api/projects/4/': drip('{"id": 4, "name": "slow"}', 100),
      'GET /api/projects/5/': rows.project(5, { name: 'x'.repeat(8 * 2 ** 20) }),
    },
    { hold: 1, ...(scheme === 'https' && { tls: serverTls }) },
  );
  await using proxy = await startProxy();
  await using gateway = await startGateway(upstream, {
    upstreamRoute: { proxy: proxy.url, authorities: authority },
    operationDeadlineMs: 1000,
  });
  const ask = (id: number) => gateway.ask(`{ project(id: ${id}) { name } }`);
  expect((await ask(1)).data).toEqual(answered);
  const failing = await Promise.all([2, 3, 4, 5].map(ask));
  expect(failing.map(codesOf)).toEqual([
    ['UPSTREAM_INVALID_RESPONSE'],
    ['UPSTREAM_TIMEOUT'],
    ['UPSTREAM_TIMEOUT'],
    ['UPSTREAM_INVALID_RESPONSE'],
  ]);
  expect(upstream.requests.filter((line) => line.endsWith('/1/'))).toHaveLength(2);
  expect(gateway.reported).toEqual([]);
});

test.each(['/prefix', '/prefix/', '/a/b%20c'])(
  'the path %s of UPSTREAM_URL stands before every path',
  async (prefix) => {
    const path = prefix.replace(/\/$/, '');
    await using upstream = await startUpstream({ [`GET ${path}/api/projects/1/`]: rows.project(1) });
    await using gateway = await startGateway({ url: `${upstream.url}${prefix}` });
    expect((await gateway.ask(query)).data).toEqual(answered);
    expect(upstream.requests).toEqual([`GET ${path}/api/projects/1/`]);
  },
);

test('a call that is given up before it has a connection is not counted', async () => {
  const denied = refusal(401, 'authentication_failed', 'Invalid API key.');
  const all = { 'GET /api/projects/1/': denied, 'GET /api/projects/1/dashboards/': denied };
  await using upstream = await startUpstream(all, { tls: serverTls });
  await using proxy = await startProxy({ tunnels: 1 });
  await using gateway = await startGateway(upstream, { upstreamRoute: { proxy: proxy.url, authorities: authority } });
  const both = '{ project(id: 1) { name dashboards(first: 1) { nodes { name } } } }';
  const answer = await gateway.ask(both, { extensions: { cost: true } });
  expect(codesOf(answer)).toEqual(['UNAUTHENTICATED']);
  expect([upstream.requests.length, proxy.requests.length]).toEqual([1, 2]);
  expect(answer.extensions).toMatchObject({ cost: { actual: 1 } });
  expect(await gateway.gateway.metrics.render()).not.toContain('status="aborted"');
});
