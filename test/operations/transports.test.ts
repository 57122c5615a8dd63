import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { createFolder, search } from '../support/persisted.ts';
import { sendRaw } from '../support/raw-http.ts';
import { refusal } from '../support/replies.ts';
import { project } from '../support/rows.ts';
import { type Accepted, resultIn } from '../support/transports.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

type Params = Readonly<Record<string, unknown>>;

interface Way {
  readonly method: 'GET' | 'POST';
  readonly accept: Accepted;
  /** True if its document is named by an id. */
  readonly byId?: true;
}

const documents = {
  name: 'query Name($id: ID!) { project(id: $id) { name } }',
  two: '{ a: project(id: 1) { name } b: project(id: 403) { name } }',
  free: '{ __typename }',
  change: 'mutation { createProject(input: { name: "a" }) { project { name } } }',
} as const;

const ways: readonly (readonly [name: string, way: Way])[] = [
  ['POST, JSON', { method: 'POST', accept: 'application/json' }],
  ['POST, GraphQL over HTTP', { method: 'POST', accept: 'application/graphql-response+json' }],
  ['GET, JSON', { method: 'GET', accept: 'application/json' }],
  ['POST by id, JSON', { method: 'POST', accept: 'application/json', byId: true }],
  ['GET by id, JSON', { method: 'GET', accept: 'application/json', byId: true }],
  ['POST, event stream', { method: 'POST', accept: 'text/event-stream' }],
  ['GET, event stream', { method: 'GET', accept: 'text/event-stream' }],
  ['POST by id, event stream', { method: 'POST', accept: 'text/event-stream', byId: true }],
  ['POST, multipart', { method: 'POST', accept: 'multipart/mixed' }],
  ['GET by id, multipart', { method: 'GET', accept: 'multipart/mixed', byId: true }],
];

let upstream: Upstream;
let gateway: TestGateway;

const started = new AsyncDisposableStack();

beforeAll(async () => {
  const folder = started.use(createFolder());
  const files = folder.write('manifest.json', documents);
  upstream = started.use(
    await startUpstream({
      'GET /api/projects/1/': project(1),
      'GET /api/projects/403/': refusal(403, 'permission_denied', 'Missing scope.'),
      'POST /api/projects/': project(2),
    }),
  );
  gateway = started.use(await startGateway(upstream, { persisted: { files } }));
});

afterAll(() => started.disposeAsync());

async function ask({ method, accept }: Way, params: Params, key = 'Bearer phx_test'): Promise<[number, string]> {
  const headers = ['accept', accept, 'authorization', key];
  const response = await (method === 'GET'
    ? sendRaw(gateway.url, { method, headers, path: `/graphql?${search(params)}` })
    : sendRaw(gateway.url, {
        headers: [...headers, 'content-type', 'application/json'],
        body: JSON.stringify(params),
      }));
  return [response.status, resultIn(response.headers, response.body)];
}

/** Answers that are 400 or 200, as GraphQL over HTTP has it for the media type. */
function lenient({ accept }: Way): number {
  return accept === 'application/json' || accept === 'text/event-stream' ? 200 : 400;
}

describe.each(ways)('%s', (_name, way) => {
  const document = (name: keyof typeof documents): Params =>
    way.byId === true ? { documentId: name } : { query: documents[name] };

  test('answers what was asked, with one upstream request', async () => {
    upstream.reset();
    const answer = await ask(way, { ...document('name'), variables: { id: '1' } });
    expect(answer).toEqual([200, '{"data":{"project":{"name":"Project 1"}}}']);
    expect(upstream.requests).toEqual(['GET /api/projects/1/']);
  });

  test('answers what failed beside what did not', async () => {
    const [status, result] = await ask(way, document('two'));
    expect(status).toBe(200);
    expect(JSON.parse(result)).toMatchObject({
      data: { a: { name: 'Project 1' }, b: null },
      errors: [{ path: ['b'], extensions: { code: 'FORBIDDEN', upstream: { status: 403 } } }],
    });
  });

  test('answers that a key is needed', async () => {
    upstream.reset();
    const [status, result] = await ask(way, document('two'), '');
    expect(status).toBe(200);
    expect(result).toContain('"code":"UNAUTHENTICATED"');
    expect(upstream.requests).toEqual([]);
  });

  test('refuses variables that do not fit', async () => {
    upstream.reset();
    const [status, result] = await ask(way, { ...document('name'), variables: { id: {} } });
    expect(status).toBe(lenient(way));
    expect(result).toContain('"code":"BAD_USER_INPUT"');
    expect(result).not.toContain('"data"');
    expect(upstream.requests).toEqual([]);
  });

  test('refuses parameters of the wrong type', async () => {
    const [status, result] = await ask(way, { ...document('name'), variables: [1] });
    expect(status).toBe(400);
    expect(result).toContain('Expected `variables` to be an object, but got a list.');
  });

  test('refuses a request without a document, and one with the id of none', async () => {
    expect(await ask(way, { variables: {} })).toMatchObject([400, expect.stringContaining('BAD_USER_INPUT')]);
    const unknown = await ask(way, { documentId: 'none' });
    expect(unknown).toMatchObject([404, expect.stringContaining('PERSISTED_DOCUMENT_NOT_FOUND')]);
  });

  test('runs a mutation by POST alone, and once', async () => {
    upstream.reset();
    const [status, result] = await ask(way, document('change'));
    const done = '{"data":{"createProject":{"project":{"name":"Project 2"}}}}';
    const told = way.method === 'POST' ? done : '"code":"METHOD_NOT_ALLOWED"';
    expect(status).toBe(way.method === 'POST' ? 200 : 405);
    expect(result).toContain(told);
    expect(upstream.requests).toEqual(way.method === 'POST' ? ['POST /api/projects/'] : []);
  });

  test('refuses a document that is not valid', async () => {
    const cases: [query: string, code: string][] = [
      ['{', 'GRAPHQL_PARSE_FAILED'],
      ['{ unknown }', 'GRAPHQL_VALIDATION_FAILED'],
      [`{ ${Array.from({ length: 31 }, (_, at) => `a${at}: __typename`).join(' ')} }`, 'LIMIT_EXCEEDED'],
    ];
    for (const [query, code] of cases) {
      const [status, result] = await ask(way, { query });
      expect(status).toBe(lenient(way));
      expect(result).toContain(`"code":"${code}"`);
    }
  });
});
