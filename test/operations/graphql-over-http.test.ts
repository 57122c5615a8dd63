import { serverAudits } from 'graphql-http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { codesIn } from '../support/outcomes.ts';
import { sendRaw } from '../support/raw-http.ts';
import { project } from '../support/rows.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

let upstream: Upstream;
let gateway: TestGateway;

const started = new AsyncDisposableStack();

beforeAll(async () => {
  const routes = { 'GET /api/projects/1/': project(1), 'POST /api/projects/': project(2) };
  upstream = started.use(await startUpstream(routes));
  gateway = started.use(await startGateway(upstream));
});

afterAll(() => started.disposeAsync());

const authorization = ['authorization', 'Bearer phx_test'];
const json = ['content-type', 'application/json'];
const one = '{ project(id: 1) { name } }';
const mutation = 'mutation { createProject(input: { name: "a" }) { project { name } } }';

describe("graphql-http's server audits", () => {
  const audits = serverAudits({ url: () => gateway.url });

  test('are all 61 of them', () => {
    expect(audits).toHaveLength(61);
  });

  test.each(audits.map((audit) => [`${audit.id} ${audit.name}`, audit] as const))('%s', async (_name, audit) => {
    const result = await audit.fn();
    const reason = 'reason' in result ? result.reason : '';
    expect({ status: result.status, reason }).toEqual({ status: 'ok', reason: '' });
  });
});

describe('bodies that are not JSON', () => {
  const query = JSON.stringify({ query: mutation });
  const part = `--x\r\ncontent-disposition: form-data; name="operations"\r\n\r\n${query}\r\n--x--\r\n`;
  const bodies: [type: string | undefined, body: string][] = [
    ['application/x-www-form-urlencoded', `query=${encodeURIComponent(mutation)}`],
    ['application/x-www-form-urlencoded;charset=UTF-8', query],
    ['multipart/form-data; boundary=x', part],
    ['multipart/form-data', query],
    ['multipart/mixed; boundary=x', part],
    ['text/plain', query],
    ['text/plain;charset=UTF-8', query],
    ['text/plain; application/json', query],
    ['application/graphql', mutation],
    ['application/graphql+json', query],
    ['application/jsonp', query],
    ['application/json-seq', query],
    ['text/json', query],
    ['json', query],
    ['*/*', query],
    ['', query],
    [undefined, query],
  ];
  test.each(bodies)('of type %s are refused with 415 before anything runs', async (type, body) => {
    upstream.reset();
    const headers = [...authorization, ...(type === undefined ? [] : ['content-type', type])];
    for (const accept of [
      'application/json',
      'application/graphql-response+json',
      '*/*',
      'text/html',
      'text/event-stream',
    ]) {
      const response = await sendRaw(gateway.url, { headers: [...headers, 'accept', accept], body });
      expect([accept, response.status]).toEqual([accept, 415]);
      const found = (type ?? '') === '' ? 'none is declared' : `got ${type}`;
      expect(response.body).toContain(`Expected a body of the content type application/json, but ${found}.`);
    }
    expect(upstream.requests).toEqual([]);
  });

  test('are taken as JSON whatever the case and the parameters of the type', async () => {
    for (const type of [
      'application/json',
      'Application/JSON',
      'application/json; charset=utf-8',
      'application/json;x=y',
    ]) {
      const headers = [...authorization, 'content-type', type];
      const { status, body } = await sendRaw(gateway.url, { headers, body: JSON.stringify({ query: one }) });
      expect([type, status, body]).toEqual([type, 200, '{"data":{"project":{"name":"Project 1"}}}']);
    }
  });
});

