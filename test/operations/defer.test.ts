import { describe, expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import { budgetOf } from '../support/budgets.ts';
import { key, startGateway, type TestGateway } from '../support/gateway.ts';
import { accepts, askForParts, type Merged, mergeParts, type Part } from '../support/parts.ts';
import { createFolder } from '../support/persisted.ts';
import { refusal } from '../support/replies.ts';
import type { Handler } from '../support/routes.ts';
import { dashboard, listedDashboard, project } from '../support/rows.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const formats = ['v0.2', '20220824'] as const;

const routes = {
  'GET /api/projects/1/': project(1),
  'GET /api/projects/1/dashboards/': {
    count: 2,
    next: null,
    previous: null,
    results: [listedDashboard(1), listedDashboard(2)],
  },
  'GET /api/projects/1/dashboards/1/': dashboard(1),
  'GET /api/projects/1/dashboards/2/': dashboard(2),
  'GET /api/projects/@current/': project(1, { primary_dashboard: 1 }),
  'GET /api/projects/@current/dashboards/1/': dashboard(1),
};

/** An upstream that answers some lines only once they are released. */
function startHolding(held: readonly string[], released: Promise<void>): Promise<Upstream> {
  const waiting = Object.entries(routes).map(([line, answer]): [string, Handler] => [
    line,
    () => (held.includes(line) ? released.then(() => answer) : answer),
  ]);
  return startUpstream(Object.fromEntries(waiting), { quiet: 1 });
}

const never = new Promise<void>(() => undefined);

async function partsOf(gateway: TestGateway, query: string, format: (typeof formats)[number], extensions = {}) {
  const { parts, headers } = await askForParts(gateway.url, query, accepts[format], { extensions });
  return { headers, parts: await Array.fromAsync(parts) };
}

const details = 'GET /api/projects/1/dashboards/1/';
const list = 'GET /api/projects/1/dashboards/';
const row = 'GET /api/projects/1/';

/** Queries, each with the calls that the upstream holds back, and the data that the first part has all the same. */
const early: readonly [name: string, query: string, held: readonly string[], data: unknown][] = [
  [
    'columns that lists have, before those that only single objects have',
    '{ project(id: "1") { dashboards(first: 2) { nodes { name ... @defer { tiles } } } } }',
    [details, 'GET /api/projects/1/dashboards/2/'],
    { project: { dashboards: { nodes: [{ name: 'Dashboard 1' }, { name: 'Dashboard 2' }] } } },
  ],
  [
    'columns of an object, before a list below it',
    '{ project(id: "1") { name ... @defer { dashboards(first: 2) { totalCount } } } }',
    [list],
    { project: { name: 'Project 1' } },
  ],
  [
    'a list below an object, before the columns of the object',
    '{ project(id: "1") { dashboards(first: 2) { totalCount } ... @defer { name } } }',
    [row],
    { project: { dashboards: { totalCount: 2 } } },
  ],
  [
    'an object that a row refers to, before its columns',
    '{ node(id: "RGFzaGJvYXJkOjE6MQ") { ... on Dashboard { name project { id ... @defer { name } } } } }',
    [row],
    { node: { name: 'Dashboard 1', project: { id: 'UHJvamVjdDox' } } },
  ],
  [
    'an id below `@current`, before the columns of its object',
    '{ project(id: "@current") { primaryDashboard { id ... @defer { name } } } }',
    ['GET /api/projects/@current/dashboards/1/'],
    { project: { primaryDashboard: { id: 'RGFzaGJvYXJkOjE6MQ' } } },
  ],
  [
    'a field, before one of the same object that another part has too',
    '{ project(id: "1") { dashboards(first: 2) { totalCount } } ... @defer { project(id: "1") { name } } }',
    [row],
    { project: { dashboards: { totalCount: 2 } } },
  ],
];

/** Fields whose answers may be larger than planned. */
const [tiles, values] = ['dashboard(id: "1") { tiles }', 'eventValues(key: "a") { values { name } }'];

describe.each(formats)('an answer in parts of %s', (format) => {
  test.each(early)('has %s', async (_name, query, held, data) => {
    const release = Promise.withResolvers<void>();
    await using upstream = await startHolding(held, release.promise);
    await using gateway = await startGateway(upstream);
    const { parts } = await askForParts(gateway.url, query, accepts[format]);
    const first = await parts.next();
    expect(first.value).toMatchObject({ data, hasNext: true });
    // They are under way already.
    await expect.poll(() => requestedOf(upstream)).toEqual(expect.arrayContaining([...held]));
    release.resolve();
    const whole = await gateway.ask(query.replaceAll('@defer', ''));
    const all = [first.value, ...(await Array.fromAsync(parts))];
    expect({ ...whole, ...mergeParts(all) }).toEqual({ ...whole, errors: [] });
    expect(gateway.reported).toEqual([]);
  });

  test('has a list below a deferred object before the columns that only a fragment within needs', async () => {
    const release = Promise.withResolvers<void>();
    await using upstream = await startHolding([row], release.promise);
    await using gateway = await startGateway(upstream);
    const query = '{ ... @defer { project(id: "1") { dashboards(first: 2) { totalCount } ... @defer { name } } } }';
    const { parts } = await askForParts(gateway.url, query, accepts[format]);
    const all = [(await parts.next()).value, (await parts.next()).value];
    expect(JSON.stringify(all)).toContain('{"project":{"dashboards":{"totalCount":2}}}');
    release.resolve();
    all.push(...(await Array.fromAsync(parts)));
    expect(mergeParts(all).data).toEqual({ project: { dashboards: { totalCount: 2 }, name: 'Project 1' } });
  });

  test('names its format, is neither stored nor collected by a proxy, and tells at its end what it has cost', async () => {
    const { gateway } = await startBoth(routes);
    const query = '{ project(id: "1") { name ... @defer { dashboards { totalCount } } } }';
    const { headers, parts } = await partsOf(gateway, query, format, { cost: true });
    const parameter = format === 'v0.2' ? 'incrementalSpec=v0.2' : 'deferSpec=20220824';
    expect(headers.get('content-type')).toBe(`multipart/mixed; boundary="-"; ${parameter}`);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-accel-buffering')).toBe('no');
    expect(parts.map(({ hasNext, extensions }) => [hasNext, extensions])).toEqual([
      [true, undefined],
      [false, { cost: { requested: 2, actual: 2, limit: 150 } }],
    ]);
  });

  test('is not begun if the budget of its key is spent, and says at its end what is left of it', async () => {
    const { upstream, gateway } = await startBoth(routes, { budget: budgetOf({ rest: '2/60' }) });
    const query = '{ project(id: "1") { name ... @defer { dashboards { totalCount } } } }';
    const { parts } = await partsOf(gateway, query, format, { cost: true });
    expect(parts.at(-1)?.extensions).toMatchObject({
      cost: { actual: 2, budget: [{ surface: 'rest', limit: 2, remaining: 0 }] },
    });
    const refused = await askForParts(gateway.url, query, accepts[format]);
    expect(refused.status).toBe(429);
    expect(await Array.fromAsync(refused.parts)).toMatchObject([
      { errors: [{ extensions: { code: 'RATE_LIMITED' } }] },
    ]);
    expect(upstream.requests).toHaveLength(2);
  });

  test('is begun for what the cache has if the budget is spent, also if all of it is read for deferred parts', async () => {
    const { upstream, gateway } = await startBoth(routes, {
      budget: budgetOf({ rest: '1/60' }),
      cache: { ttls: { projects: 60 }, staleSeconds: 600, maxBytes: 2 ** 20 },
    });
    const query = '{ __typename ... @defer { project(id: "1") { name } } }';
    await partsOf(gateway, query, format);
    const { parts } = await partsOf(gateway, query, format);
    expect(mergeParts(parts)).toMatchObject({ data: { project: { name: 'Project 1' } }, errors: [] });
    expect(upstream.requests).toHaveLength(1);
  });

  test('says which fragment failed, and only that one is lost', async () => {
    const broken = { ...listedDashboard(1), id: null };
    const { gateway } = await startBoth({
      ...routes,
      [list]: { count: 1, next: null, previous: null, results: [broken] },
    });
    const query =
      '{ project(id: "1") { name dashboards { nodes { name ... @defer(label: "a") { id } ... @defer(label: "b") { pinned } } } } }';
    const { parts } = await partsOf(gateway, query, format);
    const { data, errors } = mergeParts(parts);
    expect(data).toMatchObject({ project: { name: 'Project 1', dashboards: { nodes: [{ name: 'Dashboard 1' }] } } });
    expect(JSON.stringify(data)).toContain('"pinned"');
    expect(errors).toMatchObject([
      { path: ['project', 'dashboards', 'nodes', 0, 'id'], extensions: { code: 'UPSTREAM_INVALID_RESPONSE' } },
    ]);
  });

  test.each(['gzip', 'br'])('can be read part by part in %s', async (coding) => {
    const release = Promise.withResolvers<void>();
    await using upstream = await startHolding([list], release.promise);
    await using gateway = await startGateway(upstream);
    const query = '{ project(id: "1") { name ... @defer { dashboards { totalCount } } } }';
    const headers = { 'accept-encoding': coding };
    const { headers: answered, parts } = await askForParts(gateway.url, query, accepts[format], { headers });
    expect(answered.get('content-encoding')).toBe(coding);
    expect(await parts.next()).toMatchObject({ value: { data: { project: { name: 'Project 1' } } } });
    release.resolve();
    expect(await Array.fromAsync(parts)).toMatchObject([{ hasNext: false }]);
  });

  test('ends the calls of what is left when its client leaves', async () => {
    await using upstream = await startHolding([list], never);
    await using gateway = await startGateway(upstream, { operationDeadlineMs: 60_000 });
    const leaving = new AbortController();
    const query = '{ project(id: "1") { name ... @defer { dashboards { totalCount } } } }';
    const { parts } = await askForParts(gateway.url, query, accepts[format], { signal: leaving.signal });
    expect(await parts.next()).toMatchObject({ value: { data: { project: { name: 'Project 1' } } } });
    leaving.abort();
    await expect.poll(() => upstream.records.map(({ cancelled }) => cancelled)).toContain(true);
  });

  test('ends at the deadline, with the errors of what had not come', async () => {
    await using upstream = await startHolding([list], never);
    await using gateway = await startGateway(upstream, { operationDeadlineMs: 500 });
    const query = '{ project(id: "1") { name ... @defer { dashboards { totalCount } } } }';
    const { parts } = await partsOf(gateway, query, format);
    expect(mergeParts(parts)).toMatchObject({
      data: { project: { name: 'Project 1', dashboards: null } },
      errors: [{ path: ['project', 'dashboards'], extensions: { code: 'UPSTREAM_TIMEOUT' } }],
    });
  });

  test.each([
    ['errors than an answer may', { maxErrors: 2 }, 'project'],
    ['paths of errors than an answer may', {}, `${'a'.repeat(100_000)}: project`],
  ])('tells no more %s, and how many it leaves out', async (_what, limit, field) => {
    const results = Array.from({ length: 5 }, (_, id) => listedDashboard(id + 1));
    const { gateway } = await startBoth(
      {
        [row]: project(1),
        [list]: { count: 5, next: null, previous: null, results },
        'GET /api/projects/1/dashboards/:id/': refusal(403, 'permission_denied', 'Missing scope.'),
      },
      limit,
    );
    const query = `{ ${field}(id: "1") { dashboards(first: 5) { nodes { name ... @defer { tiles } } } } }`;
    const { parts } = await partsOf(gateway, query, format);
    const codes = codesOf(mergeParts(parts).errors);
    expect(codes).toEqual(['FORBIDDEN', 'FORBIDDEN', 'LIMIT_EXCEEDED', 'LIMIT_EXCEEDED', 'LIMIT_EXCEEDED']);
  });

  test.each([
    ['bytes', { maxAnswerBytes: 2000 }, tiles],
    ['objects', { maxAnswerObjects: 10, maxPageSize: 5 }, values],
  ])('that exceeds the limit of %s ends there, and keeps what was told', async (unit, limit, beyond) => {
    const release = Promise.withResolvers<void>();
    const names = Array.from({ length: 20 }, (_, index) => ({ name: `Value ${index}` }));
    const { gateway } = await startBoth(
      {
        ...routes,
        [details]: () => release.promise.then(() => dashboard(1, { tiles: [{ text: 'x'.repeat(3000) }] })),
        'GET /api/projects/1/events/values/': () => release.promise.then(() => names),
      },
      limit,
    );
    const query = `{ project(id: "1") { dashboards(first: 1) { totalCount } ... @defer { ${beyond} } } }`;
    const { parts } = await askForParts(gateway.url, query, accepts[format]);
    const first = await parts.next();
    release.resolve();
    const all = [first.value, ...(await Array.fromAsync(parts))];
    const { data, errors } = mergeParts(all);
    expect(data).toEqual({ project: { dashboards: { totalCount: 2 } } });
    expect(codesOf(errors)).toEqual(['COST_LIMIT_EXCEEDED']);
    expect(errors[0]?.extensions).toHaveProperty(unit);
    expect(all.map(({ hasNext }: Part) => hasNext)).toEqual([true, false]);
  });

  test('says what is left of the budget also if it ends early', async () => {
    const large = dashboard(1, { tiles: [{ text: 'x'.repeat(3000) }] });
    const release = Promise.withResolvers<void>();
    const { gateway } = await startBoth(
      {
        ...routes,
        [details]: large,
        'GET /api/projects/2/': () => release.promise.then(() => project(2)),
      },
      { maxAnswerBytes: 2000, budget: budgetOf({ rest: '9/60' }) },
    );
    const query = `{ ... @defer { project(id: "1") { ${tiles} } } ... @defer { late: project(id: "2") { name } } }`;
    const { parts } = await partsOf(gateway, query, format, { cost: true });
    release.resolve();
    expect(codesOf(mergeParts(parts).errors)).toContain('COST_LIMIT_EXCEEDED');
    expect(parts.at(-1)).toMatchObject({
      hasNext: false,
      extensions: { cost: { actual: 2, budget: [{ surface: 'rest', limit: 9, remaining: 7 }] } },
    });
  });

  test('is not stored if it comes by GET and by id, as one document may be', async () => {
    using folder = createFolder();
    const query = '{ project(id: "1") { name ... @defer { dashboards { totalCount } } } }';
    const files = folder.write('listed.json', { page: query });
    const { gateway } = await startBoth(routes, { persisted: { files, getMaxAge: 60 } });
    const ask = (accept: string): Promise<Response> =>
      fetch(`${gateway.url}?documentId=page`, { headers: { accept, authorization: `Bearer ${key}` } });
    const inParts = await ask(accepts[format]);
    expect(inParts.headers.get('content-type')).toMatch(/^multipart\/mixed; /);
    expect(inParts.headers.get('cache-control')).toBe('no-store');
    expect(await inParts.text()).toContain('"totalCount":2');
    const whole = await ask('application/json');
    expect(whole.headers.get('cache-control')).toBe('private, max-age=60');
    expect(await whole.json()).toEqual({ data: { project: { name: 'Project 1', dashboards: { totalCount: 2 } } } });
  });
});

function codesOf(errors: Merged['errors']): readonly unknown[] {
  return errors.map(({ extensions }) => extensions?.['code']);
}

/** `METHOD path` of each request. */
function requestedOf({ requests }: Upstream): readonly string[] {
  return requests.map((line) => line.replace(/\?.*$/, ''));
}

describe('a document is refused', () => {
  test.each([
    ['whose labels are not unique', '{ ... @defer(label: "a") { __typename } ... @defer(label: "a") { __typename } }'],
    ['whose label is a variable', 'query ($a: String!) { ... @defer(label: $a) { __typename } }'],
    [
      'that defers at the root of a mutation',
      'mutation { ... @defer { deleteProject(input: { id: "1" }) { deletedId } } }',
    ],
  ])('%s', async (_name, query) => {
    const { gateway } = await startBoth(routes);
    const { errors } = await gateway.ask(query, { variables: { a: 'x' } });
    expect(errors).toMatchObject([{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }]);
  });

  test('that defers anything, if answers do not come in parts, and clients cannot see the directive', async () => {
    const { gateway } = await startBoth(routes, { incremental: false });
    const { parts, headers } = await askForParts(gateway.url, '{ ... @defer { __typename } }', accepts['v0.2']);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await Array.fromAsync(parts)).toMatchObject([{ errors: [{ message: 'Unknown directive "@defer".' }] }]);
    const { body } = await gateway.ask('{ __schema { directives { name } } }');
    expect(body).toContain('include');
    expect(body).not.toContain('defer');
  });
});

