import { expect, test, vi } from 'vitest';
import { startBoth } from '../support/both.ts';
import { textAt } from '../support/connections.ts';
import { startGateway } from '../support/gateway.ts';
import { as } from '../support/load.ts';
import { codesOf, expectNothingLeaks, factsOf } from '../support/outcomes.ts';
import { type Reply, refusal, reply } from '../support/replies.ts';
import type { Answer as UpstreamAnswer } from '../support/routes.ts';
import { listedDashboard, project } from '../support/rows.ts';

const one = '{ project(id: 1) { name } }';
const read = 'GET /api/projects/1/';

const writes = {
  'POST /api/projects/': 'mutation { createProject(input: { name: "New" }) { project { name } } }',
  'PATCH /api/projects/1/': 'mutation { updateProject(input: { id: 1, name: "New" }) { project { name } } }',
  'DELETE /api/projects/1/': 'mutation { deleteProject(input: { id: 1 }) { deletedId } }',
};

test('sends exactly Authorization: Bearer <key>, and puts the key into no URL, body, log or error', async () => {
  const key = 'phx_S3cret.Key-17';
  let answer: UpstreamAnswer = project(1);
  const { upstream, gateway } = await startBoth(() => answer);
  const printed = [vi.spyOn(process.stdout, 'write'), vi.spyOn(process.stderr, 'write')];
  const headers = { authorization: `Bearer ${key}` };
  const operations = [
    one,
    '{ project(id: 1) { eventsCsv { csv } eventValues(key: "a") { body } } }',
    ...Object.values(writes),
  ];

  const bodies = [];
  for (const query of operations) bodies.push((await gateway.ask(query, { headers })).body);
  // The scheme is case-insensitive for clients; the service knows one spelling.
  for (const scheme of ['bearer', 'BEARER']) await gateway.ask(one, { headers: { authorization: `${scheme} ${key}` } });
  answer = refusal(400, key, `The key ${key} is unknown`, key);
  for (const query of operations) bodies.push((await gateway.ask(query, { headers })).body);
  answer = reply({ status: 500, body: `Bearer ${key}` });
  for (const query of operations) bodies.push((await gateway.ask(query, { headers })).body);

  expect(upstream.records.length).toBeGreaterThanOrEqual(operations.length * 3 + 2);
  for (const record of upstream.records) {
    expect(record.headers.authorization).toBe(`Bearer ${key}`);
    const rest = { ...record, headers: { ...record.headers, authorization: '' } };
    expect(JSON.stringify(rest)).not.toContain(key);
  }
  expect(bodies.join()).not.toContain(key);
  expect(gateway.reported).toEqual([]);
  expect(JSON.stringify(printed.map(({ mock }) => mock.calls))).not.toContain(key);
});

test('not_authenticated and authentication_failed are UNAUTHENTICATED, whatever the status', async () => {
  let answer: UpstreamAnswer = {};
  const { gateway } = await startBoth(() => answer);
  for (const status of [400, 401, 403, 404]) {
    for (const code of ['not_authenticated', 'authentication_failed']) {
      answer = refusal(status, code, 'Invalid personal API key.');
      const asked = await gateway.ask(one, as(`phx_read-${status}-${code}`));
      expect(codesOf(asked)).toEqual(['project UNAUTHENTICATED']);
      expect(factsOf(asked)).toEqual({ status, code, detail: 'Invalid personal API key.' });
      const written = await gateway.ask(writes['PATCH /api/projects/1/'], as(`phx_write-${status}-${code}`));
      expect(codesOf(written)).toEqual(['updateProject UNAUTHENTICATED']);
    }
  }
  // The code decides, not the status: the same 403 with another code is another failure.
  answer = refusal(403, 'permission_denied', 'No.');
  expect(codesOf(await gateway.ask(one))).toEqual(['project FORBIDDEN']);
  answer = refusal(401, 'other', 'No.');
  expect(codesOf(await gateway.ask(one))).toEqual(['project UNAUTHENTICATED']);
});

test('permission_denied is FORBIDDEN and keeps the detail that says what is missing', async () => {
  let answer: UpstreamAnswer = {};
  const { gateway } = await startBoth(() => answer);
  const details = [
    "API key missing required scope 'dashboard:write'",
    'You do not have permission to perform this action.',
    "You don't have sufficient permissions in the project (needs 8, has 1).",
    'Dieses Projekt gehört zu einer anderen Organisation.',
  ];
  for (const detail of details) {
    answer = refusal(403, 'permission_denied', detail);
    for (const [query, path] of [
      [one, 'project'],
      [writes['POST /api/projects/'], 'createProject'],
    ] as const) {
      const asked = await gateway.ask(query);
      expect(codesOf(asked)).toEqual([`${path} FORBIDDEN`]);
      expect(factsOf(asked)).toEqual({ status: 403, code: 'permission_denied', detail });
    }
  }
});

