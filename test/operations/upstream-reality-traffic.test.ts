import { expect, test } from 'vitest';
import { startBoth, startChanging } from '../support/both.ts';
import { inTurn } from '../support/lists.ts';
import { as } from '../support/load.ts';
import { codesOf, factsOf } from '../support/outcomes.ts';
import { apiError, disconnect, hang, type Reply, refusal, reply } from '../support/replies.ts';
import type { Answer as UpstreamAnswer } from '../support/routes.ts';
import { event, listedDashboard, plugin, project } from '../support/rows.ts';
import { startUpstream } from '../support/upstream.ts';

const organization = 'organization(id: "018f1c4e-0000-7000-8000-00000000000a")';
const one = '{ project(id: 1) { name } }';
const read = 'GET /api/projects/1/';
const csvRead = 'GET /api/projects/1/events/?limit=50&format=csv';

const writes = {
  'POST /api/projects/': 'mutation { createProject(input: { name: "New" }) { project { name } } }',
  'PATCH /api/projects/1/': 'mutation { updateProject(input: { id: 1, name: "New" }) { project { name } } }',
  'DELETE /api/projects/1/': 'mutation { deleteProject(input: { id: 1 }) { deletedId } }',
  // A GET that has an effect is a write.
  'GET /api/organizations/@current/plugins/2/check_for_updates/':
    'mutation { checkPluginForUpdates(input: { id: 2, organizationId: "@current" }) { body } }',
};

const inASecond = (): string => new Date(Date.now() + 1000).toUTCString();
const anHourAgo = (): string => new Date(Date.now() - 3_600_000).toUTCString();
const tomorrow = (): string => new Date(Date.now() + 86_400_000).toUTCString();

test('Retry-After in every form is honoured, under a cap and within the deadline', async () => {
  const cases: { header: string | undefined; status?: number; calls: number; facts?: object; waits?: number }[] = [
    { header: '0', calls: 2 },
    { header: '1', calls: 2, waits: 1000 },
    { header: ' 1 ', calls: 2, waits: 1000 },
    { header: '1', status: 503, calls: 2, waits: 1000 },
    { header: inASecond(), calls: 2 },
    { header: anHourAgo(), calls: 2 },
    { header: anHourAgo(), status: 503, calls: 2 },
    // Further off than the deadline: told, not waited for.
    { header: '30', calls: 1, facts: { retryAfter: 30 } },
    { header: '30', status: 503, calls: 1, facts: { retryAfter: 30 } },
    // An absurd wait is told as an hour.
    { header: '99999999', calls: 1, facts: { retryAfter: 3600 } },
    { header: '9'.repeat(400), calls: 1, facts: {} },
    { header: tomorrow(), calls: 1, facts: { retryAfter: 3600 } },
    // A text that says no wait counts as left out; a rate limit without a wait would only be hit again.
    { header: undefined, calls: 1, facts: {} },
    // unit/response-errors.test.ts has every such text.
    { header: 'soon', calls: 1, facts: {} },
    { header: undefined, status: 503, calls: 2 },
    { header: 'soon', status: 503, calls: 2 },
  ];
  const checks = cases.map(async ({ header, status = 429, calls, facts, waits = 0 }) => {
    const throttled = reply({ status, headers: { 'retry-after': header }, body: apiError('throttled') });
    const { upstream, gateway } = await startBoth(
      { [read]: inTurn(throttled, project(1)) },
      { operationDeadlineMs: 6000 },
    );
    const started = performance.now();
    const asked = await gateway.ask(one);
    const [code] = codesOf(asked);
    const failure = status === 429 ? 'project RATE_LIMITED' : 'project UPSTREAM_UNAVAILABLE';
    expect({
      header,
      calls: upstream.requests.length,
      code,
      facts: factsOf(asked),
      data: asked.data as unknown,
    }).toEqual({
      header,
      calls,
      code: facts && failure,
      facts: facts && { status, code: 'throttled', ...(status < 500 && { detail: 'No.' }), ...facts },
      data: { project: facts === undefined ? { name: 'Project 1' } : null },
    });
    expect(performance.now() - started).toBeGreaterThanOrEqual(waits);
  });
  await Promise.all(checks);
});

