import { createServer } from 'node:http';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import { organizationId } from '../support/current.ts';
import { expectWithin } from '../support/form.ts';
import { startGateway } from '../support/gateway.ts';
import { listen } from '../support/listen.ts';
import { codesOf, expectNothingLeaks, factsOf } from '../support/outcomes.ts';
import { bytes, disconnect, drip, hang, type Json, type Reply, raw, reply, truncated } from '../support/replies.ts';
import { listedDashboard, project } from '../support/rows.ts';
import { startUpstream } from '../support/upstream.ts';

const query = '{ project(id: 1) { name dashboards { nodes { name } } } }';
const page = { count: 1, next: null, results: [listedDashboard(1)] };
const whole = { project: { name: 'Project 1', dashboards: { nodes: [{ name: 'Dashboard 1' }] } } };
const text = JSON.stringify(page);

const read = 'GET /api/projects/1/dashboards/?limit=50';
const write = 'PATCH /api/projects/1/dashboards/1/';
const mutation = `mutation {
  fails: updateDashboard(input: { id: 1, projectId: 1, name: "New" }) { dashboard { name } }
  works: updateDashboard(input: { id: 2, projectId: 1, name: "New" }) { dashboard { name } } }`;

/** Short if it has to be waited for, else so long that no busy machine reaches it. */
function deadlineFor(code: string): number {
  return code === 'UPSTREAM_TIMEOUT' ? 800 : 8000;
}

/** Nothing may take longer than its deadline, and what a busy machine adds to it. */
const allowanceMs = 2000;

interface Met {
  readonly code: string;
  /** The fewest and the most times that the read was sent. */
  readonly reads?: readonly [number, number];
  readonly facts?: object;
}

/**
 * Meets a fault on one path of a read, then in the first of two writes; each time the next request is answered.
 * Returns what the gateway did not expect.
 */
async function meet(fault: Reply, { code, reads = [1, 1], facts }: Met): Promise<readonly unknown[]> {
  const operationDeadlineMs = deadlineFor(code);
  let broken = true;
  await using upstream = await startUpstream({
    'GET /api/projects/1/': project(1),
    'GET /api/projects/1/dashboards/': () => (broken ? fault : page),
    'PATCH /api/projects/1/dashboards/1/': () => (broken ? fault : listedDashboard(1)),
    'PATCH /api/projects/1/dashboards/2/': listedDashboard(2),
  });
  await using gateway = await startGateway(upstream, { operationDeadlineMs });

  const startedAt = performance.now();
  const asked = await gateway.ask(query);
  expectWithin(performance.now() - startedAt, operationDeadlineMs + allowanceMs);
  expect([asked.status, codesOf(asked)]).toEqual([200, [`project.dashboards ${code}`]]);
  expect(asked.data).toEqual({ project: { ...whole.project, dashboards: null } });
  expect(factsOf(asked)).toEqual(facts);
  expectNothingLeaks(asked, 'phx_test', new URL(upstream.url).port, 'secret');
  const sent = upstream.requests.filter((line) => line === read).length;
  expect(sent).toBeGreaterThanOrEqual(reads[0]);
  expect(sent).toBeLessThanOrEqual(reads[1]);
  broken = false;
  expect((await gateway.ask(query)).data).toEqual(whole);

  broken = true;
  const writtenAt = performance.now();
  const written = await gateway.ask(mutation);
  expectWithin(performance.now() - writtenAt, operationDeadlineMs + allowanceMs);
  expect(codesOf(written)[0]).toBe(`fails ${code}`);
  expectNothingLeaks(written, 'phx_test', new URL(upstream.url).port, 'secret');
  expect(upstream.requests.filter((line) => line === write)).toHaveLength(1);
  broken = false;
  expect((await gateway.ask(mutation)).errors).toBeUndefined();
  return gateway.reported;
}