test('402 and 409 are client errors although their type says server_error, and are not repeated', async () => {
  let answer: UpstreamAnswer = {};
  const { upstream, gateway } = await startBoth(() => answer);
  const cases = [
    { status: 402, code: 'payment_required', detail: 'Upgrade your plan.', expected: 'FORBIDDEN' },
    { status: 409, code: 'conflict', detail: 'Another user changed this.', expected: 'CONFLICT' },
  ];
  for (const { status, code, detail, expected } of cases) {
    for (const type of ['server_error', 'validation_error']) {
      answer = reply({ status, body: { type, code, detail, attr: null } });
      upstream.reset();
      const asked = await gateway.ask(one);
      expect(codesOf(asked)).toEqual([`project ${expected}`]);
      expect(factsOf(asked)).toEqual({ status, code, detail });
      expect(codesOf(await gateway.ask(writes['PATCH /api/projects/1/']))).toEqual([`updateProject ${expected}`]);
      expect(upstream.requests).toEqual([read, 'PATCH /api/projects/1/']);
    }
  }
});

test('an error body that is empty, HTML, truncated, partial or unknown still gives a typed error with its status', async () => {
  let answer: Reply = reply({});
  const { gateway } = await startBoth(() => answer, {}, { hold: 0 });
  const bodies: [body: string | undefined, facts: { code?: string; detail?: string }][] = [
    [undefined, {}],
    ['', {}],
    ['<html><body>Bad gateway</body></html>', {}],
    ['{"type": "validation_error", "code": "inv', {}],
    ['{"type":"validation_error","code":"invalid","detail":"Too long."}', { code: 'invalid', detail: 'Too long.' }],
    ['{"error": "No such thing"}', { detail: 'No such thing' }],
    ['{"message": "?", "status_code": 1, "nested": {"deep": []}}', {}],
    ['{"code": 7, "detail": ["a"], "attr": {"x": 1}}', {}],
    ['{"code": null, "detail": null, "attr": null}', {}],
    ['{"detail": 7}', {}],
    ['{"detail": {"detail": "in an object"}}', {}],
    ['[{"detail": "in a list"}]', {}],
    ['null', {}],
    ['"text"', {}],
  ];
  const statuses: [number, string][] = [
    [400, 'BAD_USER_INPUT'],
    [422, 'BAD_USER_INPUT'],
    [500, 'UPSTREAM_UNAVAILABLE'],
  ];
  for (const [status, code] of statuses) {
    for (const [body, facts] of bodies) {
      for (const type of ['application/json', 'text/html', undefined]) {
        answer = reply({ status, headers: { 'content-type': type }, ...(body !== undefined && { body }) });
        const asked = await gateway.ask(one);
        // Only JSON is the API's own, and blames the client.
        const isMarkup = body?.startsWith('<') === true;
        const isForeign = isMarkup || (body?.endsWith('"inv') === true && type !== 'application/json');
        const expected = status < 500 && isForeign ? 'UPSTREAM_INVALID_RESPONSE' : code;
        expect({ body, codes: codesOf(asked) }).toEqual({ body, codes: [`project ${expected}`] });
        // Clients do not see what a broken service says about itself.
        const { detail, ...others } = facts;
        const isListed = body?.includes('"detail": ["a"]') === true && code === 'BAD_USER_INPUT';
        const errors = isListed ? { errors: [{ field: null, message: 'a' }] } : {};
        const told = { ...others, ...errors, ...(status < 500 && detail !== undefined && { detail }) };
        expect(factsOf(asked)).toEqual({ status, ...told });
      }
    }
  }
  answer = refusal(400, 'invalid_input', 'Not a date.', 'filters__date_from');
  expect(factsOf(await gateway.ask(one))).toMatchObject({ attr: 'filters__date_from', detail: 'Not a date.' });
});

test("the upstream's HTML, its internal addresses and the key never reach a client", async () => {
  let answer: UpstreamAnswer = {};
  const { upstream, gateway } = await startBoth(() => answer);
  const secret = 'posthog-web.internal';
  const texts = [
    `<html><h1>${secret}</h1></html>`,
    `see http://${secret}:8000/api/`,
    `cannot reach ${secret}`,
    `connect to 10.20.30.40 for ${secret} failed`,
    `[fd00::1]:80 ${secret}`,
    `${secret} at handler (/app/${secret}.py)`,
    `Traceback (most recent call last): ${secret}`,
    `key phx_test of ${secret}`,
  ];
  // Each status with one of the texts, and each of the texts with one status.
  const answers = [200, 302, 403, 500].map((status) => [status, texts[0] ?? ''] as const);
  for (const [status, text] of [...answers, ...texts.map((shown) => [400, shown] as const)]) {
    for (const body of [text, { code: 'invalid', detail: text, attr: text }, { error: text }, { code: text }]) {
      answer = reply({ status, body, headers: { location: `http://${secret}/`, server: secret } });
      const queries = [one, '{ projects { totalCount nodes { id } } }', ...Object.values(writes)];
      for (const asked of await Promise.all(queries.map((query) => gateway.ask(query))))
        expectNothingLeaks(asked, secret, 'phx_test', '10.20.30.40', 'fd00::');
    }
  }
  const next = `http://${secret}:8000/api/projects/1/dashboards/?limit=1&offset=1`;
  answer = { count: 3, next, previous: next, results: [listedDashboard(1)] };
  // Another gateway: the breaker of the first one has seen nothing but server errors for a while.
  await using calm = await startGateway(upstream);
  const listed = await calm.ask(
    '{ project(id: 1) { dashboards(first: 1) { pageInfo { hasNextPage endCursor } edges { cursor } } } }',
  );
  expectNothingLeaks(listed, secret);
  const cursor = textAt(listed.data, 'project', 'dashboards', 'pageInfo', 'endCursor');
  expect(Buffer.from(cursor, 'base64url').toString('latin1')).not.toContain(secret);
});
