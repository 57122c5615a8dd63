import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { toGlobalId } from '../../src/graphql/ids.ts';
import { rowsOf } from '../support/connections.ts';
import { inForm } from '../support/form.ts';
import { type Answer } from '../support/gateway.ts';
import { eventsOf, listOf } from '../support/lists.ts';
import { pause, together } from '../support/load.ts';
import type { Routes } from '../support/routes.ts';
import { dashboard, event, listedDashboard, plugin, project } from '../support/rows.ts';
import { shareSmallGateway, withstand } from '../support/small-gateway.ts';
import { openWith, postOf } from '../support/wire.ts';

const big = 'x'.repeat(900_000);
/** A text of the same size that compression hardly makes smaller. */
const dense = randomBytes(675_000).toString('base64');
/** The dashboard that has it. */
const denseId = 50;
const routes: Routes = {
  'GET /api/projects/:id/': ({ params }) => project(Number(params['id'])),
  'GET /api/projects/:id/events/': eventsOf(rowsOf(100, event)),
  'GET /api/projects/:id/dashboards/': listOf(rowsOf(100, listedDashboard)),
  'GET /api/projects/:id/dashboards/:dashboard/': ({ params }) =>
    dashboard(Number(params['dashboard']), { description: Number(params['dashboard']) === denseId ? dense : big }),
  'PATCH /api/projects/:id/dashboards/:dashboard/': ({ params }) => dashboard(Number(params['dashboard'])),
  'GET /api/organizations/:id/plugins/': listOf(rowsOf(100, plugin)),
};

const honest = '{ project(id: 1) { name } }';
const whole = '{"data":{"project":{"name":"Project 1"}}}';

const attacked = shareSmallGateway(routes, honest);

function codeOf({ errors }: Answer): unknown {
  return errors?.[0]?.extensions['code'];
}

function dashboardId(id: number): string {
  return toGlobalId({ type: 'Dashboard', scope: '1', id: `${id}` });
}

/** The same field within itself, so many times. */
function nested(depth: number, open: string, close: string): string {
  return depth === 0 ? '__typename' : `${open} ${nested(depth - 1, open, close)} ${close}`;
}

const multiplied: readonly (readonly [name: string, query: string])[] = [
  [
    'events and their project',
    `{ project(id: 1) { ${nested(4, 'events(first: 100) { nodes { project {', '} } }')} } }`,
  ],
  [
    'edges of dashboards and their project',
    `{ project(id: 1) { ${nested(3, 'dashboards(first: 100) { edges { node { project {', '} } } }')} } }`,
  ],
  [
    'plugins and their organization',
    `{ organization(id: "@current") { ${nested(4, 'plugins(first: 100) { nodes { organization {', '} } }')} } }`,
  ],
  [
    'aliases of nodes',
    `query ($ids: [ID!]!) { ${Array.from({ length: 20 }, (_, at) => `n${at}: nodes(ids: $ids) { ...D }`).join(' ')} }
     fragment D on Dashboard { project { events(first: 100) { nodes { event } } } }`,
  ],
];

test.each(multiplied)('%s are refused before anything is read', async (_name, query) => {
  const { gateway, upstream } = attacked();
  const ids = Array.from({ length: 100 }, () => dashboardId(1));
  await withstand(gateway, async () => {
    const answers = await together(40, 20, () => gateway.ask(query, { variables: { ids } }));
    expect(new Set(answers.map(codeOf))).toEqual(new Set(['COST_LIMIT_EXCEEDED']));
    expect(upstream.requests).toEqual([]);
    expect((await gateway.ask(honest)).body).toBe(whole);
  });
});

test('many answers of nearly as many objects as one may have are made, or refused, beside honest ones', {
  timeout: 120_000,
}, async () => {
  const { gateway } = attacked();
  const columns = 'id upstreamId event timestamp distinctId elementsChain';
  const inner = `events(first: 100) { nodes { project { events(first: 100) { nodes { a: id b: id ${columns} } } } } }`;
  await withstand(gateway, async () => {
    // Four times ten thousand events: not equal, so that each is an operation of its own.
    const query = (at: number): string =>
      `{ project(id: 1) { ${[0, 1, 2, 3].map((alias) => `e${at}_${alias}: ${inner}`).join(' ')} } }`;
    const beside = together(3, 1, () => gateway.ask(honest));
    const answers = await together(inForm(8, 16), 8, (at) => gateway.ask(query(at)));
    expect((await beside).map(({ body }) => body)).toEqual([whole, whole, whole]);
    // OVERLOADED with 200 is the error of a field whose row had arrived, and was not read in time.
    const outcomes = new Set(answers.map((answer) => `${answer.status} ${String(codeOf(answer))}`));
    expect(
      [...outcomes].filter(
        (outcome) => !/^(200 undefined|200 COST_LIMIT_EXCEEDED|(?:200|503) OVERLOADED)$/.test(outcome),
      ),
    ).toEqual([]);
    expect((await gateway.ask(honest)).body).toBe(whole);
  });
});

test('a large row that is answered again and again is refused, and answered if little of it is selected', async () => {
  const { gateway } = attacked();
  const query = (column: string): string =>
    `query ($ids: [ID!]!) { ${['a', 'b', 'c', 'd'].map((name) => `${name}: nodes(ids: $ids) { ... on Dashboard { ${column} filters } }`).join(' ')} }`;
  const variables = { ids: Array.from({ length: 100 }, () => dashboardId(1)) };
  await withstand(gateway, async () => {
    const answers = await together(12, 6, () => gateway.ask(query('description'), { variables }));
    for (const answer of answers) {
      expect(answer.status).toBe(200);
      expect(answer.data).toBeNull();
      const limits = answer.errors?.map(({ extensions: { code, limit } }) => [code, limit]);
      expect(limits).toEqual([['COST_LIMIT_EXCEEDED', 16_777_216]]);
    }
    const small = await gateway.ask(query('upstreamId'), { variables });
    expect(small.errors).toBeUndefined();
    expect(small.body.length).toBeLessThan(100_000);
  });
});

test('one answer that a hundred clients share and do not take, compressed, leaves honest ones their room', {
  timeout: 120_000,
}, async () => {
  const { gateway, upstream } = attacked();
  const query = `{ ${Array.from({ length: 12 }, (_, at) => `a${at}: node(id: "${dashboardId(denseId)}") { ... on Dashboard { description } }`).join(' ')} }`;
  await withstand(gateway, async () => {
    const sockets = await together(100, 100, () => askAndStop(gateway.url, query, 'accept-encoding: gzip\r\n'));
    expect(upstream.requests.length).toBeLessThan(100);
    expect((await gateway.ask(honest)).body).toBe(whole);
    for (const socket of sockets) socket.destroy();
    await pause(500);
    expect(codeOf(await gateway.ask(query))).toBeUndefined();
  });
});

/** Sends an operation, with header lines beside the usual ones, and takes nothing of its answer but the beginning. */
async function askAndStop(url: string, query: string, headers = ''): Promise<Socket> {
  const socket = openWith(url, postOf(query, headers));
  await once(socket, 'readable');
  return socket;
}
