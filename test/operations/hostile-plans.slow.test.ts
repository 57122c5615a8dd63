import { expect, test } from 'vitest';
import { toGlobalId } from '../../src/graphql/ids.ts';
import type { Request } from '../support/gateway.ts';
import { codesOf, together } from '../support/load.ts';
import { project } from '../support/rows.ts';
import { shareSmallGateway, startSmallGateway, withstand } from '../support/small-gateway.ts';
import { startUpstream } from '../support/upstream.ts';

const honest = '{ project(id: 1) { name } }';
const whole = '{"data":{"project":{"name":"Project 1"}}}';

const ids = Array.from({ length: 100 }, (_, at) => toGlobalId({ type: 'Project', scope: '', id: `${at + 1}` }));

/** Relations within relations, each of them a fragment that is spread again and again. */
function spreading(levels: number): string {
  const fragments = Array.from({ length: levels }, (_, at) => {
    const next = at + 1 < levels ? `project { ...F${at + 1} }` : '__typename';
    return `fragment F${at} on Project { primaryDashboard { ${next} } dashboard(id: 1) { ${next} } event(id: 1) { ${next} } }`;
  });
  const first = Array.from({ length: 9 }, (_, at) => `d${at}: dashboard(id: ${at + 2}) { project { ...F0 } }`);
  return `{ project(id: 1) { ${first.join(' ')} } } ${fragments.join(' ')}`;
}

const relations = `... on Project { dashboards { nodes { createdBy { email } } } events { nodes { event } }
  organization { plugins { nodes { name } } } primaryDashboard { project { name } } }`;
const long = 'a'.repeat(100_000);

const attacks: readonly (readonly [name: string, query: string])[] = [
  [
    'aliases of many ids',
    `query ($ids: [ID!]!) { ${Array.from({ length: 20 }, (_, at) => `n${at}: nodes(ids: $ids) { ${relations} }`).join(' ')} }`,
  ],
  ['fragments that spread fragments', spreading(5)],
  ['a long alias above many places', `query ($ids: [ID!]!) { ${long}: nodes(ids: $ids) { ${relations} } }`],
];

const requests: readonly (readonly [name: string, request: Request])[] = [
  ['the plan, without a key', { extensions: { explain: 'plan' }, headers: { authorization: '' } }],
  ['the plan', { extensions: { explain: 'plan' } }],
  ['the cost', { extensions: { cost: true } }],
];

const attacked = shareSmallGateway({ 'GET /api/projects/:id/': project(1) }, honest, { EXPLAIN: 'on' });

test.each(
  attacks.flatMap(([name, query]) => requests.map(([wanted, request]) => [name, wanted, query, request] as const)),
)('%s are planned up to a limit if the client wants %s', async (_name, wanted, attack, request) => {
  const { upstream, gateway } = attacked();
  // A text of its own, so that no plan that is kept for another test helps.
  const query = `${attack} # ${wanted}`;
  const variables = query.includes('$ids') ? { ids } : {};
  await withstand(gateway, async () => {
    const answers = await together(20, 10, () => gateway.ask(query, { ...request, variables }));
    for (const answer of answers) {
      expect(codesOf(answer)).toEqual(['COST_LIMIT_EXCEEDED']);
      expect(answer.errors?.[0]?.extensions).toMatchObject({ steps: 4501, limit: 4500 });
      expect(answer.body.length).toBeLessThan(2000);
    }
    expect(upstream.requests).toEqual([]);
    expect((await gateway.ask(honest)).body).toBe(whole);
  });
});

test('the limit of planning grows with that of REST calls', async () => {
  await using upstream = await startUpstream({});
  await using gateway = await startSmallGateway(upstream, { EXPLAIN: 'on', MAX_UPSTREAM_CALLS: '1000' });
  const [[, query]] = [attacks[1] ?? ['', '']];
  const { errors, extensions } = await gateway.ask(query, { extensions: { explain: 'plan' } });
  expect([errors, extensions]).toEqual([undefined, { explain: expect.objectContaining({ upper: 13 }) as unknown }]);
});