test('only GETs are repeated, once, and only on 429, 502, 503, 504 and network errors', async () => {
  const failures: { name: string; failure: Reply; repeated: boolean; deadline?: number }[] = [
    ...[502, 503, 504].map((status) => ({ name: `${status}`, failure: reply({ status }), repeated: true })),
    {
      name: '429',
      failure: reply({ status: 429, headers: { 'retry-after': '0' }, body: apiError('throttled') }),
      repeated: true,
    },
    { name: 'network', failure: disconnect, repeated: true },
    ...[400, 401, 404, 408, 409, 425, 500, 501, 505, 507, 512, 520, 524].map((status) => ({
      name: `${status}`,
      failure: reply({ status }),
      repeated: false,
    })),
    { name: 'timeout', failure: hang, repeated: false, deadline: 300 },
  ];
  const checks = failures.map(async ({ name, failure, repeated, deadline = 5000 }) => {
    const { upstream, gateway } = await startBoth(() => failure, { operationDeadlineMs: deadline });
    await gateway.ask(one);
    expect({ name, requests: upstream.requests }).toEqual({ name, requests: repeated ? [read, read] : [read] });
    upstream.reset();
    // Each with a key of its own: no call is made with one that the upstream has just refused.
    await gateway.ask('{ project(id: 1) { eventsCsv { csv } } }', as('phx_csv'));
    expect({ name, csv: upstream.requests.filter((line) => line === csvRead).length }).toEqual({
      name,
      csv: repeated ? 2 : 1,
    });
    for (const [at, [line, query]] of Object.entries(writes).entries()) {
      upstream.reset();
      const written = await gateway.ask(query, as(`phx_write${at}`));
      expect({ name, requests: upstream.requests }).toEqual({ name, requests: [line] });
      expect(written.errors).toHaveLength(1);
    }
  });
  await Promise.all(checks);
});

test('redirects are followed by neither reads nor writes, and the key is never sent to another host', async () => {
  await using other = await startUpstream(() => project(1));
  let answer: UpstreamAnswer = {};
  const { upstream, gateway } = await startBoth(() => answer, {}, { hold: 0 });
  for (const status of [300, 301, 302, 303, 304, 307, 308]) {
    for (const location of [
      `${other.url}/api/projects/1/`,
      '/api/projects/2/',
      '/api/projects/1/',
      other.url.replace('http:', ''),
      ':',
      undefined,
    ]) {
      answer = reply({ status, headers: { location } });
      upstream.reset();
      const asked = await gateway.ask(one);
      expect({ status, codes: codesOf(asked) }).toEqual({ status, codes: ['project UPSTREAM_INVALID_RESPONSE'] });
      expect(factsOf(asked)).toEqual({ status });
      for (const query of Object.values(writes)) {
        expect(codesOf(await gateway.ask(query))[0]).toMatch(/^\w+ UPSTREAM_INVALID_RESPONSE$/);
      }
      expect(upstream.requests).toEqual([read, ...Object.keys(writes)]);
    }
  }
  expect(other.requests).toEqual([]);
});

test('a 403 or 404 on one surface nulls only the fields of that surface', async () => {
  const path = '/api/organizations/018f1c4e-0000-7000-8000-00000000000a/plugins/';
  const whole = {
    projects: { nodes: [{ name: 'Project 1' }] },
    organization: { upstreamId: '018f1c4e-0000-7000-8000-00000000000a', plugins: { nodes: [{ name: 'Plugin 1' }] } },
    project: {
      name: 'Project 1',
      dashboards: { nodes: [{ name: 'Dashboard 1' }] },
      events: { nodes: [{ event: '$pageview' }] },
    },
  };
  const { organization: org, project: own } = whole;
  const surfaces = [
    {
      line: `GET ${path}`,
      row: plugin(1),
      path: 'organization.plugins',
      part: { organization: { ...org, plugins: null } },
    },
    { line: 'GET /api/projects/', row: project(1), path: 'projects', part: { projects: null } },
    {
      line: 'GET /api/projects/1/dashboards/',
      row: listedDashboard(1),
      path: 'project.dashboards',
      part: { project: { ...own, dashboards: null } },
    },
    {
      line: 'GET /api/projects/1/events/',
      row: event(1),
      path: 'project.events',
      part: { project: { ...own, events: null } },
    },
  ];
  const query = `{ projects { nodes { name } } ${organization} { upstreamId plugins { nodes { name } } }
    project(id: 1) { name dashboards { nodes { name } } events { nodes { event } } } }`;
  const healthy = Object.fromEntries(surfaces.map(({ line, row }) => [line, { count: 1, next: null, results: [row] }]));
  const failures = [
    { failure: refusal(403, 'permission_denied', 'No.'), code: 'FORBIDDEN' },
    { failure: refusal(404, 'not_found', 'Not found.'), code: 'NOT_FOUND' },
    {
      failure: reply({ status: 404, headers: { 'content-type': 'text/html' }, body: '<h1>No</h1>' }),
      code: 'UPSTREAM_INVALID_RESPONSE',
    },
  ];
  const { upstream, gateway, answerWith } = await startChanging();
  for (const { line, path: place, part } of surfaces) {
    for (const { failure, code } of failures) {
      answerWith({ ...healthy, 'GET /api/projects/1/': project(1), [line]: failure });
      const asked = await gateway.ask(query);
      expect([asked.status, codesOf(asked)]).toEqual([200, [`${place} ${code}`]]);
      expect(asked.data).toEqual({ ...whole, ...part });
      expect(upstream.requests.filter((request) => request.split('?')[0] === line)).toHaveLength(1);
    }
  }
});