describe('GET', () => {
  const urlOf = (params: Record<string, string>) => `/graphql?${new URLSearchParams(params).toString()}`;
  const get = (path: string, headers: readonly string[] = []) =>
    sendRaw(gateway.url, { method: 'GET', path, headers: [...authorization, ...headers] });

  test('never changes anything: a mutation is 405 and names POST', async () => {
    upstream.reset();
    const documents = [
      { query: mutation },
      {
        query: `query Q { __typename } mutation M { createProject(input: {}) { project { id } } }`,
        operationName: 'M',
      },
      { query: 'mutation { a: __typename }' },
    ];
    const accepts = ['application/json', 'application/graphql-response+json', '*/*', 'text/event-stream, */*'];
    for (const document of documents) {
      for (const accept of accepts) {
        const response = await get(urlOf(document), ['accept', accept]);
        expect([accept, response.status, response.headers['allow']]).toEqual([accept, 405, 'POST']);
      }
      const body = JSON.stringify(document);
      // Neither a body nor a content type makes a GET anything else.
      const response = await sendRaw(gateway.url, { method: 'GET', path: urlOf(document), headers: json, body });
      expect(response.status).toBe(405);
    }
    expect(upstream.requests).toEqual([]);
  });

  test.each(['PUT', 'PATCH', 'DELETE'])('is not what %s is: that is refused', async (method) => {
    upstream.reset();
    const body = JSON.stringify({ query: mutation });
    const response = await sendRaw(gateway.url, { method, headers: [...authorization, ...json], body });
    expect([response.status, response.headers['allow']]).toEqual([405, 'GET, POST']);
    expect(JSON.parse(response.body)).toMatchObject({ errors: [{ extensions: { code: 'METHOD_NOT_ALLOWED' } }] });
    expect(upstream.requests).toEqual([]);
  });
});

describe('an answer', () => {
  test('that the client does not take in any form is 406, and nothing has run', async () => {
    upstream.reset();
    for (const accept of ['application/xml', 'text/html', 'image/*, text/plain', 'application/json; charset=latin1']) {
      const headers = [...json, ...authorization, 'accept', accept];
      const response = await sendRaw(gateway.url, { headers, body: JSON.stringify({ query: mutation }) });
      expect([accept, response.status]).toEqual([accept, 406]);
    }
    expect(upstream.requests).toEqual([]);
  });
});

describe('CORS', () => {
  const origins = ['https://evil.example', 'null', 'http://localhost:3000', 'file://', 'http://127.0.0.1'];
  test.each(origins)('lets no page of the origin %s read an answer', async (origin) => {
    const preflight = [
      'access-control-request-method',
      'POST',
      'access-control-request-headers',
      'content-type, authorization',
    ];
    const requests = [
      { method: 'OPTIONS', headers: preflight },
      { method: 'POST', headers: [...json, ...authorization], body: JSON.stringify({ query: one }) },
      { method: 'POST', headers: ['content-type', 'text/plain'], body: 'x' },
      { method: 'POST', headers: json, body: '{' },
      { method: 'GET', path: '/graphql?query=%7B__typename%7D' },
      { method: 'GET', headers: ['accept', 'text/html'] },
    ];
    for (const { headers = [], ...request } of requests) {
      const response = await sendRaw(gateway.url, { ...request, headers: ['origin', origin, ...headers] });
      const names = Object.keys(response.headers).filter((name) => name.startsWith('access-control-'));
      expect([request.method, names]).toEqual([request.method, []]);
    }
  });
});

describe('a body that is no single operation', () => {
  const bodies = [
    '[]',
    `[{"query":"{ __typename }"}]`,
    JSON.stringify([{ query: one }, { query: mutation }]),
    '"{ __typename }"',
    'null',
    '1',
    'true',
    '',
    '{',
    '{"query":',
    '{"query": 1}',
    '{"query": null}',
    '{"query": ""}',
    '{"query": ["{ __typename }"]}',
    '{"query": "{ __typename }", "variables": "x"}',
    '{"query": "{ __typename }", "variables": [1]}',
    '{"query": "{ __typename }", "variables": 12345678901234567890}',
    '{"query": "{ __typename }", "extensions": 12345678901234567890}',
    '12345678901234567890',
    Buffer.from([0x7b, 0xff, 0xfe, 0x7d]),
    '{"query": "{ __typename }", "operationName": {}}',
    '{"query": "{ __typename }", "extensions": 3}',
    '{"query": "{ __typename }"}{"query": "{ __typename }"}',
    '{}',
  ];
  test.each(bodies)('is refused with 400 and a coded error: %s', async (body) => {
    upstream.reset();
    const response = await sendRaw(gateway.url, { headers: [...json, ...authorization], body });
    expect(response.status).toBe(400);
    expect(codesIn(response.body)).toEqual(['BAD_USER_INPUT']);
    expect(response.body).not.toContain('"data"');
    expect(upstream.requests).toEqual([]);
  });
});

