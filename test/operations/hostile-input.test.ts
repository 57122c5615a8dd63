import { getIntrospectionQuery } from 'graphql';
import { describe, expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import { type Answer, key, startGateway, type TestGateway } from '../support/gateway.ts';
import { codesOf } from '../support/load.ts';
import { sendRaw } from '../support/raw-http.ts';
import * as rows from '../support/rows.ts';
import { startUpstream } from '../support/upstream.ts';
import { sendBytes } from '../support/wire.ts';

const routes = { 'GET /api/projects/1/': rows.project(1) };
const json = ['content-type', 'application/json', 'authorization', `Bearer ${key}`];

function repeated(count: number, part: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => part(index)).join(' ');
}

function nested(depth: number): string {
  const levels = Math.floor((depth - 3) / 2);
  return `{ project(id: 1) { ${'dashboards { nodes { project { '.repeat(levels)} name ${'} } } '.repeat(levels)} } }`;
}

/** The code and message of the first error, and whether anything was sent upstream. */
function refusal({ status, data, errors }: Answer, requests: readonly string[]): unknown {
  return { status, hasData: data !== undefined, code: errors?.[0]?.extensions['code'], calls: requests.length };
}

const refused = { status: 200, hasData: false, code: 'LIMIT_EXCEEDED', calls: 0 };

describe('a document is refused before anything runs', () => {
  test.each([
    ['31 aliases', `{ project(id: 1) { ${repeated(31, (i) => `a${i}: name`)} } }`, 'at most 30 aliases', 'has 31'],
    [
      '21 root fields',
      `{ project(id: 1) { id } ${repeated(20, (i) => `p${i}: project(id: 1) { id }`)} }`,
      'at most 20 root fields',
      'has 21',
    ],
    ['51 directives', `{ __typename ${'@include(if: true) '.repeat(51)} }`, 'at most 50 directives', 'has 51'],
    ['nesting beyond 14', nested(24), 'at most 14 levels of nesting', 'has 3'],
    [
      '51 fragments',
      `{ __typename } ${repeated(51, (i) => `fragment F${i} on Query { __typename }`)}`,
      'at most 50 fragments',
      'has 51',
    ],
    ['11 operations', repeated(11, (i) => `query Q${i} { __typename }`), 'at most 10 operations', 'has 11'],
    ['2,001 tokens', `{ ${'__typename '.repeat(2000)} }`, 'at most 2000 tokens', 'more'],
    ['endless lists', `{ node(id: ${'['.repeat(100_000)}`, 'at most 2000 tokens', 'more'],
    ['endless objects', `{ node(id: ${'{a:'.repeat(40_000)}`, 'at most 2000 tokens', 'more'],
    ['endless selections', '{a'.repeat(60_000), 'at most 2000 tokens', 'more'],
  ])('that has %s', async (_name, query, limit, found) => {
    const { upstream, gateway } = await startBoth(routes);
    const answer = await gateway.ask(query);
    expect(refusal(answer, upstream.requests)).toEqual(refused);
    expect(answer.errors?.[0]?.message).toContain(limit);
    expect(answer.errors?.[0]?.message).toContain(found);
    expect((await gateway.ask('{ project(id: 1) { name } }')).data).toEqual({ project: { name: 'Project 1' } });
  });

  test('whose fragments multiply aliases, in time that does not multiply', async () => {
    const { upstream, gateway } = await startBoth(routes);
    const bomb = repeated(40, (i) => `fragment F${i} on Query { ...F${i + 1} ...F${i + 1} a${i}: __typename }`);
    const answer = await gateway.ask(`{ ...F0 } ${bomb} fragment F40 on Query { __typename }`);
    expect(refusal(answer, upstream.requests)).toEqual(refused);
  });

  test('whose fields take too long to be compared', async () => {
    const { upstream, gateway } = await startBoth(routes);
    const fragments = repeated(40, (i) => `fragment F${i} on Project { ${'name '.repeat(35)} }`);
    const answer = await gateway.ask(`{ project(id: 1) { ${repeated(40, (i) => `...F${i}`)} } } ${fragments}`);
    expect(refusal(answer, upstream.requests)).toEqual(refused);
    expect(answer.errors?.[0]?.message).toContain('too many of its fields have the same name');
  });

  test('whose fragments spread each other', async () => {
    const { gateway } = await startBoth(routes);
    const answer = await gateway.ask('{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }');
    expect(answer.errors?.[0]?.extensions['code']).toBe('GRAPHQL_VALIDATION_FAILED');
  });
});

