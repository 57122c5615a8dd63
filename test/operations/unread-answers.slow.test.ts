import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toGlobalId } from '../../src/graphql/ids.ts';
import { measured } from '../support/form.ts';
import { key } from '../support/gateway.ts';
import { pause, together } from '../support/load.ts';
import { peakMemory, residentMemory } from '../support/memory.ts';
import { accepts } from '../support/parts.ts';
import { dashboard, project } from '../support/rows.ts';
import { type SmallGateway, startSmallGateway } from '../support/small-gateway.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { openWith, postOf } from '../support/wire.ts';

const readers = 60;

/** The most bytes by which the memory of the gateway may grow while clients read nothing. */
const allowance = 128 * 2 ** 20;

/** The most bytes that may be in use for them: those of two answers, and 18 MiB for connections and operations. */
const liveAllowance = 40 * 2 ** 20;

const description = 'x'.repeat(900_000);
const honest = '{ project(id: 1) { name } }';

let upstream: Upstream;

beforeAll(async () => {
  upstream = await startUpstream({
    'GET /api/projects/:id/': ({ params }) => project(Number(params['id'])),
    'GET /api/projects/:id/dashboards/:dashboard/': ({ params }) =>
      dashboard(Number(params['dashboard']), { description }),
  });
  upstream.release();
});
afterAll(() => upstream[Symbol.asyncDispose]());

/** Selects eleven megabytes. No two of them are equal, so that no answer is shared. */
function large(reader: number): string {
  const id = toGlobalId({ type: 'Dashboard', scope: '1', id: '1' });
  const fields = Array.from(
    { length: 12 },
    (_, at) => `r${reader}_${at}: node(id: "${id}") { ... on Dashboard { description } }`,
  );
  return fields.join(' ');
}

async function askAndStop({ url }: SmallGateway, query: string, accept: string): Promise<Socket> {
  const socket = openWith(url, postOf(query, `accept: ${accept}\r\n`));
  await once(socket, 'readable');
  return socket;
}

async function read({ url }: SmallGateway, query: string, accept: string): Promise<number> {
  const headers = { accept, 'content-type': 'application/json', authorization: `Bearer ${key}` };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query }) });
  return (await response.text()).length;
}

/** Requests of the clients: in each form, half of the clients send one kind and half the other. */
const forms = [
  {
    name: 'whole answers',
    accepts: ['application/json', 'text/event-stream'],
    query: (reader: number) => `{ ${large(reader)} }`,
  },
  {
    name: 'answers in parts',
    accepts: [accepts['v0.2'], accepts['20220824']],
    query: (reader: number) => `{ project(id: 1) { name } ... @defer { ${large(reader)} } }`,
  },
];

test.for(forms)('60 clients that do not read their $name take little memory', { timeout: 120_000 }, async (form) => {
  const { name, query } = form;
  const acceptOf = (reader: number): string => form.accepts[reader % 2] ?? '';
  await using gateway = await startSmallGateway(upstream);
  for (let reader = readers; reader < readers + 12; reader += 1)
    expect(await read(gateway, query(reader), acceptOf(reader))).toBeGreaterThan(12 * description.length);
  const before = await residentMemory(gateway);
  const { live } = await gateway.weigh();
  const sockets = await together(readers, 6, (reader) => askAndStop(gateway, query(reader), acceptOf(reader)));
  await pause(3000);
  const more = (await peakMemory(gateway)) - before;
  const after = await gateway.weigh();
  measured(name, { before, after, more: Math.round(more / 2 ** 20) });
  expect(more).toBeLessThan(allowance);
  expect(after.live - live).toBeLessThan(liveAllowance);
  expect((await gateway.ask(honest)).data).toEqual({ project: { name: 'Project 1' } });
  for (const socket of sockets) socket.destroy();
});