describe('the plan of an operation', () => {
  const explain = { explain: 'plan' };

  test.each([
    ['that defers details', '{ project(id: "1") { dashboards { nodes { name ... @defer { tiles } } } } }', 1, 2],
    ['that defers all', '{ __typename ... @defer { project(id: "1") { name } } }', 0, 1],
    [
      'whose fragment defers details',
      '{ project(id: "1") { ...a ...a } } fragment a on Project { dashboards { nodes { name ... @defer { tiles } } } }',
      1,
      2,
    ],
  ])('%s tells the wave after which the first part goes out', async (_name, query, firstPartAfter, waves) => {
    const { upstream, gateway } = await startBoth(routes, { explain: true });
    const { extensions } = await gateway.ask(query, { extensions: explain });
    expect(extensions).toMatchObject({ explain: { firstPartAfter, waves } });
    expect(upstream.requests).toEqual([]);
  });

  test.each([
    [
      'whose variable defers nothing',
      'query A($no: Boolean = false) { project(id: "1") { ... @defer(if: $no) { name } } }',
    ],
    [
      'whose variable says neither, being null',
      'query A($when: Boolean = null) { project(id: "1") { ... @defer(if: $when) { name } } }',
    ],
    [
      'whose variable leaves out what is deferred',
      'query A($no: Boolean = false) { project(id: "1") { name ... @include(if: $no) { ... @defer { name } } } }',
    ],
    [
      'beside which another one defers',
      'query A { project(id: "1") { name } } query B { project(id: "1") { ...b @defer } } fragment b on Project { name }',
    ],
  ])('%s tells of no first part, as its answer is one document', async (_name, query) => {
    const { gateway } = await startBoth(routes, { explain: true });
    const { extensions } = await gateway.ask(query, { operationName: 'A', extensions: explain });
    expect(extensions).toMatchObject({ explain: { waves: 1 } });
    expect(extensions).not.toHaveProperty('explain.firstPartAfter');
    const { parts, headers } = await askForParts(gateway.url, query, accepts['v0.2'], { operationName: 'A' });
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await Array.fromAsync(parts)).toHaveLength(1);
  });

  test('hints what to defer, unless answers do not come in parts', async () => {
    const nested = '{ project(id: "1") { dashboards { nodes { name tiles } } } }';
    const lists = '{ projects(first: 2) { nodes { dashboards { nodes { name } } events { nodes { event } } } } }';
    await using upstream = await startUpstream(routes);
    const hintsWith = async (incremental: boolean, query = nested): Promise<string> => {
      await using gateway = await startGateway(upstream, { explain: true, incremental });
      const { extensions } = await gateway.ask(query, { extensions: explain });
      return JSON.stringify(extensions);
    };
    const hint = 'put `@defer` on what project.dashboards.nodes needs in wave 2, and a first part is sent after wave 1';
    expect(await hintsWith(true)).toContain(hint);
    expect(await hintsWith(true, lists)).toContain(
      'on what projects.nodes.dashboards and projects.nodes.events need in wave 2',
    );
    expect(await hintsWith(false)).not.toContain('@defer');
    const many = '{ projects(first: 51) { nodes { events(first: 100) { nodes { ... @defer { event } } } } } }';
    const tooMany = await hintsWith(true, many);
    expect(tooMany).toContain(
      'it may defer more than 5000 fragments or 4194304 bytes of labels and paths, so it is answered as one document',
    );
    expect(tooMany).not.toContain('firstPartAfter');
  });
});
