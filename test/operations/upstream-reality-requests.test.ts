import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { startBoth, startChanging } from '../support/both.ts';
import { at } from '../support/connections.ts';
import { organizationId } from '../support/current.ts';
import { as } from '../support/load.ts';
import { codesOf } from '../support/outcomes.ts';
import { sendRaw } from '../support/raw-http.ts';
import { type Json, type Reply, refusal, reply } from '../support/replies.ts';
import { dashboard, event, plugin, project } from '../support/rows.ts';

const eventsPath = '/api/projects/1/events/';
const pluginsPath = `/api/organizations/${organizationId}/plugins/`;
const one = '{ project(id: 1) { name } }';

test('JSON is asked for except for CSV, and text/csv is never parsed as JSON', async () => {
  const { upstream, gateway, answerWith } = await startChanging();
  answerWith({
    [`GET ${eventsPath}?limit=50&format=csv`]: reply({ headers: { 'content-type': 'text/csv' }, body: 'id\n1\n' }),
    [`GET ${eventsPath}`]: { next: null, results: [event(1)] },
    'GET /api/projects/1/': project(1),
    'PATCH /api/projects/1/': project(1),
    'POST /api/projects/': project(1),
    'DELETE /api/projects/1/': reply({ status: 204 }),
  });
  await gateway.ask(
    '{ project(id: 1) { name eventsCsv { csv } events { nodes { id } } eventValues(key: "a") { body } } }',
  );
  await gateway.ask(`mutation { createProject(input: {}) { project { id } } updateProject(input: { id: 1 }) { project { id } }
    deleteProject(input: { id: 1 }) { deletedId } }`);
  expect(upstream.records).toHaveLength(7);
  for (const { target, headers } of upstream.records)
    expect([target, headers.accept]).toEqual([target, target.includes('csv') ? 'text/csv' : 'application/json']);

  const tables = ['uuid,event\n1,"a ""b"""\n', '[1, 2]', '{"id": 9007199254740993}', '"text"', 'null', '17', ''];
  for (const body of tables) {
    for (const type of ['text/csv', 'text/csv; charset=utf-8', 'text/plain', undefined]) {
      answerWith({ [`GET ${eventsPath}`]: reply({ headers: { 'content-type': type }, body }) });
      const asked = await gateway.ask('{ project(id: 1) { eventsCsv { csv } } }');
      expect([type, asked.data as unknown]).toEqual([type, { project: { eventsCsv: { csv: body } } }]);
    }
  }
  for (const type of ['text/csv', 'Text/CSV;charset=UTF-8']) {
    answerWith(() => reply({ headers: { 'content-type': type }, body: JSON.stringify(project(1)) }));
    expect(codesOf(await gateway.ask(one))).toEqual(['project UPSTREAM_INVALID_RESPONSE']);
  }
  // Errors of CSV have no body; a proxy's page is no table.
  for (const [answer, code] of [
    [reply({ status: 400 }), 'BAD_USER_INPUT'],
    [refusal(401, 'not_authenticated', 'No.'), 'UNAUTHENTICATED'],
    [reply({ headers: { 'content-type': 'text/html' }, body: '<p>' }), 'UPSTREAM_INVALID_RESPONSE'],
    [reply({ headers: { 'content-type': 'text/csv' }, body: '<!doctype html>' }), 'UPSTREAM_INVALID_RESPONSE'],
    [reply({ body: { results: [] } }), 'UPSTREAM_INVALID_RESPONSE'],
  ] as const) {
    answerWith(() => answer);
    // Each case has a key of its own, because the gateway makes no further call with a refused key.
    const asked = await gateway.ask('{ project(id: 1) { eventsCsv { csv } } }', as(`phx_${code}`));
    expect(codesOf(asked)).toEqual([`project.eventsCsv ${code}`]);
  }
});