describe('a connection', () => {
  test('that is refused is UPSTREAM_UNAVAILABLE, and used as soon as it is there', async () => {
    const server = createServer((_request, response) => {
      response.setHeader('content-type', 'application/json').end(JSON.stringify(project(1)));
    });
    const port = await listen(server);
    await new Promise((resolve) => server.close(resolve));
    await using gateway = await startGateway({ url: `http://127.0.0.1:${port}` });
    const asked = await gateway.ask(
      `{ __typename project(id: 1) { name } organization(id: "${organizationId}") { upstreamId } }`,
    );
    expect(codesOf(asked)).toEqual(['project UPSTREAM_UNAVAILABLE']);
    expect(asked.data).toEqual({ __typename: 'Query', project: null, organization: { upstreamId: organizationId } });
    expectNothingLeaks(asked, String(port));
    await listen(server, port);
    expect((await gateway.ask('{ project(id: 1) { name } }')).data).toEqual({ project: { name: 'Project 1' } });
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  // A socket that was used before and closes without a byte is tried once more for free.
  const faults: [name: string, fault: Reply, met: Met][] = [
    ['closes before a byte', disconnect, { code: 'UPSTREAM_UNAVAILABLE', reads: [2, 3] }],
    [
      'is reset',
      raw((response) => response.socket?.resetAndDestroy()),
      { code: 'UPSTREAM_UNAVAILABLE', reads: [2, 3] },
    ],
    [
      'closes within the headers',
      bytes('HTTP/1.1 200 OK\r\ncontent-ty'),
      { code: 'UPSTREAM_UNAVAILABLE', reads: [2, 3] },
    ],
    ['closes within the body', truncated(text), { code: 'UPSTREAM_UNAVAILABLE', reads: [2, 2] }],
    [
      'is reset within the body',
      raw((response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write(text.slice(0, 50), () => response.socket?.resetAndDestroy());
      }),
      { code: 'UPSTREAM_UNAVAILABLE', reads: [2, 2] },
    ],
    ['never answers', hang, { code: 'UPSTREAM_TIMEOUT' }],
    ['drips its body', drip(text, 100), { code: 'UPSTREAM_TIMEOUT' }],
    [
      'never ends its body',
      raw((response) => response.writeHead(200, { 'content-type': 'application/json' }).write(text)),
      { code: 'UPSTREAM_TIMEOUT' },
    ],
    [
      'drips its headers',
      raw((response) => {
        const timer = setInterval(() => response.socket?.write('x-a: b\r\n'), 100);
        response.on('close', () => clearInterval(timer));
        response.socket?.write('HTTP/1.1 200 OK\r\n');
      }),
      { code: 'UPSTREAM_TIMEOUT' },
    ],
    ['speaks no HTTP', bytes('secret service ready\r\n\r\n'), { code: 'UPSTREAM_INVALID_RESPONSE' }],
    [
      'sends 60 KB of headers',
      reply({
        body: text,
        headers: Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`x-${at}`, 'a'.repeat(1000)])),
      }),
      { code: 'UPSTREAM_INVALID_RESPONSE' },
    ],
  ];
  // Some of them are waited for.
  test.concurrent.each(faults)('that %s fails one path in time', async (_name, fault, met) => {
    expect(await meet(fault, met)).toEqual([]);
  });
});

const invalid: Met = { code: 'UPSTREAM_INVALID_RESPONSE', facts: { status: 200 } };

function padded(bytesInside: number): Buffer {
  return Buffer.from(`{"count":1,"next":null,"padding":"${'a'.repeat(bytesInside)}","results":[]}`);
}

function encoded(coding: string, body: Buffer): Reply {
  return reply({ headers: { 'content-encoding': coding }, body });
}

