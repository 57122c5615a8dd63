/** Mode `only` with tokens: what is answered and what is refused is the same on every way of a request. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hashOf } from '../../src/operation/persisted/ids.ts';
import { automatic, createFolder, registration, search } from '../support/persisted.ts';
import { type RawRequest, type RawResponse, sendRaw } from '../support/raw-http.ts';
import { project } from '../support/rows.ts';
import { type Entries, startTenants, type TenantGateway } from '../support/tenants.ts';
import { type Accepted, resultIn } from '../support/transports.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

type Params = Readonly<Record<string, unknown>>;

/** A way of a request to its operation, and of the result to the client. */
interface Way {
  readonly method: 'GET' | 'POST';
  readonly accept: Accepted;
}

type Naming = (text: string) => Params;

const origin = 'https://app.example';
const entries: Entries = { acme: { key: 'phx_acme', projects: ['1'], mutations: ['updateProject'] } };
const listed = 'query Listed { project(id: 1) { name } outside: project(id: 2) { name } }';
const change = 'mutation Change { updateProject(input: { id: 1, name: "a" }) { project { name } } }';
const unlisted = '{ project(id: 1) { timezone } }';
const invalid = 'Bearer error="invalid_token"';

const accepts: readonly Accepted[] = [
  'application/json',
  'application/graphql-response+json',
  'text/event-stream',
  'multipart/mixed',
];
const ways = (['POST', 'GET'] as const).flatMap((method) => accepts.map((accept): Way => ({ method, accept })));

const namings: readonly (readonly [
  name: string,
  naming: Naming,
  ifUnlisted: readonly [status: number, code: string],
])[] = [
  ['its text', (text) => ({ query: text }), [403, 'PERSISTED_DOCUMENT_REQUIRED']],
  ['its id', (text) => ({ documentId: hashOf(text) }), [404, 'PERSISTED_DOCUMENT_NOT_FOUND']],
  [
    'its hash, as in automatic persisted queries',
    (text) => automatic(hashOf(text)),
    [200, 'PERSISTED_QUERY_NOT_SUPPORTED'],
  ],
  ['its hash and its text', registration, [403, 'PERSISTED_DOCUMENT_REQUIRED']],
];

let upstream: Upstream;
let gateway: TenantGateway;
const started = new AsyncDisposableStack();

beforeAll(async () => {
  const folder = started.use(createFolder());
  const files = folder.write('manifest.json', { [hashOf(listed)]: listed, [hashOf(change)]: change });
  const routes = { 'GET /api/projects/1/': project(1), 'PATCH /api/projects/1/': project(1) };
  upstream = started.use(await startUpstream(routes));
  const persisted = { files, mode: 'only' } as const;
  gateway = started.use(await startTenants(upstream, entries, { corsOrigins: [origin], persisted }));
});

afterAll(() => started.disposeAsync());

beforeEach(() => upstream.reset());

type Headers = Readonly<Record<string, string>>;

function send({ method, accept }: Way, params: Params, headers: Headers): Promise<RawResponse> {
  const sent = Object.entries({ accept, origin, ...headers }).flat();
  if (method === 'POST') return post(sent, JSON.stringify(params));
  return sendRaw(gateway.url, { method, headers: sent, path: `/graphql?${search(params)}` });
}

function post(headers: readonly string[], body: RawRequest['body'] = ''): Promise<RawResponse> {
  return sendRaw(gateway.url, { headers: [...headers, 'content-type', 'application/json'], body });
}

/** The refusal as a page can read it: status, code, and challenge. Throws if the page may not read it. */
function refusalIn({ status, headers, body }: RawResponse): readonly unknown[] {
  const { 'access-control-allow-origin': allowed, 'access-control-expose-headers': exposed = '', vary = '' } = headers;
  if (
    allowed !== origin ||
    !exposed.includes('www-authenticate') ||
    !vary.includes('Origin') ||
    body.includes('"data"')
  )
    throw new Error(`expected a refusal that a page can read, but got ${JSON.stringify(headers)} ${body}`);
  return [status, /"code":"(\w+)"/.exec(body)?.[1], headers['www-authenticate']];
}

