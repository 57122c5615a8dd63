import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { askMcp, publicUrl } from '../support/agents.ts';
import { cacheSettings } from '../support/cache.ts';
import { codesOf } from '../support/load.ts';
import { accepts, askForParts, mergeParts } from '../support/parts.ts';
import { askById, namesIn, startBothListed } from '../support/roles.ts';
import { project } from '../support/rows.ts';
import type { Entries } from '../support/tenants.ts';

const entries: Entries = {
  acme: {
    key: 'phx_shared',
    projects: ['1', '2', '3'],
    mutations: true,
    roles: {
      viewer: { projects: ['1', '2'] },
      local: { projects: ['2'] },
      editor: { projects: ['1'], mutations: ['updateProject'] },
      clerk: { documents: ['Change'], mutations: ['updateProject'] },
    },
  },
};

/** A mutation of a project beyond what the role that names it reaches. */
const beyond = 'updateProject(input: { id: 2, name: "x" }) { project { name } }';

test.each([
  ['under an alias', `mutation { within: ${beyond} }`],
  ['in a fragment', `mutation { ...All } fragment All on Mutation { ${beyond} }`],
  ['in a fragment without a name', `mutation { ... on Mutation @include(if: true) { ${beyond} } }`],
  [
    'in fragments in fragments, beside one that is skipped',
    `mutation { ...A ... @skip(if: true) { no: ${beyond} } } fragment A on Mutation { ...B } fragment B on Mutation { ${beyond} }`,
  ],
  [
    'with an id of a variable',
    'mutation ($id: ID = 2) { updateProject(input: { id: $id, name: "x" }) { project { name } } }',
  ],
  [
    'with an input of a variable',
    'mutation ($input: UpdateProjectInput = { id: "2", name: "x" }) { updateProject(input: $input) { project { name } } }',
  ],
  [
    'with a global id',
    `mutation { updateProject(input: { id: "${btoa('Project:2')}", name: "x" }) { project { name } } }`,
  ],
  ['with an id in another form', 'mutation { updateProject(input: { id: "02", name: "x" }) { project { name } } }'],
  ['with an id and a path', 'mutation { updateProject(input: { id: "1/../2", name: "x" }) { project { name } } }'],
])('a mutation reaches no more %s', async (_name, query) => {
  const { upstream, gateway } = await startBothListed({}, { given: entries });
  const answer = await gateway.askAs('acme viewer editor', query);
  expect(codesOf(answer).length).toBeGreaterThan(0);
  expect(upstream.requests).toEqual([]);
});

test('a role with a mutation and documents runs it in those alone, and lends it to no other document', async () => {
  const { upstream, gateway } = await startBothListed({ mcp: { tools: ['Change'], publicUrl } }, { given: entries });
  const change = 'mutation Change { updateProject(input: { id: 2, name: "x" }) { project { name } } }';
  const extensions = { persistedQuery: { version: 1, sha256Hash: createHash('sha256').update(change).digest('hex') } };
  for (const user of ['acme clerk', 'acme clerk viewer'])
    for (const more of [{}, { extensions }])
      expect([user, ...codesOf(await gateway.askAs(user, change, more))]).toEqual([user, 'FORBIDDEN']);
  const headers = await gateway.headersOf('acme viewer');
  const { body } = await askMcp(gateway, 'tools/call', { name: 'Change', arguments: {} }, { headers });
  expect(body.error.code).toBe(-32602);
  const byGet = await fetch(`${gateway.url}?documentId=change`, { headers: await gateway.headersOf('acme clerk') });
  expect(byGet.status).toBe(405);
  expect(upstream.requests).toEqual([]);
  expect(codesOf(await askById(gateway, 'acme clerk', 'change'))).toEqual([]);
});

test('a plan has no call that the roles would be refused', async () => {
  const { upstream, gateway } = await startBothListed({ explain: true }, { given: entries });
  const callsOf = async (user: string, query: string): Promise<unknown> => {
    const { extensions } = await gateway.askAs(user, query, { extensions: { explain: 'plan' } });
    return extensions?.['explain'];
  };
  const three = '{ a: project(id: 1) { name } b: project(id: 2) { name } c: project(id: 3) { name } }';
  expect(await callsOf('acme local', three)).toMatchObject({ upper: 1 });
  expect(await callsOf('acme viewer', three)).toMatchObject({ upper: 2 });
  expect(await callsOf('acme viewer editor', `mutation { ${beyond} }`)).toMatchObject({ upper: 0 });
  expect(upstream.requests).toEqual([]);
});

test('an answer in parts keeps the roles that it began with, and the next operation has the new ones', async () => {
  const gate = Promise.withResolvers<void>();
  const { upstream, gateway } = await startBothListed(
    { incremental: true },
    { given: entries },
    {
      'GET /api/projects/1/': async () => {
        await gate.promise;
        return project(1);
      },
    },
  );
  const query = '{ first: project(id: 2) { name } ... @defer { second: project(id: 1) { name } } }';
  const headers = await gateway.headersOf('acme viewer');
  const { parts } = await askForParts(gateway.url, query, accepts['v0.2'], { headers });
  const begun = Array.fromAsync(parts);
  await expect.poll(() => upstream.requests.includes('GET /api/projects/1/')).toBe(true);
  gateway.take({ acme: { key: 'phx_shared', roles: { viewer: { projects: ['2'] } } } });
  const after = await gateway.askAs('acme viewer', query.replace('... @defer', '...'));
  expect(after.data).toEqual({ first: { name: 'Project 2' }, second: null });
  gate.resolve();
  expect(mergeParts(await begun).data).toEqual({ first: { name: 'Project 2' }, second: { name: 'Project 1' } });
});

test('whole answers are kept for each set of roles apart, in whatever order and however often tokens name them', async () => {
  const { gateway } = await startBothListed({ cache: cacheSettings }, { given: entries });
  const query = '{ projects { nodes { upstreamId } } }';
  const idsOf = async (user: string): Promise<string> =>
    namesIn((await gateway.askAs(user, query)).data)
      .toSorted()
      .join();
  const seen = {
    'acme local': '2',
    'acme viewer local': '1,2',
    'acme local local': '2',
    'acme local viewer viewer': '1,2',
    'acme editor local': '1,2',
    'acme local editor unknown': '1,2',
    'acme editor': '1',
    // The role with documents does not count here.
    'acme clerk local': '2',
  };
  // Users who ask at the same time could share an operation under way, and later a kept answer.
  for (let round = 0; round < 3; round += 1)
    expect(await Promise.all(Object.keys(seen).map(idsOf))).toEqual(Object.values(seen));
  for (const [user, ids] of Object.entries(seen)) expect([user, await idsOf(user)]).toEqual([user, ids]);
  expect(await gateway.gateway.metrics.render()).toMatch(/^gateway_reused_operations_total [1-9]/m);
});