describe('a body', () => {
  const html = '<!doctype html><html><body>secret at 10.0.0.1</body></html>';
  const faults: [name: string, fault: Reply, met: Met][] = [
    ['that is empty', reply({ body: '' }), invalid],
    ['that is not there', reply({}), invalid],
    ['that 204 does not have', reply({ status: 204 }), invalidWith(204)],
    ['cut short', reply({ body: text.slice(0, -20) }), invalid],
    ['with something behind it', reply({ body: `${text}{"secret":1}` }), invalid],
    ['of JavaScript', reply({ body: "{results: ['secret']}" }), invalid],
    ['of NaN', reply({ body: 'NaN' }), invalid],
    ['of text', reply({ body: 'secret', headers: { 'content-type': 'text/plain' } }), invalid],
    ['of HTML with 200', reply({ body: html, headers: { 'content-type': 'text/html' } }), invalid],
    ['of HTML that says it is JSON', reply({ body: html }), invalid],
    [
      'of HTML with 502',
      reply({ status: 502, body: html, headers: { 'content-type': 'text/html' } }),
      { code: 'UPSTREAM_UNAVAILABLE', reads: [2, 2], facts: { status: 502 } },
    ],
    ['that is CSV', reply({ body: text, headers: { 'content-type': 'text/csv' } }), invalid],
    ['of invalid UTF-8', reply({ body: Buffer.from(text.replace('Dashboard', 'D\u00e4'), 'latin1') }), invalid],
    ['of UTF-16', reply({ body: Buffer.from(text, 'utf16le') }), invalid],
    ['of zeros', reply({ body: Buffer.alloc(100) }), invalid],
    ['of broken gzip', encoded('gzip', Buffer.concat([gzipSync(text).subarray(0, 30), Buffer.alloc(40, 7)])), invalid],
    ['of gzip cut short', encoded('gzip', gzipSync(text).subarray(0, -12)), invalid],
    ['that is not the gzip it says', encoded('gzip', Buffer.from(text)), invalid],
    ['that is not the br it says', encoded('br', gzipSync(text)), invalid],
    ['in an unknown coding', encoded('zstd-secret', Buffer.from(text)), invalid],
    ['in 200 codings', encoded(Array(200).fill('gzip').join(', '), gzipSync(text)), invalid],
    ['that is a gzip bomb', encoded('gzip', gzipSync(padded(200 * 2 ** 20))), invalid],
    ['that is a bomb in a bomb', encoded('gzip, gzip', gzipSync(gzipSync(padded(50 * 2 ** 20)))), invalid],
    ['that is a br bomb', encoded('br', brotliCompressSync(padded(20 * 2 ** 20))), invalid],
    ['of 9 MB', reply({ body: padded(9 * 2 ** 20) }), { code: 'UPSTREAM_INVALID_RESPONSE' }],
    [
      'of 9 MB that does not say so',
      raw((response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        for (let sent = 0; sent < 9; sent += 1) response.write(padded(2 ** 20));
        response.end();
      }),
      { code: 'UPSTREAM_INVALID_RESPONSE' },
    ],
  ];
  test.each(faults)('%s fails one path', async (_name, fault, met) => {
    expect(await meet(fault, met)).toEqual([]);
  });

  const shapes: Json[] = [
    null,
    [],
    'text',
    7,
    true,
    {},
    { results: null },
    { results: {} },
    { results: 'a' },
    { detail: 'x' },
  ];
  test.each(shapes.map((shape) => ({ shape })))('of another shape fails one path: $shape', async ({ shape }) => {
    const { gateway } = await startBoth({
      'GET /api/projects/1/': project(1),
      'GET /api/projects/1/dashboards/': reply({ body: JSON.stringify(shape) }),
    });
    const asked = await gateway.ask(query);
    expect(codesOf(asked)).toEqual(['project.dashboards UPSTREAM_INVALID_RESPONSE']);
    expect(asked.data).toEqual({ project: { name: 'Project 1', dashboards: null } });
  });

  const accepted: [name: string, answer: Reply][] = [
    ['with the type of text', reply({ body: text, headers: { 'content-type': 'text/plain' } })],
    ['with the type of HTML', reply({ body: text, headers: { 'content-type': 'text/html; charset=utf-8' } })],
    ['with nonsense for a type', reply({ body: text, headers: { 'content-type': ';;' } })],
    ['with a byte order mark', reply({ body: `\uFEFF${text}` })],
    ['with spaces around it', reply({ body: `\r\n\t ${text} \n` })],
    ['in deflate without its frame', encoded('deflate', deflateRawSync(text))],
    ['in three codings', encoded('deflate, gzip, br', brotliCompressSync(gzipSync(deflateSync(text))))],
    ['of almost 8 MB', reply({ body: JSON.stringify({ ...page, padding: 'a'.repeat(8 * 2 ** 20 - 2000) }) })],
    ['with cookies', reply({ body: text, headers: { 'set-cookie': 'secret=1', 'x-powered-by': 'secret' } })],
  ];
  test.each(accepted)('%s is read', async (_name, answer) => {
    const { gateway } = await startBoth({
      'GET /api/projects/1/': project(1),
      'GET /api/projects/1/dashboards/': answer,
    });
    const asked = await gateway.ask(query);
    expect(asked.errors).toBeUndefined();
    expect(asked.data).toEqual(whole);
    expectNothingLeaks(asked, 'secret');
  });

  test('that nests 20,000 deep fails one path', async () => {
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    for (const [tiles, path, dashboard] of [
      [deep, 'project.dashboard.tiles', { name: 'a', tiles: null }],
      // Integers that a double cannot hold are looked for, and the body is refused while that is done.
      [`[${deep},12345678901234567890]`, 'project.dashboard', null],
    ] as const) {
      let broken = true;
      await using upstream = await startUpstream({
        'GET /api/projects/1/': project(1),
        'GET /api/projects/1/dashboards/1/': () =>
          reply({ body: `{"id":1,"name":"a","tiles":${broken ? tiles : '[]'}}` }),
      });
      await using gateway = await startGateway(upstream);
      const asked = await gateway.ask('{ project(id: 1) { name dashboard(id: 1) { name tiles } } }');
      expect(codesOf(asked)).toEqual([`${path} UPSTREAM_INVALID_RESPONSE`]);
      expect(asked.data).toEqual({ project: { name: 'Project 1', dashboard } });
      broken = false;
      expect((await gateway.ask('{ project(id: 1) { dashboard(id: 1) { tiles } } }')).errors).toBeUndefined();
    }
  });
});

