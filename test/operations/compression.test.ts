import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import { key, type TestGateway } from '../support/gateway.ts';
import { accepts, askForParts } from '../support/parts.ts';
import { type BinaryResponse, sendForBytes } from '../support/raw-http.ts';
import type { Json } from '../support/replies.ts';
import * as rows from '../support/rows.ts';

const events = Array.from({ length: 100 }, (_, number) => rows.event(number));

const routes = {
  'GET /api/projects/1/events/': { results: events, next: null },
  'GET /api/projects/1/': rows.project(1),
};

const big = '{ project(id: 1) { events(first: 100) { nodes { id upstreamId event timestamp properties } } } }';

interface Asked {
  readonly method?: 'GET' | 'POST';
  readonly query?: string;
  readonly accepted?: string;
  readonly accept?: string;
}

function ask(gateway: TestGateway, { method = 'POST', query = big, accepted, accept }: Asked): Promise<BinaryResponse> {
  const isGet = method === 'GET';
  return sendForBytes(gateway.url, {
    method,
    headers: [
      ...['authorization', `Bearer ${key}`],
      ...(isGet ? [] : ['content-type', 'application/json']),
      ...(accepted === undefined ? [] : ['accept-encoding', accepted]),
      ...(accept === undefined ? [] : ['accept', accept]),
    ],
    ...(isGet ? { path: `/graphql?query=${encodeURIComponent(query)}` } : { body: JSON.stringify({ query }) }),
  });
}

test.each([
  ['br', brotliDecompressSync],
  ['gzip', gunzipSync],
])('an answer in %s is the plain answer, shorter and with its own length', async (coding, decode) => {
  const { gateway } = await startBoth(routes);
  const plain = await ask(gateway, {});
  expect(plain.headers).not.toHaveProperty('content-encoding');
  expect(plain.headers['vary']).toBe('Authorization, Accept, Accept-Encoding');
  expect(plain.headers['content-length']).toBe(String(plain.body.length));
  const { status, headers, body } = await ask(gateway, { accepted: coding });
  expect(status).toBe(200);
  expect(headers['content-encoding']).toBe(coding);
  expect(headers['vary']).toBe(plain.headers['vary']);
  expect(headers['content-length']).toBe(String(body.length));
  expect(headers).not.toHaveProperty('etag');
  expect(headers['content-type']).toBe(plain.headers['content-type']);
  expect(headers['x-request-id']).toMatch(/^[\w-]{36}$/);
  expect(body.length).toBeLessThan(plain.body.length / 5);
  expect(decode(body).toString()).toBe(plain.body.toString());
});

test('small answers and refusals go as they are', async () => {
  const { gateway } = await startBoth(routes);
  for (const query of ['{ __typename }', '{', '{ nope }']) {
    const { headers, body } = await ask(gateway, { query, accepted: 'br, gzip' });
    expect(headers).not.toHaveProperty('content-encoding');
    expect(() => JSON.parse(body.toString()) as unknown).not.toThrow();
  }
});

test('what Yoga answers as one document is compressed as well, streams are not', async () => {
  const { gateway } = await startBoth(routes, { graphiql: false });
  const plain = await ask(gateway, { method: 'GET', accept: 'text/html, application/json' });
  const { headers, body } = await ask(gateway, {
    method: 'GET',
    accept: 'text/html, application/json',
    accepted: 'br',
  });
  expect(headers['content-encoding']).toBe('br');
  expect(headers['content-length']).toBe(String(body.length));
  expect(headers['vary']).toBe('Authorization, Accept, Accept-Encoding');
  expect(brotliDecompressSync(body).toString()).toBe(plain.body.toString());
  const stream = await ask(gateway, { accept: 'text/event-stream', accepted: 'br' });
  expect(['br', 'gzip']).not.toContain(stream.headers['content-encoding']);
  expect(stream.body.toString()).toContain('event: next');
});

