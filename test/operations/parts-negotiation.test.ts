import { describe, expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import { budgetOf } from '../support/budgets.ts';
import { key } from '../support/gateway.ts';
import { accepts, askForParts, type Part } from '../support/parts.ts';
import { createFolder } from '../support/persisted.ts';
import { event, listedProject, project } from '../support/rows.ts';

const routes = {
  'GET /api/projects/1/': project(1),
  'GET /api/projects/1/dashboards/': { count: 2, next: null, previous: null, results: [] },
};

const projects = { count: 1, next: null, previous: null, results: [listedProject(1)] };

test.each([
  [
    'multipart/mixed;deferSpec=20220824, multipart/mixed;incrementalSpec=v0.2, application/json',
    'incrementalSpec=v0.2',
  ],
  ['application/json, multipart/mixed;deferSpec="20220824"', 'deferSpec=20220824'],
  ['multipart/mixed;deferSpec=20220824', 'deferSpec=20220824'],
  [
    'Multipart/Mixed; incrementalspec=V0.2; q=0.9, multipart/mixed;deferSpec=20220824;q=0.1, */*;q=0.1',
    'incrementalSpec=v0.2',
  ],
])('a client that accepts %s is answered in parts', async (accept, parameter) => {
  const { gateway } = await startBoth(routes);
  const query = '{ project(id: "1") { name ... @defer { dashboards { totalCount } } } }';
  const { headers, parts } = await askForParts(gateway.url, query, accept);
  expect(headers.get('content-type')).toBe(`multipart/mixed; boundary="-"; ${parameter}`);
  expect((await Array.fromAsync(parts)).map(({ hasNext }: Part) => hasNext)).toEqual([true, false]);
});

describe('an answer is one document', () => {
  const query = '{ project(id: "1") { name ... @defer { dashboards { totalCount } } } }';

  test.each([
    ['application/json', 'application/json'],
    ['*/*', 'application/json'],
    ['multipart/mixed, application/json', 'application/json'],
    ['multipart/mixed;incrementalSpec=v9, application/json', 'application/json'],
    ['multipart/mixed;incrementalSpec=v0.2;q=0.5, application/json', 'application/json'],
    ['multipart/mixed;deferSpec=20220824;q=0, application/json', 'application/json'],
    [
      'application/graphql-response+json, multipart/mixed;deferSpec=20220824;q=0.9',
      'application/graphql-response+json',
    ],
  ])('for a client that accepts %s', async (accept, type) => {
    const { gateway } = await startBoth(routes);
    const { headers, parts } = await askForParts(gateway.url, query, accept);
    expect(headers.get('content-type')).toBe(`${type}; charset=utf-8`);
    expect(await Array.fromAsync(parts)).toEqual([
      { data: { project: { name: 'Project 1', dashboards: { totalCount: 2 } } } },
    ]);
  });

  test.each([
    ['that defers nothing', '{ project(id: "1") { name } }'],
    [
      'whose variables defer nothing',
      'query ($no: Boolean = false) { project(id: "1") { ... @defer(if: $no) { name } } }',
    ],
    ['that changes something', 'mutation { deleteProject(input: { id: "1" }) { ... @defer { deletedId } } }'],
    [
      'that defers up to 5,100 fragments, which would keep other requests waiting',
      '{ projects(first: 51) { nodes { events(first: 100) { nodes { ... @defer { event } } } } } }',
    ],
    [
      'that defers in a list as long as the upstream likes',
      '{ project(id: "1") { eventValues(key: "a") { values { ... @defer { name } } } } }',
    ],
    [
      'whose label would be written a hundred times',
      `{ projects(first: 100) { nodes { ... @defer(label: "${'x'.repeat(50_000)}") { name } } } }`,
    ],
    [
      'whose alias would be in a hundred paths',
      `{ ${'x'.repeat(50_000)}: projects(first: 100) { nodes { ... @defer { name } } } }`,
    ],
    ['that is refused', '{ project(id: "1") { unknown ... @defer { name } } }'],
  ])('to an operation %s', async (_name, asked) => {
    const { gateway } = await startBoth({
      ...routes,
      'GET /api/projects/': projects,
      'GET /api/projects/1/events/values/': [{ name: 'One' }],
      'GET /api/projects/1/events/': { next: null, results: [event(1)] },
      'DELETE /api/projects/1/': {},
    });
    const { headers } = await askForParts(gateway.url, asked, accepts['v0.2']);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  });

  test.each(Object.values(accepts))(
    'whose variable is null, as it is for clients that take no parts: %s',
    async (accept) => {
      const { gateway } = await startBoth(routes);
      const asked = 'query ($when: Boolean = true) { project(id: "1") { name ... @defer(if: $when) { timezone } } }';
      const variables = { when: null };
      const { parts } = await askForParts(gateway.url, asked, accept, { variables });
      const whole = await gateway.ask(asked, { variables });
      expect(whole.body).toBe('{"data":{"project":{"name":"Project 1","timezone":"Europe/Berlin"}}}');
      const [only, ...further] = await Array.fromAsync(parts);
      expect([JSON.stringify(only), further]).toEqual([whole.body, []]);
    },
  );

  const deferringNothing =
    'query ($no: Boolean = false) { project(id: "1") { name ... @defer(if: $no) { timezone } } }';

  test('that tells what is left of the budget of its key, too, if nothing is deferred after all', async () => {
    const { gateway } = await startBoth(routes, { budget: budgetOf({ rest: '2/60' }) });
    const { parts } = await askForParts(gateway.url, deferringNothing, accepts['v0.2'], { extensions: { cost: true } });
    expect(await Array.fromAsync(parts)).toMatchObject([
      { extensions: { cost: { actual: 1, budget: [{ surface: 'rest', limit: 2, remaining: 1 }] } } },
    ]);
  });

  test('that is stored no longer than what it has read is fresh', async () => {
    using folder = createFolder();
    const files = folder.write('listed.json', { page: deferringNothing });
    const { gateway } = await startBoth(routes, {
      persisted: { files, getMaxAge: 60 },
      cache: { ttls: { projects: 5 }, staleSeconds: 600, maxBytes: 2 ** 20 },
    });
    const headers = { accept: accepts['v0.2'], authorization: `Bearer ${key}` };
    const response = await fetch(`${gateway.url}?documentId=page`, { headers });
    expect(await response.json()).toMatchObject({ data: { project: { name: 'Project 1' } } });
    expect(response.headers.get('cache-control')).toMatch(/^private, max-age=[0-5]$/);
  });
});
