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

/** Sends a query and reads nothing but the first bytes of its answer. */
async function askAndStop({ url }: SmallGateway, query: string, accept: string): Promise<Socket> {
  const socket = openWith(url, postOf(query, `accept: ${accept}\r\n`));
  await once(socket, 'readable');
  return socket;
}

/** Sends a query and reads its answer; the length of that. */
async function read({ url }: SmallGateway, query: string, accept: string): Promise<number> {
  const headers = { accept, 'content-type': 'application/json', authorization: `Bearer ${key}` };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query }) });
  return (await response.text()).length;
}

const forms = {
  'whole answers': { accept: 'application/json', query: (reader: number) => `{ ${large(reader)} }` },
  'answers as event streams': { accept: 'text/event-stream', query: (reader: number) => `{ ${large(reader)} }` },
  'answers in parts of v0.2': {
    accept: accepts['v0.2'],
    query: (reader: number) => `{ project(id: 1) { name } ... @defer { ${large(reader)} } }`,
  },
  'answers in parts of 20220824': {
    accept: accepts['20220824'],
    query: (reader: number) => `{ project(id: 1) { name } ... @defer { ${large(reader)} } }`,
  },
};

test.for(Object.entries(forms))(
  '60 clients that do not read their %s take little memory',
  {
    timeout: 120_000,
  },
  async ([name, { accept, query }]) => {
    await using gateway = await startSmallGateway(upstream);
    for (let reader = readers; reader < readers + 12; reader += 1)
      expect(await read(gateway, query(reader), accept)).toBeGreaterThan(12 * description.length);
    const before = await residentMemory(gateway);
    const { live } = await gateway.weigh();
    const sockets = await together(readers, 6, (reader) => askAndStop(gateway, query(reader), accept));
    await pause(3000);
    const more = (await peakMemory(gateway)) - before;
    const after = await gateway.weigh();
    measured(name, { before, after, more: Math.round(more / 2 ** 20) });
    expect(more).toBeLessThan(allowance);
    expect(after.live - live).toBeLessThan(liveAllowance);
    expect((await gateway.ask(honest)).data).toEqual({ project: { name: 'Project 1' } });
    for (const socket of sockets) socket.destroy();
  },
);