describe.each(ways)('$method, $accept', (way) => {
  test.each(namings)(
    'a listed document is run if it is named by %s, within what the tenant may reach',
    async (_how, naming) => {
      const answer = await send(way, naming(listed), await gateway.headersOf('acme'));
      const result = resultIn(answer.headers, answer.body);
      expect([answer.status, result]).toEqual([200, '{"data":{"project":{"name":"Project 1"},"outside":null}}']);
      expect(answer.headers['access-control-allow-origin']).toBe(origin);
      expect(upstream.requests).toEqual(['GET /api/projects/1/']);
      expect(upstream.records[0]?.headers.authorization).toBe('Bearer phx_acme');
    },
  );

  test.each(namings)('one that is not listed is refused if it is named by %s', async (_how, naming, ifUnlisted) => {
    const answer = await send(way, naming(unlisted), await gateway.headersOf('acme'));
    expect(refusalIn(answer)).toEqual([...ifUnlisted, undefined]);
    expect(upstream.requests).toEqual([]);
  });

  test.each(namings)('no token opens a listed document that is named by %s but a good one', async (_how, naming) => {
    const expired = await gateway.headersOf('acme', { claims: { exp: 1 } });
    const [none, forged] = [{}, { authorization: 'Bearer phx_acme' }];
    const ask = async (headers: Headers): Promise<readonly unknown[]> =>
      refusalIn(await send(way, naming(listed), headers));
    expect(await ask(none)).toEqual([401, 'UNAUTHENTICATED', 'Bearer']);
    expect(await ask(expired)).toEqual([401, 'UNAUTHENTICATED', invalid]);
    expect(await ask(forged)).toEqual([401, 'UNAUTHENTICATED', invalid]);
    expect(await ask(await gateway.headersOf('globex'))).toEqual([403, 'FORBIDDEN', undefined]);
    expect(upstream.requests).toEqual([]);
  });
});

test.each(ways.filter(({ method }) => method === 'POST'))('a listed mutation is run by POST, $accept', async (way) => {
  const answer = await send(way, { documentId: hashOf(change) }, await gateway.headersOf('acme'));
  const result = resultIn(answer.headers, answer.body);
  expect(result).toBe('{"data":{"updateProject":{"project":{"name":"Project 1"}}}}');
  expect(upstream.requests).toEqual(['PATCH /api/projects/1/']);
});

test.each(ways.filter(({ method }) => method === 'GET'))(
  'a listed mutation is refused by GET, $accept',
  async (way) => {
    const answer = await send(way, { documentId: hashOf(change) }, await gateway.headersOf('acme'));
    expect(refusalIn(answer)).toEqual([405, 'METHOD_NOT_ALLOWED', undefined]);
    expect(upstream.requests).toEqual([]);
  },
);

test.each(accepts)('a batch is refused whole, in %s', async (accept) => {
  const { authorization = '' } = await gateway.headersOf('acme');
  const batch = JSON.stringify([{ query: listed }, { query: unlisted }]);
  const answer = await post(['accept', accept, 'origin', origin, 'authorization', authorization], batch);
  expect(refusalIn(answer)).toEqual([400, 'BAD_USER_INPUT', undefined]);
  expect(upstream.requests).toEqual([]);
});

test('a page can read what is refused before anything is known of the token', async () => {
  const sent = ['origin', origin, 'accept', 'application/json'];
  const asked = [
    await sendRaw(gateway.url, { headers: [...sent, 'content-type', 'text/plain'], body: '{}' }),
    await sendRaw(gateway.url, { method: 'PUT', headers: sent }),
    await post(sent, '{'),
    await post(sent, 'x'.repeat(2 ** 20 + 1)),
  ];
  expect(asked.map(refusalIn)).toEqual([
    [415, 'BAD_USER_INPUT', undefined],
    [405, 'METHOD_NOT_ALLOWED', undefined],
    [400, 'BAD_USER_INPUT', undefined],
    [413, 'LIMIT_EXCEEDED', undefined],
  ]);
  expect(refusalIn(await post(['origin', origin, 'accept', 'image/png']))).toEqual([406, undefined, undefined]);
  expect(upstream.requests).toEqual([]);
});

test('a page of an origin that is not listed can read no answer, and no refusal', async () => {
  const { authorization = '' } = await gateway.headersOf('acme');
  for (const headers of [[], ['authorization', authorization]]) {
    const answer = await post([...headers, 'origin', 'https://evil.example'], JSON.stringify({ query: listed }));
    expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([
      headers.length === 0 ? 401 : 200,
      undefined,
    ]);
  }
});