test('GraphiQL and metrics are compressed, and HEAD answers the same as GET', async () => {
  const { gateway } = await startBoth(routes);
  const page = await sendForBytes(gateway.url, {
    method: 'GET',
    headers: ['accept', 'text/html', 'accept-encoding', 'gzip, br'],
  });
  expect(page.headers['content-encoding']).toBe('br');
  expect(page.headers['content-security-policy']).toContain("default-src 'none'");
  expect(brotliDecompressSync(page.body).toString()).toContain('<title>GraphiQL');
  const metrics = (method: string) =>
    sendForBytes(gateway.url, { method, path: '/metrics', headers: ['accept-encoding', 'gzip'] });
  const got = await metrics('GET');
  expect(got.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
  expect(gunzipSync(got.body).toString()).toContain('gateway_operations_in_flight 0');
  const head = await metrics('HEAD');
  expect(head.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
  expect(Number(head.headers['content-length'])).toBeGreaterThan(1000);
  expect(head.body).toHaveLength(0);
});

test('with COMPRESSION=off nothing is compressed, and answers do not depend on Accept-Encoding', async () => {
  const { gateway } = await startBoth(routes, { compression: false });
  const { headers, body } = await ask(gateway, { method: 'GET', accepted: 'br, gzip' });
  expect(headers).not.toHaveProperty('content-encoding');
  expect(headers['vary']).toBe('Authorization, Accept');
  expect(JSON.parse(body.toString())).toHaveProperty('data.project.events.nodes.length', 100);
});

test('callers who ask the same at the same time get answers of their own', async () => {
  const { gateway } = await startBoth({
    'GET /api/projects/1/': (request) => rows.project(1, { name: String(request.headers.authorization).repeat(200) }),
  });
  const names = Array.from({ length: 20 }, (_, number) => `Bearer phx_${number}`);
  const answers = await Promise.all(
    names.map((authorization) =>
      gateway.ask('{ project(id: 1) { name } }', { headers: { authorization, 'accept-encoding': 'gzip' } }),
    ),
  );
  expect(answers).toMatchObject(names.map((name) => ({ data: { project: { name: name.repeat(200) } } })));
  expect(new Set(answers.map(({ headers }) => headers.get('content-encoding')))).toEqual(new Set(['gzip']));
});

test('a client that leaves while its answer is compressed harms no other request', async () => {
  const { gateway } = await startBoth(routes);
  const leaving = Array.from({ length: 10 }, (_, number) =>
    gateway.ask(big, { headers: { 'accept-encoding': 'br' }, signal: AbortSignal.timeout(1 + number * 2) }),
  );
  await Promise.allSettled(leaving);
  const next = await gateway.ask(big, { headers: { 'accept-encoding': 'br' } });
  expect(next).toHaveProperty('data.project.events.nodes.length', 100);
  expect(gateway.reported).toEqual([]);
});

test('64 answers in parts are compressed at a time, further ones are sent as they are', async () => {
  const list = Promise.withResolvers<Json>();
  const { gateway } = await startBoth({
    'GET /api/projects/1/': rows.project(1),
    'GET /api/projects/1/dashboards/': () => list.promise,
  });
  const inParts = '{ project(id: 1) { name ... @defer { dashboards { totalCount } } } }';
  const open = () => askForParts(gateway.url, inParts, accepts['v0.2'], { headers: { 'accept-encoding': 'br' } });
  const all = [];
  for (let index = 0; index < 65; index += 1) all.push(await open());
  expect(all.map(({ headers }) => headers.get('content-encoding'))).toEqual([
    ...Array.from({ length: 64 }, () => 'br'),
    null,
  ]);
  list.resolve({ count: 0, next: null, previous: null, results: [] });
  for (const { parts } of all) expect(await Array.fromAsync(parts)).toHaveLength(2);
  await expect.poll(async () => (await open()).headers.get('content-encoding')).toBe('br');
});