test('an ordinary nested Relay page passes, and so does the query of GraphiQL itself', async () => {
  const { gateway } = await startBoth(routes);
  const page = `{ projects(first: 2) { pageInfo { hasNextPage } edges { cursor node { name dashboards(first: 2) {
    edges { node { name createdBy { email } project { organization { plugins { edges { node { name } } } } } } } } } } } }`;
  expect(codesOf(await gateway.ask(page))).toEqual(['NOT_FOUND']);
  expect((await gateway.ask(getIntrospectionQuery())).errors).toBeUndefined();
});

test('the schema reads the same however often it is read', async () => {
  const { gateway } = await startBoth(routes);
  const timestamp = '__type(name: "Event") { fields { name type { name } } }';
  for (const query of [
    getIntrospectionQuery(),
    `{ ${timestamp} }`,
    `query Q { ...F } fragment F on Query { ${timestamp} }`,
  ]) {
    const first = await gateway.ask(query);
    expect(first.body).toContain('"name":"DateTime"');
    // Executed by other code from the second time on.
    for (let times = 0; times < 2; times += 1) expect((await gateway.ask(query)).body).toBe(first.body);
  }
});

test('with introspection off the schema cannot be read, and misspelt names get no suggestions', async () => {
  const { gateway } = await startBoth(routes, { introspection: false });
  const introspected = await gateway.ask('{ __schema { types { name } } }');
  expect(introspected.errors?.[0]?.extensions['code']).toBe('GRAPHQL_VALIDATION_FAILED');
  expect((await gateway.ask('{ projets { nodes { id } } }')).body).not.toContain('Did you mean');
  expect((await gateway.ask('{ __typename }')).data).toEqual({ __typename: 'Query' });
});

describe('a body', () => {
  test('that nests 20,000 deep is refused', async () => {
    const { gateway } = await startBoth(routes);
    const deep = `{"query":"{ __typename }","variables":{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}}`;
    const answer = await sendRaw(gateway.url, { headers: json, body: deep });
    expect([answer.status, JSON.parse(answer.body)]).toMatchObject([
      400,
      { errors: [{ extensions: { code: 'LIMIT_EXCEEDED' } }] },
    ]);
  });
});

