import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { hashOf, isHash } from '../../src/operation/persisted/ids.ts';
import type { PersistedSettings } from '../../src/operation/persisted/persisted.ts';
import { startBoth } from '../support/both.ts';
import { key, startGateway } from '../support/gateway.ts';
import { listOf } from '../support/lists.ts';
import { metricsOf } from '../support/metrics.ts';
import { automatic, countsOfDocuments, createFolder, outcomeOf, registration, send } from '../support/persisted.ts';
import { listedProject } from '../support/rows.ts';
import { startUpstream } from '../support/upstream.ts';

const listed = 'query Listed { __typename }';
const listedHash = hashOf(listed);
const custom = 'query Custom { custom: __typename }';
const free = '{ free: __typename }';
const other = '{ other: __typename }';
const mutation = 'mutation Delete { deleteProject(input: { id: "1" }) { deletedId } }';
const data = { __typename: 'Query' };
const freeData = { free: 'Query' };

/** A gateway whose manifest lists `listed` under its hash and `custom` under an id that is not a hash. */
async function start(settings: PersistedSettings = {}) {
  const folder = createFolder();
  const files = folder.write('manifest.json', { [listedHash]: listed, m1: mutation, c1: custom });
  const upstream = await startUpstream({ 'GET /api/projects/': listOf([listedProject(1)]) });
  const logged: string[] = [];
  const gateway = await startGateway(upstream, {
    persisted: { files, ...settings },
    log: (level, message, facts) => logged.push(`${level} ${message} ${JSON.stringify(facts)}`),
  });
  return {
    ...gateway,
    upstream,
    logged,
    [Symbol.asyncDispose]: async () => {
      await gateway[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

type Params = Readonly<Record<string, unknown>>;

/** Each way to name a document. */
const dialects: readonly (readonly [name: string, (id: string, more?: Params) => Params])[] = [
  ['documentId', (id, more) => ({ documentId: id, ...more })],
  ['documentId with the prefix', (id, more) => ({ documentId: isHash(id) ? `sha256:${id}` : id, ...more })],
  ['doc_id', (id, more) => ({ doc_id: id, ...more })],
  ['id', (id, more) => ({ id, ...more })],
  ['documentID', (id, more) => ({ documentID: id, ...more })],
  ['persistedQuery', automatic],
  ['persistedQuery in capitals', (id, more) => automatic(isHash(id) ? id.toUpperCase() : id, more)],
];

const modes: readonly (readonly [name: string, PersistedSettings])[] = [
  ['off', { mode: 'off' }],
  ['allow', {}],
  ['allow without APQ', { automatic: false }],
  ['log', { mode: 'log' }],
  ['only', { mode: 'only' }],
  ['only with APQ', { mode: 'only', automatic: true }],
];

const accepts = [undefined, 'application/json', 'application/graphql-response+json', '*/*'];

describe.each(modes)('In mode %s', (mode, settings) => {
  const isOnly = settings.mode === 'only';
  const isOff = mode === 'off';
  const isAutomatic = settings.automatic ?? !isOnly;
  let shared: ReturnType<typeof start>;
  beforeAll(() => {
    shared = start(settings);
  });
  afterAll(async () => (await shared)[Symbol.asyncDispose]());

  describe.each(dialects)('an id as %s', (dialect, toParams) => {
    const isApollo = dialect.startsWith('persistedQuery');
    const missed = isApollo
      ? [200, isAutomatic ? 'PERSISTED_QUERY_NOT_FOUND' : 'PERSISTED_QUERY_NOT_SUPPORTED']
      : [404, 'PERSISTED_DOCUMENT_NOT_FOUND'];
    const required = [403, 'PERSISTED_DOCUMENT_REQUIRED'];
    const mismatch = [400, 'PERSISTED_QUERY_HASH_MISMATCH'];

    test.each(['POST', 'GET'] as const)('is answered over %s, the same under every Accept', async (method) => {
      const gateway = await shared;
      for (const accept of accepts) {
        const ask = async (params: Params): Promise<readonly unknown[]> =>
          outcomeOf(await send(gateway.url, params, { method, ...(accept !== undefined && { accept }) }));
        expect(await ask(toParams(listedHash))).toEqual(isOff ? missed : [200, data]);
        expect(await ask(toParams('c1'))).toEqual(isOff ? missed : [200, { custom: 'Query' }]);
        expect(await ask(toParams(hashOf(other)))).toEqual(missed);
        expect(await ask(toParams('unknown'))).toEqual(missed);
        expect(await ask(toParams(hashOf(other), { query: free }))).toEqual(mismatch);
        expect(await ask(toParams(listedHash, { query: free }))).toEqual(mismatch);
        const said = toParams(listedHash, { query: `# said twice\n${listed}` });
        expect(await ask(said)).toEqual(isOff ? mismatch : [200, data]);
        const unlike = toParams('c1', { query: free });
        const unproven = isApollo ? mismatch : missed;
        expect(await ask(unlike)).toEqual(isOff ? unproven : [400, 'BAD_USER_INPUT']);
        const changed = toParams('m1', { query: mutation });
        const called = method === 'GET' ? [405, 'METHOD_NOT_ALLOWED'] : [200, { deleteProject: null }];
        expect((await ask(changed)).slice(0, 1)).toEqual((isOff ? unproven : called).slice(0, 1));
      }
      const ask = async (params: Params): Promise<unknown> => outcomeOf(await send(gateway.url, params, { method }));
      // A text of its own: all cases ask one gateway, and none may find the text of another one registered.
      const own = `${free} # ${dialect} over ${method}`;
      expect(await ask(toParams(hashOf(own)))).toEqual(missed);
      expect(await ask(toParams(hashOf(own), { query: own }))).toEqual(isOnly ? required : [200, freeData]);
      expect(await ask(toParams(hashOf(own)))).toEqual(isAutomatic && !isOnly ? [200, freeData] : missed);
      expect(await ask(toParams(hashOf(other)))).toEqual(missed);
      expect(gateway.reported).toEqual([]);
    });
  });

  test('free text is run or refused', async () => {
    await using gateway = await start(settings);
    const refused = [403, 'PERSISTED_DOCUMENT_REQUIRED'];
    expect(outcomeOf(await gateway.ask(free))).toEqual(isOnly ? refused : [200, freeData]);
    expect(outcomeOf(await send(gateway.url, { query: free }, { method: 'GET' }))).toEqual(
      isOnly ? refused : [200, freeData],
    );
    expect(outcomeOf(await gateway.ask(listed))).toEqual([200, data]);
    expect(outcomeOf(await gateway.ask(`#!\n${listed.replaceAll(' ', '\n,  ')} # ?`))).toEqual([200, data]);
    expect(outcomeOf(await gateway.ask('{ not graphql'))).toEqual(isOnly ? refused : [200, 'GRAPHQL_PARSE_FAILED']);
    const wouldBe = gateway.logged.filter((line) => line.includes('a document that is not listed was sent'));
    expect(wouldBe.length).toBe(mode === 'log' ? 3 : 0);
  });
});

describe('Automatic persisted queries', () => {
  test('miss, are registered and hit, and the headers keep a miss out of caches', async () => {
    await using gateway = await start();
    for (const method of ['GET', 'POST'] as const) {
      const query = `{ ${method}: __typename }`;
      const miss = await send(gateway.url, automatic(hashOf(query)), { method });
      expect(miss.body).toBe(
        '{"errors":[{"message":"PersistedQueryNotFound","extensions":{"code":"PERSISTED_QUERY_NOT_FOUND"}}]}',
      );
      expect(miss.headers.get('cache-control')).toBe('private, no-store');
      expect(outcomeOf(await send(gateway.url, registration(query), { method }))).toEqual([200, { [method]: 'Query' }]);
      expect(outcomeOf(await send(gateway.url, automatic(hashOf(query))))).toEqual([200, { [method]: 'Query' }]);
      expect(outcomeOf(await send(gateway.url, { documentId: `sha256:${hashOf(query)}` }))).toEqual([
        200,
        { [method]: 'Query' },
      ]);
    }
    const metrics = await gateway.gateway.metrics.render();
    for (const count of ['hits"} 4', 'misses"} 2', 'registrations"} 2'])
      expect(metrics).toContain(`gateway_automatic_documents_total{result="${count}`);
  });

  test('that are off say so, with status 200 and out of caches', async () => {
    await using gateway = await start({ automatic: false });
    const answer = await send(gateway.url, automatic(hashOf(free)));
    expect(answer.errors?.[0]?.message).toBe('PersistedQueryNotSupported');
    expect(answer.headers.get('cache-control')).toBe('private, no-store');
  });

  test.each([2, 0, '1', undefined])('of version %j are refused', async (version) => {
    await using gateway = await start();
    const params = { query: free, extensions: { persistedQuery: { version, sha256Hash: hashOf(free) } } };
    expect(outcomeOf(await send(gateway.url, params))).toEqual([400, 'BAD_USER_INPUT']);
  });

  test('are stored only if they are valid and match their hash', async () => {
    await using gateway = await start();
    const invalid = '{ nothing }';
    const broken = '{ broken';
    expect(outcomeOf(await send(gateway.url, registration(invalid)))).toEqual([200, 'GRAPHQL_VALIDATION_FAILED']);
    expect(outcomeOf(await send(gateway.url, registration(broken)))).toEqual([200, 'GRAPHQL_PARSE_FAILED']);
    expect(outcomeOf(await send(gateway.url, automatic(hashOf(free), { query: other })))).toEqual([
      400,
      'PERSISTED_QUERY_HASH_MISMATCH',
    ]);
    for (const text of [invalid, broken, free, other]) {
      expect(outcomeOf(await send(gateway.url, automatic(hashOf(text))))).toEqual([200, 'PERSISTED_QUERY_NOT_FOUND']);
    }
  });

  test('keep to the limits of documents', async () => {
    await using gateway = await start();
    const deep = `{ ${Array.from({ length: 31 }, (_, index) => `a${index}: __typename`).join(' ')} }`;
    expect(outcomeOf(await send(gateway.url, registration(deep)))[1]).not.toHaveProperty('a0');
    expect(outcomeOf(await send(gateway.url, automatic(hashOf(deep))))).toEqual([200, 'PERSISTED_QUERY_NOT_FOUND']);
  });

  test('of a mutation run by POST alone', async () => {
    await using gateway = await start();
    const params = registration('mutation { deleteProject(input: { id: "2" }) { deletedId } }');
    expect(outcomeOf(await send(gateway.url, params, { method: 'GET' }))).toEqual([405, 'METHOD_NOT_ALLOWED']);
    expect((await send(gateway.url, params)).data).toEqual({ deleteProject: null });
  });
});

describe('A refusal', () => {
  test('of an unknown id never reads like a miss of Apollo', async () => {
    await using gateway = await start();
    const { body } = await send(gateway.url, { documentId: 'unknown' });
    expect(body).toContain('There is no document with the id \\"unknown\\".');
    expect(body).not.toMatch(/PersistedQuery/);
  });

  test('of an unknown id is told in the line of the operation, cut and without control characters', async () => {
    await using gateway = await start();
    const inLines = (member: RegExp): unknown =>
      gateway.logged.filter((line) => line.startsWith('info operation ')).map((line) => member.exec(line)?.[1]);
    const unknownHash = hashOf('{ unknown }');
    await send(gateway.url, { documentId: 'unknown' });
    await send(gateway.url, { documentId: `a\u001B[31m\r\n\u202E\u2028b\u0000${'c'.repeat(5000)}` });
    await send(gateway.url, automatic(unknownHash));
    await send(gateway.url, { documentId: listedHash });
    await send(gateway.url, { query: free });
    expect(inLines(/"unknownDocument":"([^"]*)"/)).toEqual([
      'unknown',
      `a[31mb${'c'.repeat(88)}`,
      unknownHash,
      undefined,
      undefined,
    ]);
    expect(inLines(/"document":"([^"]*)"/)).toEqual([undefined, undefined, undefined, listedHash, undefined]);
  });
});

describe('Headers of a GET', () => {
  const get = { method: 'GET' } as const;
  const byId = { documentId: listedHash };

  test('name what the answer depends on, and forbid caching by default', async () => {
    await using gateway = await start();
    for (const params of [byId, { query: free }, { documentId: 'unknown' }, { query: '{' }, { variables: '[' }]) {
      const { headers } = await send(gateway.url, params, get);
      expect(headers.get('vary')).toBe('Authorization, Accept, Accept-Encoding');
      expect(headers.get('cache-control')).toBe('no-store');
    }
    expect((await send(gateway.url, byId)).headers.get('vary')).toBe('Authorization, Accept, Accept-Encoding');
  });

  test('allow the caller to cache an error-free answer by id for PERSISTED_GET_MAX_AGE', async () => {
    await using gateway = await start({ getMaxAge: 60 });
    const cacheOf = async (params: Params, method: 'GET' | 'POST' = 'GET'): Promise<string | null> =>
      (await send(gateway.url, params, { method })).headers.get('cache-control');
    expect(await cacheOf(byId)).toBe('private, max-age=60');
    expect(await cacheOf(registration(free))).toBe('private, max-age=60');
    expect(await cacheOf(automatic(hashOf(free)))).toBe('private, max-age=60');
    expect(await cacheOf(byId, 'POST')).toBe('no-store');
    expect(await cacheOf({ query: free })).toBe('no-store');
    expect(await cacheOf({ documentId: 'unknown' })).toBe('no-store');
    expect(await cacheOf(registration('{ project(id: "1") { name } organization(id: "no") { id } }'))).toBe('no-store');
  });
});

describe('A listed document', () => {
  test('is exempt from the limits of documents', async () => {
    using folder = createFolder();
    const wide = `{ ${Array.from({ length: 40 }, (_, index) => `a${index}: __typename`).join(' ')} }`;
    const files = folder.write('wide.graphql', wide);
    await using gateway = await start({ files });
    expect((await gateway.ask(wide)).data).toBeUndefined();
    expect((await send(gateway.url, { documentId: hashOf(wide) })).data).toMatchObject({ a39: 'Query' });
  });

  test('may use all of GraphQL, introspection included, and is compiled before it is asked for', async () => {
    using folder = createFolder();
    const files = folder.write('m.json', {
      schema: 'query ($name: String!) { __schema { queryType { name } } __type(name: $name) { kind } }',
      fragments: `query ($with: Boolean = true) { ...F @include(if: $with) ... on Query @skip(if: $with) { __typename } }
        fragment F on Query { projects(first: 1) { nodes { ... on Node { __typename id } name } } }`,
      abstract: 'query ($id: ID!) { node(id: $id) { __typename ... on Project { name } ... on Dashboard { pinned } } }',
    });
    await using gateway = await start({ files });
    for (let times = 0; times < 2; times += 1) {
      const schema = await send(gateway.url, { id: 'schema', variables: { name: 'Project' } });
      expect(schema.data).toEqual({ __schema: { queryType: { name: 'Query' } }, __type: { kind: 'OBJECT' } });
      expect((await send(gateway.url, { id: 'fragments' })).data).toMatchObject({
        projects: { nodes: [{ __typename: 'Project' }] },
      });
      expect((await send(gateway.url, { id: 'fragments', variables: { with: false } })).data).toEqual({
        __typename: 'Query',
      });
      expect(outcomeOf(await send(gateway.url, { id: 'abstract', variables: { id: 'x' } }))[1]).toBe('BAD_USER_INPUT');
      expect(outcomeOf(await send(gateway.url, { id: 'abstract' }))[1]).toBe('BAD_USER_INPUT');
    }
  });

  test('that is another one but for its white space keeps its own id', async () => {
    using folder = createFolder();
    await using gateway = await start({
      files: folder.write('m.json', { a: '{ a: __typename }', b: '{a:__typename}' }),
    });
    for (const id of ['a', 'b']) {
      expect(outcomeOf(await send(gateway.url, { id, query: '{\n a: __typename }' }))).toEqual([200, { a: 'Query' }]);
    }
  });

  test('with several operations runs the one that is named', async () => {
    using folder = createFolder();
    const text = 'query A { a: __typename } query B { b: __typename }';
    await using gateway = await start({ files: folder.write('two.json', { two: text }) });
    const ask = async (params: Params): Promise<unknown> =>
      outcomeOf(await send(gateway.url, { id: 'two', ...params }));
    expect(await ask({ operationName: 'A' })).toEqual([200, { a: 'Query' }]);
    expect(await ask({ operationName: 'B' })).toEqual([200, { b: 'Query' }]);
    expect(await ask({})).toEqual([200, 'BAD_USER_INPUT']);
    expect(await ask({ operationName: '' })).toEqual([200, 'BAD_USER_INPUT']);
    expect(await ask({ operationName: 'C' })).toEqual([200, 'BAD_USER_INPUT']);
  });

  test('is counted: hits, errors and REST calls; what no client asked for is listed', async () => {
    using folder = createFolder();
    const files = folder.write('m.json', {
      projects: '{ projects(first: 1) { nodes { name } } }',
      missing: 'query Missing { projects(first: 1) { nodes { name } } organization(id: "no") { id } }',
      unused: '{ __typename }',
    });
    await using gateway = await start({ files });
    await send(gateway.url, { id: 'projects' });
    await send(gateway.url, { id: 'projects' });
    await send(gateway.url, { id: 'missing' });
    expect(gateway.upstream.requests.length).toBe(3);
    expect(await countsOfDocuments(gateway.gateway)).toEqual([
      { id: 'projects', hits: 2, errors: 0, restCalls: 2 },
      { id: 'missing', hits: 1, errors: 1, restCalls: 1 },
      { id: 'unused', hits: 0, errors: 0, restCalls: 0 },
    ]);
    await gateway.ask('query Unlisted { __typename }');
    const metrics = await gateway.gateway.metrics.render();
    expect(metrics).toContain('gateway_listed_operations_total{operation="anonymous",code="none"} 2');
    expect(metrics).toContain('gateway_listed_operations_total{operation="Missing",code="BAD_USER_INPUT"} 1');
    expect(metrics).not.toContain('Unlisted');
  });

  test('counts no error if the answer is complete but its client has left', async () => {
    using folder = createFolder();
    const files = folder.write('m.json', { projects: '{ projects(first: 1) { nodes { name } } }' });
    const routes = { 'GET /api/projects/': listOf([listedProject(1)]) };
    const { upstream, gateway } = await startBoth(routes, { persisted: { files } }, { hold: 1000 });
    // However busy the machine is, the second client comes in time to share the operation of the first one.
    vi.spyOn(performance, 'now').mockReturnValue(performance.now());
    const leave = new AbortController();
    const headers = { authorization: `Bearer ${key}` };
    const left = fetch(`${gateway.url}?id=projects`, { headers, signal: leave.signal });
    await expect.poll(() => upstream.requests).toHaveLength(1);
    const stayed = send(gateway.url, { id: 'projects' });
    await expect.poll(() => metricsOf(gateway)).toContain('gateway_shared_operations_total 1');
    leave.abort();
    await expect(left).rejects.toThrow('aborted');
    // The gateway has learned by then that the client has left.
    await gateway.ask('{ __typename }');
    upstream.release();
    expect((await stayed).errors).toBeUndefined();
    expect(await metricsOf(gateway)).toContain('gateway_operations_total{code="CLIENT_LEFT"} 1');
    expect(await countsOfDocuments(gateway.gateway)).toEqual([{ id: 'projects', hits: 2, errors: 0, restCalls: 1 }]);
  });
});

describe('A listed document that is refused', () => {
  test('is counted as asked for, with an error and no REST call', async () => {
    using folder = createFolder();
    const files = folder.write('m.json', {
      change: 'mutation { deleteProject(input: { id: 1 }) { deletedId } }',
      expensive: '{ projects(first: 100) { nodes { dashboards(first: 100) { nodes { tiles } } } } }',
      wrong: '{ nothing }',
    });
    await using gateway = await start({ files });
    await fetch(`${gateway.url}?id=change`);
    await send(gateway.url, { id: 'expensive' });
    await send(gateway.url, { id: 'wrong' });
    expect(gateway.upstream.requests).toEqual([]);
    expect(await countsOfDocuments(gateway.gateway)).toEqual(
      ['change', 'expensive', 'wrong'].map((id) => ({ id, hits: 1, errors: 1, restCalls: 0 })),
    );
  });
});

describe('Introspection in mode only', () => {
  const introspection = '{ __schema { queryType { name } } __typename }';

  test('is refused like every other text if it is switched off', async () => {
    using folder = createFolder();
    const persisted = { mode: 'only', files: folder.write('a.graphql', listed) } as const;
    await using gateway = await startGateway({ url: 'http://127.0.0.1:1' }, { persisted, introspection: false });
    for (const text of [introspection, free]) {
      expect(outcomeOf(await gateway.ask(text))).toEqual([403, 'PERSISTED_DOCUMENT_REQUIRED']);
    }
  });

  test('is run like free text if it is switched on, and nothing beside it', async () => {
    using folder = createFolder();
    const upstream = { url: 'http://127.0.0.1:1' };
    const persisted = { mode: 'only', files: folder.write('a.graphql', listed) } as const;
    await using on = await startGateway(upstream, { persisted, introspection: true });
    expect((await on.ask(introspection)).data).toEqual({
      __schema: { queryType: { name: 'Query' } },
      __typename: 'Query',
    });
    expect(outcomeOf(await on.ask('{ __typename projects { nodes { id } } }'))[0]).toBe(403);
    expect(outcomeOf(await on.ask('{ ...F } fragment F on Query { __typename }'))[0]).toBe(403);
  });
});
