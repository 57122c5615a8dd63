import { describe, expect, test } from 'vitest';
import { toGlobalId } from '../../src/graphql/ids.ts';
import { startBoth } from '../support/both.ts';
import { organizationId } from '../support/current.ts';
import { inForm } from '../support/form.ts';
import { type Answer } from '../support/gateway.ts';
import { listOf } from '../support/lists.ts';
import { as, together } from '../support/load.ts';
import { codesOf } from '../support/outcomes.ts';
import { refusal } from '../support/replies.ts';
import { listedProject, project } from '../support/rows.ts';
import { startSmallGateway, withstand } from '../support/small-gateway.ts';
import { startUpstream } from '../support/upstream.ts';

const keyless = { headers: { authorization: '' } };
const organization = toGlobalId({ type: 'Organization', scope: '', id: organizationId });
const projectId = (id: number): string => toGlobalId({ type: 'Project', scope: '', id: `${id}` });

describe('Without a usable key', () => {
  test('each root field that would call is one error, and the others answer', async () => {
    const { upstream, gateway } = await startBoth({});
    const query = `{ __typename a: projects { nodes { name dashboards { totalCount } } } b: project(id: 1) { name }
      free: organization(id: "${organizationId}") { upstreamId } called: organization(id: "@current") { name }
      open: organization(id: "@current") { upstreamId }
      c: node(id: "${projectId(1)}") { id } d: node(id: "${organization}") { id ... on Organization { upstreamId } }
      e: node(id: "${organization}") { ... on Organization { plugins { totalCount } } }
      f: nodes(ids: ["${organization}", "${organization}"]) { id } __schema { queryType { name } } }`;
    for (let times = 0; times < 3; times += 1) {
      const answer = await gateway.ask(query, keyless);
      expect(codesOf(answer)).toEqual(['a', 'b', 'c', 'called', 'e', 'open'].map((path) => `${path} UNAUTHENTICATED`));
      expect(answer.status).toBe(200);
      expect(answer.data).toEqual({
        __typename: 'Query',
        a: null,
        b: null,
        free: { upstreamId: organizationId },
        called: null,
        open: null,
        c: null,
        d: { id: organization, upstreamId: organizationId },
        e: null,
        f: [{ id: organization }, { id: organization }],
        __schema: { queryType: { name: 'Query' } },
      });
    }
    expect([gateway.reported, upstream.requests]).toEqual([[], []]);
  });

  test('each mutation is one error', async () => {
    const { gateway } = await startBoth({});
    const rename = (alias: string): string =>
      `${alias}: updateProject(input: { id: 1, name: "x" }) { project { name organization { name } } }`;
    for (let times = 0; times < 3; times += 1) {
      const answer = await gateway.ask(`mutation { ${rename('a')} __typename ${rename('b')} }`, keyless);
      expect(codesOf(answer)).toEqual(['a UNAUTHENTICATED', 'b UNAUTHENTICATED']);
      expect(answer.data).toEqual({ a: null, __typename: 'Mutation', b: null });
    }
  });

  test('hundreds of ids under many aliases cost nothing', async () => {
    await using upstream = await startUpstream({ 'GET /api/projects/1/': project(1) });
    await using gateway = await startSmallGateway(upstream);
    const honest = '{ project(id: 1) { name } }';
    expect((await gateway.ask(honest)).body).toBe('{"data":{"project":{"name":"Project 1"}}}');
    const relations =
      'id ... on Project { name dashboards { totalCount } events(first: 1) { nodes { id } } organization { name } }';
    const fields = Array.from({ length: 20 }, (_, index) => `a${index}: nodes(ids: $ids) { ${relations} }`);
    const query = `query Q($ids: [ID!]!) { ${fields.join(' ')} }`;
    const variables = { ids: Array.from({ length: 100 }, () => projectId(1)) };
    await withstand(gateway, async () => {
      const asked = together(inForm(100, 1000), 4, (index) =>
        gateway.ask(query, { variables, headers: { authorization: index % 2 === 0 ? '' : 'Bearer not a key' } }),
      );
      expect((await gateway.ask(honest)).body).toBe('{"data":{"project":{"name":"Project 1"}}}');
      for (const answer of await asked) expect(codesOf(answer)).toEqual(['a0 UNAUTHENTICATED']);
    });
    expect(upstream.requests).toHaveLength(2);
  });
});

