import { describe, expect, test } from 'vitest';
import { toGlobalId } from '../../src/graphql/ids.ts';
import { startBoth } from '../support/both.ts';
import { inForm } from '../support/form.ts';
import { type Answer, startGateway } from '../support/gateway.ts';
import { eventsOf } from '../support/lists.ts';
import { together } from '../support/load.ts';
import { createFolder } from '../support/persisted.ts';
import { dashboard, project } from '../support/rows.ts';
import { startSmallGateway, withstand } from '../support/small-gateway.ts';
import { startUpstream } from '../support/upstream.ts';

const routes = {
  'GET /api/projects/:id/': project(1),
  'GET /api/projects/:id/events/': eventsOf([]),
  'POST /api/projects/1/dashboards/': dashboard(1),
};
const events = 'events(filter: $filter) { nodes { id } }';
const filtered = `query Q($filter: EventFilter) { project(id: 1) { ${events} } }`;
const empty = { project: { events: { nodes: [] } } };

function refusalOf({ status, data, errors }: Answer): unknown {
  return { status, data: data as unknown, message: errors?.[0]?.message, ...errors?.[0]?.extensions };
}

function tooLarge(path: string, bytes: number, where: string): unknown {
  const message = `The arguments of \`${path}\` have ${bytes} bytes ${where}, but the limit is 16384.`;
  return { status: 400, data: undefined, message, code: 'LIMIT_EXCEEDED', bytes, limit: 16_384, path };
}

describe('Arguments of a field that are too large', () => {
  test('are refused before any call, with the field, the number and the limit', async () => {
    const { upstream, gateway } = await startBoth(routes);
    const ids = (length: number): object => ({ ids: ['x'.repeat(length)] });
    const nodes = 'query Q($ids: [ID!]!) { a: nodes(ids: $ids) { id } }';
    // {"ids":["…"]}
    for (let times = 0; times < 3; times += 1) {
      const largest = await gateway.ask(nodes, { variables: { ...ids(16_384 - 12) } });
      expect(largest.errors?.[0]?.extensions['code']).toBe('BAD_USER_INPUT');
      const larger = await gateway.ask(nodes, { variables: { ...ids(16_384 - 11) } });
      expect(refusalOf(larger)).toEqual(tooLarge('a', 16_385, 'as JSON'));
    }
    expect(upstream.requests).toEqual([]);
  });

  test('are refused if they are in the query of a REST call, too', async () => {
    const { upstream, gateway } = await startBoth(routes);
    const fits = await gateway.ask(filtered, { variables: { filter: { event: 'x'.repeat(16_000) } } });
    expect(fits.data).toEqual(empty);
    expect(upstream.requests).toHaveLength(1);
    const grows = await gateway.ask(filtered, { variables: { filter: { event: 'é'.repeat(3000) } } });
    expect(refusalOf(grows)).toMatchObject({ status: 400, code: 'LIMIT_EXCEEDED', path: 'project.events' });
    expect(grows.errors?.[0]?.message).toMatch(
      /^The arguments of `project.events` have 180\d\d bytes in the query of a REST call/,
    );
    expect(upstream.requests).toHaveLength(1);
  });

  test.each([
    ['as a literal', `{ project(id: 1) { events(filter: { event: "${'x'.repeat(17_000)}" }) { nodes { id } } } }`],
    [
      'as a default',
      `query Q($filter: EventFilter = { event: "${'x'.repeat(17_000)}" }) { project(id: 1) { ${events} } }`,
    ],
    [
      'in a fragment',
      `query Q($filter: EventFilter) { project(id: 1) { ...F } } fragment F on Project { ... on Project { ${events} } }`,
    ],
    [
      'in a field that is skipped',
      filtered.replace('events(filter: $filter)', 'events(filter: $filter) @skip(if: true)'),
    ],
    [
      'in parts',
      filtered
        .replace('$filter)', '{ where: ["a", $where], event: "b" })')
        .replace('$filter: EventFilter', '$where: String!'),
    ],
    [
      'below a mutation',
      `mutation Q($filter: EventFilter) { updateProject(input: { id: 1 }) { project { ${events} } } }`,
    ],
  ])('are refused %s', async (_name, query) => {
    const { upstream, gateway } = await startBoth(routes);
    const large = 'x'.repeat(17_000);
    const variables = { ...(query.includes('$where') ? { where: large } : { filter: { event: large } }) };
    const answer = await gateway.ask(query, query.includes('$') && !query.includes('= {') ? { variables } : {});
    expect(refusalOf(answer)).toMatchObject({ status: 400, data: undefined, code: 'LIMIT_EXCEEDED' });
    expect(answer.errors?.[0]?.extensions['path']).toMatch(/project\.events$/);
    expect(upstream.requests).toEqual([]);
  });

  test('are refused in a listed document', async () => {
    await using upstream = await startUpstream(routes);
    using folder = createFolder();
    const persisted = { files: folder.write('m.json', { one: filtered }) };
    await using gateway = await startGateway(upstream, { persisted });
    const variables = { filter: { event: 'x'.repeat(17_000) } };
    const response = await fetch(gateway.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer phx_test' },
      body: JSON.stringify({ id: 'one', variables }),
    });
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('LIMIT_EXCEEDED')]);
  });
});

test('the input of a mutation may have as many bytes as a request', async () => {
  const { upstream, gateway } = await startBoth(routes);
  const query = `mutation M($input: CreateDashboardInput!) { createDashboard(input: $input) { dashboard { upstreamId } } }`;
  const input = { projectId: '1', name: 'a', description: 'x'.repeat(500_000) };
  expect((await gateway.ask(query, { variables: { input } })).errors).toBeUndefined();
  expect(upstream.requests).toHaveLength(1);
});

test('an argument under many aliases of many objects is written out once, with and without a key', {
  timeout: 120_000,
}, async () => {
  await using upstream = await startUpstream(routes);
  await using gateway = await startSmallGateway(upstream);
  expect((await gateway.ask(filtered)).data).toEqual(empty);
  const ids = Array.from({ length: 5 }, (_, id) => toGlobalId({ type: 'Project', scope: '', id: `${id}` }));
  const aliases = Array.from({ length: 28 }, (_, index) => `a${index}: ${events.replace('(', '(first: 1, ')}`);
  const query = `query Q($ids: [ID!]!, $filter: EventFilter) { nodes(ids: $ids) { ... on Project { ${aliases.join(' ')} } } }`;
  const request = (length: number, authorization: string): Parameters<typeof gateway.ask>[1] => ({
    variables: { ids, filter: { event: 'x'.repeat(length) } },
    headers: { authorization },
  });
  await withstand(gateway, async () => {
    await together(inForm(30, 300), 6, async (index) => {
      const authorization = index % 3 === 0 ? '' : `Bearer phx_${index}`;
      expect((await gateway.ask(query, request(500_000, authorization))).status).toBe(400);
      const small = await gateway.ask(query, request(16_000, authorization));
      expect(small.status).toBe(200);
      expect(small.errors === undefined).toBe(authorization !== '');
      expect((await gateway.ask(filtered)).data).toEqual(empty);
    });
  });
});