test('unknown fields are ignored, in rows and around them', async () => {
  const unknown =
    '"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"toString":"x","then":1,"toJSON":"y",' +
    '"hasOwnProperty":null,"kind":"Dashboard","row":{},"new_feature":{"deep":[1]},"9":9,"":""';
  const extended = (row: object): Reply => reply({ body: `{${unknown},${JSON.stringify(row).slice(1)}` });
  const page = (row: object): string => `{${unknown},${JSON.stringify(row).slice(1)}`;
  const { gateway } = await startBoth({
    'GET /api/projects/1/': extended(project(1)),
    'PATCH /api/projects/1/': extended(project(1)),
    [`GET ${eventsPath}`]: reply({ body: `{${unknown},"next":null,"results":[${page(event(1))}]}` }),
    [`GET ${pluginsPath}`]: reply({ body: `{"count":1,"next":null,"results":[${page(plugin(1))}],${unknown}}` }),
    'GET /api/projects/1/dashboards/5/': extended(dashboard(5, { created_by: { email: 'a@example.com', rôle: 1 } })),
  });
  const asked = await gateway.ask(`{
    project(id: 1) { name timezone events { nodes { event } } dashboard(id: 5) { name createdBy { email } tiles } }
    organization(id: "${organizationId}") { plugins { totalCount nodes { name } } } }`);
  expect(asked.errors).toBeUndefined();
  expect(asked.data).toEqual({
    project: {
      name: 'Project 1',
      timezone: 'Europe/Berlin',
      events: { nodes: [{ event: '$pageview' }] },
      dashboard: { name: 'Dashboard 5', createdBy: { email: 'a@example.com' }, tiles: dashboard(5)['tiles'] },
    },
    organization: { plugins: { totalCount: 1, nodes: [{ name: 'Plugin 1' }] } },
  });
  const written = await gateway.ask('mutation { updateProject(input: { id: 1 }) { project { name } } }');
  expect(written.data).toEqual({ updateProject: { project: { name: 'Project 1' } } });
  expect({}).not.toHaveProperty('polluted');
});

test('cookies, Origin, Referer and undeclared query parameters are not forwarded, nor anything else but trace context', async () => {
  const { upstream, gateway } = await startBoth({
    'GET /api/projects/1/': project(1),
    'PATCH /api/projects/1/': project(1),
    [`GET ${eventsPath}`]: reply({ headers: { 'content-type': 'text/csv', 'set-cookie': 'a=b' }, body: 'id\n' }),
  });
  const strays = ['cookie', 'origin', 'referer', 'x-forwarded-for', 'x-forwarded-host', 'x-csrftoken', 'user-agent'];
  strays.push(
    ...['accept-language', 'forwarded', 'baggage', 'x-api-key', 'proxy-authorization', 'if-none-match', 'te', 'via'],
  );
  const headers = [
    ...strays.flatMap((name) => [name, 'stray']),
    ...['content-type', 'application/json', 'authorization', 'Bearer phx_test'],
  ];
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const trace = ['traceparent', traceparent, 'tracestate', 'vendor=1'];
  const queries = [
    one,
    '{ project(id: 1) { eventsCsv { csv } } }',
    'mutation { updateProject(input: { id: 1, name: "a" }) { project { name } } }',
  ];
  const sent = async (query: string, more: readonly string[]) => {
    upstream.reset();
    const path = '/graphql?project=2&limit=9&personal_api_key=phx_other&format=csv';
    const response = await sendRaw(gateway.url, {
      path,
      headers: [...headers, ...more],
      body: JSON.stringify({ query }),
    });
    expect(response.status).toBe(200);
    expect(response.headers).not.toHaveProperty('set-cookie');
    expect(upstream.requests.join()).not.toMatch(/phx_other|limit=9|project=2/);
    expect(upstream.requests).toHaveLength(1);
    const { connection, ...rest } = upstream.records[0]?.headers ?? {};
    // Writes go on connections of their own.
    expect(connection).toBe(query.startsWith('mutation') ? 'close' : 'keep-alive');
    return rest;
  };
  const base = {
    host: new URL(upstream.url).host,
    authorization: 'Bearer phx_test',
    'accept-encoding': 'gzip, deflate, br',
  };
  const content = { 'content-type': 'application/json', 'content-length': '12' };
  const expected = [
    { ...base, accept: 'application/json' },
    { ...base, accept: 'text/csv' },
    { ...base, accept: 'application/json', ...content },
  ];
  for (const [index, query] of queries.entries()) {
    expect(await sent(query, [])).toEqual(expected[index]);
    expect(await sent(query, trace)).toEqual({ ...expected[index], traceparent, tracestate: 'vendor=1' });
    expect(await sent(query, ['traceparent', 'no trace', 'tracestate', 'vendor=1'])).toEqual(expected[index]);
  }
});

test("a proxy's page with status 200 is no sign that something was deleted", async () => {
  const page = '<!doctype html><title>Sign in</title>';
  const { gateway, answerWith } = await startChanging();
  for (const type of ['text/html', 'application/json', undefined]) {
    answerWith({ 'DELETE /api/projects/1/': reply({ headers: { 'content-type': type }, body: page }) });
    const asked = await gateway.ask('mutation { deleteProject(input: { id: 1 }) { deletedId } }');
    expect([type, codesOf(asked), asked.data]).toEqual([
      type,
      ['deleteProject UPSTREAM_INVALID_RESPONSE'],
      { deleteProject: null },
    ]);
  }
});

