import { expect, test } from 'vitest';
import { inForm } from '../support/form.ts';
import { eventsOf } from '../support/lists.ts';
import { together } from '../support/load.ts';
import type { Json } from '../support/replies.ts';
import { dashboard, event, project } from '../support/rows.ts';
import { shareSmallGateway, withstand } from '../support/small-gateway.ts';

const honest = '{ project(id: 1) { name } }';
const whole = '{"data":{"project":{"name":"Project 1"}}}';

const tooMany = ['empty objects', 'empty lists', 'members'] as const;
const numbersAndBrackets = { text: '[{:"\\'.repeat(100_000), numbers: Array.from({ length: 300_000 }, () => 1) };

/** The `properties` of the one event of a project, by what is special about them. */
const properties: readonly (readonly [name: string, properties: Json])[] = [
  ['empty objects', Array.from({ length: 260_000 }, () => ({}))],
  ['empty lists', Array.from({ length: 260_000 }, () => [])],
  ['members', Object.fromEntries(Array.from({ length: 260_000 }, (_, at) => [`k${at}`, 1]))],
  ['brackets in a string', numbersAndBrackets],
  ['nearly too many', Array.from({ length: 200_000 }, () => ({}))],
];

function eventWith(name: string, fields = 'properties'): string {
  const id = properties.findIndex(([one]) => one === name) + 1;
  return `{ project(id: ${id}) { events(first: 1) { nodes { ${fields} } } } }`;
}

const attacked = shareSmallGateway(
  {
    'GET /api/projects/1/': project(1),
    'PATCH /api/projects/1/dashboards/1/': dashboard(1),
    ...Object.fromEntries(
      properties.map(([, value], at) => [
        `GET /api/projects/${at + 1}/events/`,
        eventsOf([event(1, { properties: value })]),
      ]),
    ),
  },
  honest,
);

test.each(tooMany)('a row of very many %s is refused beside honest requests', async (name) => {
  const { gateway } = attacked();
  await withstand(gateway, async () => {
    const answers = await together(8, 4, () => gateway.ask(eventWith(name)));
    for (const { data, errors } of answers) {
      expect(data).toEqual({ project: { events: null } });
      expect(errors?.map(({ extensions }) => extensions['code'])).toEqual(['UPSTREAM_INVALID_RESPONSE']);
    }
    expect((await gateway.ask(honest)).body).toBe(whole);
  });
});

test('brackets and colons inside of strings do not count as objects, lists and members', async () => {
  const answer = await attacked().gateway.ask(eventWith('brackets in a string'));
  expect(answer.data).toEqual({ project: { events: { nodes: [{ properties: numbersAndBrackets }] } } });
});

test('tens of thousands of names in the extra of a mutation hold up no other client, whatever the key', async () => {
  const { gateway } = attacked();
  const query = 'mutation ($i: UpdateDashboardInput!) { updateDashboard(input: $i) { dashboard { upstreamId } } }';
  const extra = Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`k${at}`, at]));
  await withstand(gateway, async () => {
    const variables = { i: { projectId: '1', id: '1', extra } };
    const answers = await together(inForm(5, 20), 2, (at) =>
      gateway.ask(query, { variables, headers: { authorization: `Bearer phx_invented_${at}` } }),
    );
    for (const { data } of answers) expect(data).toEqual({ updateDashboard: { dashboard: { upstreamId: '1' } } });
    expect((await gateway.ask(honest)).body).toBe(whole);
  });
});

test('a JSON value of many objects that is answered again and again is refused beside honest requests', {
  timeout: 120_000,
}, async () => {
  const { gateway } = attacked();
  const copies = Array.from({ length: 20 }, (_, at) => `p${at}: properties`).join(' ');
  await withstand(gateway, async () => {
    const answers = await together(6, 2, (at) => gateway.ask(eventWith('nearly too many', `${copies} e${at}: event`)));
    for (const { status, data, errors } of answers) {
      expect(status).toBe(200);
      expect(data).toBeNull();
      expect(errors?.map(({ extensions }) => extensions)).toMatchObject([
        { code: 'COST_LIMIT_EXCEEDED', limit: 500_000 },
      ]);
      expect(errors?.[0]?.extensions['values']).toBeGreaterThan(500_000);
    }
    expect((await gateway.ask(honest)).body).toBe(whole);
  });
});