function invalidWith(status: number): Met {
  return { code: 'UPSTREAM_INVALID_RESPONSE', facts: { status } };
}

describe('a status', () => {
  // 401 is about the key, and ends the operation.
  const special: Readonly<Record<number, string>> = {
    402: 'FORBIDDEN',
    403: 'FORBIDDEN',
    404: 'NOT_FOUND',
    405: 'METHOD_NOT_ALLOWED',
    408: 'UPSTREAM_TIMEOUT',
    409: 'CONFLICT',
    410: 'NOT_FOUND',
    412: 'CONFLICT',
    423: 'CONFLICT',
    429: 'RATE_LIMITED',
    451: 'FORBIDDEN',
  };
  const statuses = Array.from({ length: 200 }, (_, index) => 400 + index).filter((status) => status !== 401);
  /** Statuses about the key, its limits, or the existence of an object: only an error of the API's own may say that. */
  const statements = new Set([402, 403, 404, 410, 429, 451]);
  // A page is a proxy's, and says nothing of the input.
  test.each([
    ['{"type":"error","code":"","detail":""}', 'BAD_USER_INPUT'],
    ['', 'BAD_USER_INPUT'],
    ['<h1>secret</h1>', 'UPSTREAM_INVALID_RESPONSE'],
  ])('of 400 to 599 has its code, on one path only, with the body %j', async (body, otherwise) => {
    let status = 0;
    const { gateway } = await startBoth(
      {
        'GET /api/projects/1/': project(1),
        'GET /api/projects/1/dashboards/': () => (status === 0 ? page : reply({ status, body })),
      },
      {},
      { hold: 0 },
    );
    for (status of statuses) {
      const asked = await gateway.ask(query);
      const isForeign = !body.startsWith('{') && (body !== '' || statements.has(status)) && status !== 408;
      const own = special[status] ?? otherwise;
      const isUnavailable = status >= 500 || (isForeign && status === 429);
      const foreign = isForeign ? 'UPSTREAM_INVALID_RESPONSE' : own;
      const code = isUnavailable ? 'UPSTREAM_UNAVAILABLE' : foreign;
      expect({ status, codes: codesOf(asked) }).toEqual({ status, codes: [`project.dashboards ${code}`] });
      expect(asked.data).toEqual({ project: { ...whole.project, dashboards: null } });
      expect(factsOf(asked)).toEqual({ status });
      expectNothingLeaks(asked, 'secret');
    }
    status = 0;
    expect((await gateway.ask(query)).data).toEqual(whole);
    expect(gateway.reported).toEqual([]);
  });
});