test('gzip and br bodies, a missing charset, 204 without content type, and a DELETE of 200, 202 or 204 are accepted', async () => {
  const { upstream, gateway, answerWith } = await startChanging();
  const row = JSON.stringify(project(1, { name: 'Größe 🙂' }));
  const codings: [coding: string | undefined, body: Buffer][] = [
    ['gzip', gzipSync(row)],
    ['GZIP', gzipSync(row)],
    ['x-gzip', gzipSync(row)],
    ['br', brotliCompressSync(row)],
    ['deflate', deflateSync(row)],
    ['gzip, br', brotliCompressSync(gzipSync(row))],
    ['identity', Buffer.from(row)],
    ['', Buffer.from(row)],
    [undefined, Buffer.from(row)],
  ];
  for (const [coding, body] of codings) {
    for (const type of [
      'application/json',
      'application/json; charset=utf-8',
      'application/json;charset="UTF-8"',
      undefined,
    ]) {
      answerWith(() => reply({ headers: { 'content-encoding': coding, 'content-type': type }, body }));
      const read = await gateway.ask(one);
      expect([coding, type, read.data as unknown]).toEqual([coding, type, { project: { name: 'Größe 🙂' } }]);
      const written = await gateway.ask('mutation { createProject(input: {}) { project { name } } }');
      expect(at(written.data, 'createProject')).toEqual({ project: { name: 'Größe 🙂' } });
    }
  }
  const deletes: [status: number, body: Json | undefined, name: string | null][] = [
    [200, project(1), 'Project 1'],
    [202, project(1), 'Project 1'],
    [200, {}, null],
    [200, undefined, null],
    [202, undefined, null],
    [202, 'Accepted', null],
    [204, undefined, null],
  ];
  for (const [status, body, name] of deletes) {
    answerWith({ 'DELETE /api/projects/1/': reply({ status, ...(body !== undefined && { body }) }) });
    const asked = await gateway.ask('mutation { deleteProject(input: { id: 1 }) { deletedId project { name } } }');
    expect([status, codesOf(asked)]).toEqual([status, []]);
    expect(at(asked.data, 'deleteProject', 'deletedId')).toBe(Buffer.from('Project:1').toString('base64url'));
    expect(asked.body.includes(`"name":${JSON.stringify(name)}`) || name === null).toBe(true);
    expect(upstream.records.map(({ method, body: sent }) => `${method} ${sent}`)).toEqual(['DELETE ']);
  }
  answerWith(() => reply({ status: 204 }));
  const removed = await gateway.ask(
    `mutation { deletePlugin(input: { id: 3, organizationId: "${organizationId}" }) { deletedId } }`,
  );
  expect(removed.errors).toBeUndefined();
  expect(upstream.requests).toEqual([`DELETE ${pluginsPath}3/`]);
});

test('a variable that is not given is left out of what is sent, and one that is null is sent as null', async () => {
  const { upstream, gateway } = await startBoth({ 'PATCH /api/projects/1/': project(1) });
  // However often it is asked: other code executes it from the second time on.
  const [name, demo, value] = ['$name: String', '$demo: Boolean = true', '$value: JSON'];
  const operation = `mutation (${name}, ${demo}, ${value}) { updateProject(input: { id: 1, name: $name, isDemo: $demo,
    appUrls: [$name], extraSettings: { value: $value, list: [1, $value] } }) { project { name } } }`;
  const cases = [
    [{}, '{"is_demo":true,"app_urls":[null],"extra_settings":{"list":[1,null]}}'],
    [{ name: null }, '{"name":null,"is_demo":true,"app_urls":[null],"extra_settings":{"list":[1,null]}}'],
    [
      { demo: null, name: 'a', value: { b: null } },
      '{"name":"a","is_demo":null,"app_urls":["a"],"extra_settings":{"value":{"b":null},"list":[1,{"b":null}]}}',
    ],
  ] as const;
  for (const [variables, sent] of [...cases, ...cases, ...cases]) {
    upstream.reset();
    const asked = await gateway.ask(operation, { variables });
    expect(codesOf(asked)).toEqual([]);
    expect(upstream.records.map(({ body }) => JSON.parse(body) as unknown)).toEqual([JSON.parse(sent)]);
  }
});