describe('the key', () => {
  const malformed: [name: string, headers: readonly string[]][] = [
    ['no header', []],
    ['an empty header', ['authorization', '']],
    ['the scheme alone', ['authorization', 'Bearer']],
    ['the scheme and a space', ['authorization', 'Bearer ']],
    ['a key without a scheme', ['authorization', 'phx_test']],
    ['another scheme', ['authorization', 'Basic cGh4X3Rlc3Q6']],
    ['a scheme that only begins so', ['authorization', 'Bearers phx_test']],
    ['Token', ['authorization', 'Token phx_test']],
    ['two spaces', ['authorization', 'Bearer  phx_test']],
    ['a tab', ['authorization', 'Bearer\tphx_test']],
    ['no space', ['authorization', 'Bearerphx_test']],
    ['a colon', ['authorization', 'Bearer: phx_test']],
    ['a space within', ['authorization', 'Bearer phx test']],
    ['two keys with a comma', ['authorization', 'Bearer phx_test, Bearer phx_other']],
    ['two keys with a space', ['authorization', 'Bearer phx_test Bearer']],
    ['a trailing comma', ['authorization', 'Bearer phx_test,']],
    ['quotes', ['authorization', 'Bearer "phx_test"']],
    ['padding within', ['authorization', 'Bearer phx=test']],
    ['a letter beyond ASCII', ['authorization', 'Bearer phx_t\u00e9st']],
    ['a percent sign', ['authorization', 'Bearer phx%20test']],
    ['a key of 5,000 characters', ['authorization', `Bearer ${'a'.repeat(5000)}`]],
    ['two headers with one key', ['authorization', 'Bearer phx_test', 'authorization', 'Bearer phx_test']],
    ['two headers with two keys', ['authorization', 'Bearer phx_test', 'Authorization', 'Bearer phx_other']],
    ['two headers, one empty', ['authorization', '', 'authorization', 'Bearer phx_test']],
    ['another header', ['x-api-key', 'phx_test', 'proxy-authorization', 'Bearer phx_test']],
    ['a cookie', ['cookie', 'authorization=Bearer phx_test; sessionid=phx_test']],
  ];
  test.each(malformed)('given as %s is UNAUTHENTICATED without an upstream call', async (_name, headers) => {
    upstream.reset();
    for (const query of [one, mutation, '{ projects { totalCount } }', '{ project(id: 1) { eventsCsv { csv } } }']) {
      const { status, body } = await sendRaw(gateway.url, {
        headers: [...json, ...headers],
        body: JSON.stringify({ query }),
      });
      expect(status).toBe(200);
      expect(codesIn(body)).toEqual(['UNAUTHENTICATED']);
      expect(body).not.toMatch(/phx_|phx test/);
    }
    // Nor does one in the URL or in the body count.
    const path = '/graphql?access_token=phx_test&personal_api_key=phx_test&authorization=Bearer%20phx_test';
    const extensions = { authorization: 'Bearer phx_test', headers: { authorization: 'Bearer phx_test' } };
    await sendRaw(gateway.url, {
      path,
      headers: [...json, ...headers],
      body: JSON.stringify({ query: one, extensions }),
    });
    expect(upstream.requests).toEqual([]);
  });

  test.each(['Bearer phx_test', 'bearer phx_test', 'BEARER a', 'Bearer aB3-._~+/==', `Bearer ${'k'.repeat(1000)}`])(
    'given as %s goes upstream as it is',
    async (value) => {
      upstream.reset();
      const headers = [...json, 'authorization', value];
      const { body } = await sendRaw(gateway.url, { headers, body: JSON.stringify({ query: one }) });
      expect(body).toBe('{"data":{"project":{"name":"Project 1"}}}');
      expect(upstream.records.map((record) => record.headers.authorization)).toEqual([
        value.replace(/^bearer/i, 'Bearer'),
      ]);
    },
  );

  test('is needed neither for __typename nor for introspection, nor for errors of the document', async () => {
    upstream.reset();
    const cases: [query: string, body: RegExp][] = [
      ['{ __typename }', /^\{"data":\{"__typename":"Query"\}\}$/],
      ['{ __schema { queryType { name } } __type(name: "Project") { kind } }', /^\{"data":\{"__schema".*"OBJECT"/],
      ['mutation { __typename }', /^\{"data":\{"__typename":"Mutation"\}\}$/],
      ['{ unknown }', /GRAPHQL_VALIDATION_FAILED/],
      ['{', /GRAPHQL_PARSE_FAILED/],
      ['{ project(id: "no id") { name } }', /BAD_USER_INPUT/],
    ];
    for (const [query, expected] of cases) {
      const { body } = await sendRaw(gateway.url, { headers: json, body: JSON.stringify({ query }) });
      expect(body).toMatch(expected);
      expect(body).not.toContain('UNAUTHENTICATED');
    }
    expect(upstream.requests).toEqual([]);
  });
});