test('an id that stands in a list many times is resolved once', async () => {
  const routes = { 'GET /api/projects/1/': project(1), 'GET /api/projects/1/dashboards/': listOf([]) };
  const { upstream, gateway } = await startBoth(routes);
  const ids = Array.from({ length: 100 }, () => projectId(1));
  const query = 'query Q($ids: [ID!]!) { nodes(ids: $ids) { id ... on Project { name dashboards { totalCount } } } }';
  const node = { id: projectId(1), name: 'Project 1', dashboards: { totalCount: 0 } };
  for (let times = 0; times < 3; times += 1)
    expect((await gateway.ask(query, { variables: { ids } })).data).toEqual({ nodes: ids.map(() => node) });
  expect(upstream.requests).toHaveLength(6);
});

describe('A key that the upstream does not know', () => {
  const unknown = refusal(401, 'authentication_failed', 'Invalid personal API key.');
  const facts = { status: 401, code: 'authentication_failed', detail: 'Invalid personal API key.' };
  const chain =
    '{ projects { nodes { name dashboards { nodes { name } } } } p: project(id: 1) { dashboards { totalCount } } }';

  function factsOf({ errors = [] }: Answer): unknown[] {
    return errors.map(({ extensions }) => extensions['upstream']);
  }

  test('ends an operation at its first 401: what is in flight is given up, nothing more is sent', async () => {
    const held = Promise.withResolvers<ReturnType<typeof project>>();
    const { upstream, gateway } = await startBoth({
      'GET /api/projects/': () => unknown,
      'GET /api/projects/1/dashboards/': () => held.promise,
    });
    const answer = await gateway.ask(chain);
    expect(codesOf(answer)).toEqual(['p.dashboards UNAUTHENTICATED', 'projects UNAUTHENTICATED']);
    expect(factsOf(answer)).toEqual([facts, facts]);
    expect(upstream.requests).toHaveLength(2);
    held.resolve(project(1));
  });

  test('is refused for a while without asking again, reads and writes, and other keys are not', async () => {
    const { upstream, gateway } = await startBoth(({ headers }) =>
      headers.authorization === 'Bearer phx_good' ? project(1) : unknown,
    );
    expect(codesOf(await gateway.ask('{ project(id: 1) { name } }', as('phx_bad')))).toEqual([
      'project UNAUTHENTICATED',
    ]);
    expect(upstream.requests).toHaveLength(1);
    for (const query of [chain, 'mutation { p: updateProject(input: { id: 1, name: "x" }) { project { name } } }']) {
      const answer = await gateway.ask(query, as('phx_bad'));
      expect(new Set(codesOf(answer).map((code) => code.split(' ')[1]))).toEqual(new Set(['UNAUTHENTICATED']));
      expect(factsOf(answer)[0]).toEqual(facts);
    }
    expect(upstream.requests).toHaveLength(1);
    const good = await gateway.ask('{ project(id: 1) { name } }', as('phx_good'));
    expect(good.data).toEqual({ project: { name: 'Project 1' } });
  });

  test('is asked with again after a success in flight, and if the same operation had one', async () => {
    const first = Promise.withResolvers<void>();
    const { upstream, gateway } = await startBoth({
      'GET /api/projects/1/': async () => {
        await first.promise;
        return project(1);
      },
      'GET /api/projects/2/': project(2),
      'GET /api/projects/': listOf([listedProject(1)]),
      'GET /api/projects/:id/dashboards/': unknown,
      'GET /api/projects/3/': unknown,
    });
    const slow = gateway.ask('{ project(id: 1) { name } }');
    await expect.poll(() => upstream.requests.length).toBe(1);
    expect(codesOf(await gateway.ask('{ project(id: 3) { name } }'))).toEqual(['project UNAUTHENTICATED']);
    first.resolve();
    expect((await slow).data).toEqual({ project: { name: 'Project 1' } });
    const nested = await gateway.ask('{ projects { nodes { name dashboards { totalCount } } } }');
    expect(nested.data).toEqual({ projects: { nodes: [{ name: 'Project 1', dashboards: null }] } });
    expect((await gateway.ask('{ project(id: 2) { name } }')).data).toEqual({ project: { name: 'Project 2' } });
  });

  test('that lacks a right on one part of the API goes on elsewhere: a 403 is about the right', async () => {
    const { gateway } = await startBoth({
      'GET /api/projects/': refusal(403, 'permission_denied', 'No.'),
      'GET /api/projects/1/dashboards/': listOf([]),
    });
    const answer = await gateway.ask(chain);
    expect(codesOf(answer)).toEqual(['projects FORBIDDEN']);
    expect(answer.data).toEqual({ projects: null, p: { dashboards: { totalCount: 0 } } });
  });
});
