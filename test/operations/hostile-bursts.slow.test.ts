import { expect, test } from 'vitest';
import { rowsOf } from '../support/connections.ts';
import { type Answer, startGateway } from '../support/gateway.ts';
import { eventsOf } from '../support/lists.ts';
import { as, codesOf, pause, together } from '../support/load.ts';
import type { Routes } from '../support/routes.ts';
import { dashboard, event, project } from '../support/rows.ts';
import { startSmallGateway, withstand } from '../support/small-gateway.ts';
import { startUpstream } from '../support/upstream.ts';

const honest = '{ project(id: 2) { name } }';
const whole = '{"data":{"project":{"name":"Project 2"}}}';
const events = eventsOf(rowsOf(100, event));

const routes: Routes = {
  'GET /api/projects/:id/': ({ params }) => project(Number(params['id'])),
  'GET /api/projects/:id/events/': events,
  'GET /api/projects/:id/dashboards/:dashboard/': ({ params }) =>
    dashboard(Number(params['dashboard']), { description: 'x'.repeat(600_000) }),
};

/** Each of a hundred events with a page of its project's events; `at` tells equal ones apart. */
function manyObjects(at: number, aliases: number, rows: number): string {
  const page = `events(first: 100) { nodes { project { events(first: ${rows}) { nodes { id event timestamp } } } } }`;
  const fields = Array.from({ length: aliases }, (_, alias) => `e${at}_${alias}: ${page}`);
  return `query Large { project(id: 1) { ${fields.join(' ')} } }`;
}

test('operations whose answers take long to make leave turns of the event loop to others', async () => {
  const gate = Promise.withResolvers<void>();
  await using upstream = await startUpstream({
    ...routes,
    'GET /api/projects/:id/events/': async (request) => {
      await gate.promise;
      return events(request);
    },
  });
  const ended: unknown[] = [];
  await using gateway = await startGateway(upstream, {
    log: (_level, _message, fields) =>
      ended.push(fields !== undefined && 'operationName' in fields && fields.operationName),
  });
  const large = Array.from({ length: 10 }, (_, at) => gateway.ask(manyObjects(at, 1, 40)));
  while (!upstream.requests.some((line) => line.includes('/events/'))) await pause(5);
  await pause(50);
  gate.resolve();
  expect((await gateway.ask(`query Honest ${honest}`)).body).toBe(whole);
  const answers = await Promise.all(large);
  expect(answers.map(({ errors }) => errors)).toEqual(answers.map(() => undefined));
  const pages = upstream.requests.filter((line) => line.includes('/events/'));
  expect(new Set(pages)).toEqual(new Set(['GET /api/projects/1/events/?limit=100']));
  expect(ended).toHaveLength(11);
  expect(ended.indexOf('Honest')).toBeLessThan(10);
});

const bursts: readonly (readonly [name: string, queryOf: (at: number) => string, keyOf: (at: number) => string])[] = [
  ['many objects, of one key', (at) => manyObjects(at, 4, 80), () => 'phx_a'],
  ['many objects, of a key each', (at) => manyObjects(at, 4, 80), (at) => `phx_${at}`],
  [
    'large rows, of a key each',
    () =>
      `{ project(id: 1) { ${Array.from({ length: 20 }, (_, at) => `d${at}: dashboard(id: ${at + 1}) { description }`).join(' ')} } }`,
    (at) => `phx_${at}`,
  ],
];

test.each(bursts)(
  'a burst of operations just below the limits holds up no other request: %s',
  { timeout: 120_000 },
  async (...burst) => {
    const [, queryOf, keyOf] = burst;
    await using upstream = await startUpstream(routes);
    await using gateway = await startSmallGateway(upstream, { OPERATION_DEADLINE_MS: '60000' });
    expect((await gateway.ask(honest)).body).toBe(whole);
    // The time to compile and to load late modules is not that of the burst.
    await gateway.ask(queryOf(0), as('phx_first'));
    await withstand(gateway, async () => {
      const answers = together(20, 20, (at) => gateway.ask(queryOf(at + 1), as(keyOf(at))));
      const beside: Answer[] = [];
      for (let times = 0; times < 5; times += 1) beside.push(await gateway.ask(honest));
      expect(beside.map(({ body }) => body)).toEqual(beside.map(() => whole));
      const outcomes = (await answers).map((answer) => codesOf(answer)[0] ?? answer.status);
      expect(outcomes).toContain(200);
      expect(outcomes.filter((outcome) => outcome !== 200 && outcome !== 'OVERLOADED')).toEqual([]);
      expect((await gateway.ask(honest)).body).toBe(whole);
    });
  },
);