describe('pages of another origin', () => {
  const preflightFrom = ({ url }: TestGateway, origin: string) =>
    sendRaw(url, { method: 'OPTIONS', headers: ['origin', origin, 'access-control-request-method', 'POST'] });

  test('may call if their origin is listed, and no others', async () => {
    const { gateway } = await startBoth(routes, { corsOrigins: ['https://app.example'] });
    const allowed = await preflightFrom(gateway, 'https://app.example');
    expect(allowed.headers['access-control-allow-origin']).toBe('https://app.example');
    expect(allowed.headers['access-control-allow-credentials']).toBeUndefined();
    expect(allowed.headers['vary']).toContain('Origin');
    const foreign = await preflightFrom(gateway, 'https://evil.example');
    expect(foreign.headers['access-control-allow-origin']).toBeUndefined();
    const answered = await gateway.ask('{ __typename }', { headers: { origin: 'https://app.example' } });
    expect(answered.headers.get('access-control-allow-origin')).toBe('https://app.example');
  });

  test('may send what GraphQL clients and tracing send, and the headers of CORS_HEADERS', async () => {
    await using upstream = await startUpstream(routes);
    const corsOrigins = ['https://app.example'];
    await using gateway = await startGateway(upstream, { corsOrigins, corsHeaders: ['x-team', 'baggage'] });
    const { headers } = await preflightFrom(gateway, 'https://app.example');
    expect(String(headers['access-control-allow-headers']).split(', ')).toEqual([
      ...['accept', 'authorization', 'cache-control', 'content-type', 'x-request-id'],
      ...['apollographql-client-name', 'apollographql-client-version'],
      ...['x-client-name', 'x-client-version', 'apollo-require-preflight'],
      ...['x-apollo-operation-id', 'x-apollo-operation-name', 'x-apollo-operation-type'],
      ...['traceparent', 'tracestate', 'baggage', 'sentry-trace', 'x-team'],
    ]);
  });

  test('are logged once each when they are refused, cut and at most a hundred', async () => {
    await using upstream = await startUpstream(routes);
    const logged: unknown[] = [];
    await using gateway = await startGateway(upstream, {
      corsOrigins: ['https://app.example'],
      log: (level, message, facts) => logged.push({ level, message, ...facts }),
    });
    for (const origin of ['https://app.example', 'https://app.example/', 'https://app.example/'])
      await preflightFrom(gateway, origin);
    const message = 'a page of another origin was refused; CORS_ORIGINS lists those that may call';
    expect(logged).toEqual([{ level: 'warn', message, origin: 'https://app.example/' }]);
    for (let index = 0; index < 150; index += 1)
      await preflightFrom(gateway, `https://${'a'.repeat(300)}.example:${index}`);
    for (let index = 0; index < 150; index += 1) await preflightFrom(gateway, `https://a.example:${index}`);
    expect(logged).toHaveLength(100);
    expect(logged[1]).toEqual({ level: 'warn', message, origin: `https://${'a'.repeat(192)}` });
  });
});

describe('on the wire', () => {
  test.each([
    ['no HTTP', 'hello\r\n\r\n', /^HTTP\/1\.1 400 /],
    [
      'headers beyond 16 KB',
      `GET /graphql HTTP/1.1\r\nhost: a\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`,
      /^HTTP\/1\.1 431 /,
    ],
    [
      'two lengths',
      'POST /graphql HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nx',
      /^HTTP\/1\.1 400 /,
    ],
  ])('%s ends with a bare answer and the connection', async (_name, bytes, answer) => {
    const { gateway } = await startBoth(routes);
    expect(await sendBytes(gateway.url, bytes)).toMatch(answer);
    expect((await gateway.ask('{ __typename }')).status).toBe(200);
  });

  test('more than 100 headers are refused, and an unknown path is 404', async () => {
    const { gateway } = await startBoth(routes);
    const many = Array.from({ length: 101 }, (_, index) => [`x-${index}`, 'y']).flat();
    expect((await sendRaw(gateway.url, { headers: [...json, ...many], body: '{}' })).status).toBe(431);
    expect((await sendRaw(new URL('/nothing', gateway.url).href, { method: 'GET' })).status).toBe(404);
    expect((await sendRaw(new URL('/', gateway.url).href, { method: 'GET' })).headers['location']).toBe('/graphql');
  });

  test('every answer forbids sniffing and caching, and names no server', async () => {
    const { gateway } = await startBoth(routes);
    const query = '/graphql?query=%7B__typename%7D';
    const preflight = { origin: 'https://a.example', 'access-control-request-method': 'POST' };
    for (const [path, init] of [
      [query, {}],
      [query, { headers: { accept: 'text/event-stream' } }],
      [query, { headers: { accept: 'multipart/mixed' } }],
      [query, { headers: { accept: 'image/png' } }],
      ['/graphql', { headers: { accept: 'text/html' } }],
      ['/graphql', { method: 'POST' }],
      ['/graphql', { method: 'PUT' }],
      ['/graphql', { method: 'OPTIONS', headers: preflight }],
      ['/healthz', {}],
      ['/readyz', {}],
      ['/metrics', {}],
      ['/nothing', {}],
      ['/', { redirect: 'manual' }],
    ] as const) {
      const { headers } = await fetch(new URL(path, gateway.url), init);
      const told = ['x-content-type-options', 'cache-control', 'x-powered-by', 'server'].map((name) =>
        headers.get(name),
      );
      expect([path, init, ...told]).toEqual([path, init, 'nosniff', 'no-store', null, null]);
    }
  });
});
