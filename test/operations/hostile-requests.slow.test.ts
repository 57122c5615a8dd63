import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import { inForm } from '../support/form.ts';
import { codesOf } from '../support/load.ts';
import { peakMemory, runWeighed } from '../support/memory.ts';
import { codesIn } from '../support/outcomes.ts';
import { sendRaw } from '../support/raw-http.ts';
import { listedDashboard, project } from '../support/rows.ts';
import { startUpstream } from '../support/upstream.ts';
import { sendBytes } from '../support/wire.ts';

const routes = {
  'GET /api/projects/:id/': project(1),
  'GET /api/projects/:id/dashboards/': { count: 1, next: null, results: [listedDashboard(1)] },
};
const body = '{"query":"{ project(id: 1) { name } }"}';
const json = ['content-type', 'application/json', 'authorization', 'Bearer phx_test'];
const whole = '{"data":{"project":{"name":"Project 1"}}}';

function request(head = '', text = body, target = 'POST /graphql'): string {
  const headers = `host: a\r\ncontent-type: application/json\r\nauthorization: Bearer phx_test\r\n${head}`;
  return `${target} HTTP/1.1\r\n${headers}content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
}

function chunked(chunks: string, head = ''): string {
  return request(`${head}transfer-encoding: chunked\r\n`, '').replace('content-length: 0\r\n', '') + chunks;
}

const size = body.length.toString(16);

describe('on the wire', () => {
  test('pipelined requests are answered one after the other', async () => {
    const { upstream, gateway } = await startBoth(routes);
    const bytes = request() + request() + request('connection: close\r\n');
    const answer = await sendBytes(gateway.url, bytes, 15_000);
    expect(answer.split('HTTP/1.1 200 OK').length - 1).toBe(3);
    expect(answer.split(whole).length - 1).toBe(3);
    expect(upstream.mostInFlight).toBe(1);
  });

  test.each([
    ['a chunked body with extensions is read', chunked(`${size};a=b\r\n${body}\r\n0\r\n\r\n`)],
    ['a trailer is no header', chunked(`${size}\r\n${body}\r\n0\r\nauthorization: Bearer phx_evil\r\n\r\n`)],
    ['the whole URL may stand for the path', request('', body, 'POST http://evil.example/graphql')],
    ['an upgrade is not taken up', request('connection: upgrade\r\nupgrade: h2c\r\n')],
  ])('%s', async (_name, bytes) => {
    const { upstream, gateway } = await startBoth(routes);
    const answer = await sendBytes(gateway.url, bytes);
    expect(answer.split('HTTP/1.1 200 OK').length - 1).toBe(1);
    expect(answer.split(whole).length - 1).toBe(1);
    expect(new Set(upstream.records.map(({ headers }) => headers.authorization))).toEqual(new Set(['Bearer phx_test']));
  });

  test.each([
    ['a length beside chunks', chunked(`${size}\r\n${body}\r\n0\r\n\r\n`, 'content-length: 5\r\n')],
    ['a negative length', request().replace(/content-length: \d+/, 'content-length: -1')],
    ['a list of lengths', request().replace(/content-length: (\d+)/, 'content-length: $1, $1')],
    ['a chunk without a size', chunked('zz\r\n')],
    ['a chunk extension without end', chunked(`1;${'a'.repeat(20_000)}`)],
    ['a space before the colon', request('authorization : Bearer phx_test\r\n')],
    ['a header over two lines', request('x: a\r\n b\r\n')],
    ['a zero in a header', request('x: a\0b\r\n')],
    ['lines that end with LF only', request().replaceAll('\r\n', '\n')],
    ['an unknown method', request('', body, 'BANANA /graphql')],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['TLS', Buffer.from('16030100a5010000a10303', 'hex')],
  ])('%s is refused with a bare 400', async (_name, bytes) => {
    const { upstream, gateway } = await startBoth(routes);
    expect(await sendBytes(gateway.url, bytes)).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n[^{]*$/);
    expect(upstream.requests).toEqual([]);
    expect((await gateway.ask('{ project(id: 1) { name } }')).body).toBe(whole);
  });

  test.each([
    ['what is malformed comes after its answer', '', 'banana\r\n\r\n', 1],
    ['nothing is answered after connection: close', 'connection: close\r\n', request(), 0],
  ])('a request that another follows is answered in full; %s', async (_name, head, next, refusals) => {
    const { upstream, gateway } = await startBoth(routes);
    const answer = await sendBytes(gateway.url, request(head) + next + next);
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(answer.split(whole).length - 1).toBe(1);
    expect(answer.split('HTTP/1.1 400 Bad Request').length - 1).toBe(refusals);
    expect(upstream.requests).toEqual(['GET /api/projects/1/']);
  });

  test('a body that says it is too large is refused before it comes, and its connection closed', async () => {
    const { gateway } = await startBoth(routes);
    const bytes = request().replace(/content-length: \d+/, 'content-length: 10000000000');
    const answer = await sendBytes(gateway.url, bytes);
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toMatch(/^connection: close\r$/im);
    expect(answer).toContain('at most 1048576 bytes are allowed, but it has 10000000000');
    expect(answer).toContain('"code":"LIMIT_EXCEEDED"');
  });
});

test('a body with a content coding is refused, whatever it holds', async () => {
  const { upstream, gateway } = await startBoth(routes);
  for (const [coding, content] of [
    ['gzip', gzipSync(body)],
    ['gzip', body],
    ['br', body],
    ['gzip', gzipSync(Buffer.alloc(50_000_000))],
  ] as const) {
    const answer = await sendRaw(gateway.url, { headers: [...json, 'content-encoding', coding], body: content });
    expect([answer.status, codesIn(answer.body)]).toEqual([415, ['BAD_USER_INPUT']]);
    expect(answer.headers['accept-encoding']).toBe('identity');
  }
  expect(upstream.requests).toEqual([]);
  const plain = await sendRaw(gateway.url, { headers: [...json, 'content-encoding', 'identity'], body });
  expect(plain.body).toBe(whole);
});

describe('names that every object has', () => {
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'then', 'toJSON'];

  test.each(names)('are ordinary as variable, alias, operation and fragment: %s', async (name) => {
    const { upstream, gateway } = await startBoth(routes);
    const query = `query ${name}($${name}: ID!) { ${name}: project(id: $${name}) { ...${name} } }
      fragment ${name} on Project { ${name}: name }`;
    const text = `{"query":${JSON.stringify(query)},"operationName":"${name}","variables":{"${name}":"7"}}`;
    // Executed by other code from the second time on.
    for (let times = 0; times < 3; times += 1) {
      upstream.reset();
      const answer = await sendRaw(gateway.url, { headers: json, body: text });
      expect(answer.body).toBe(`{"data":{"${name}":{"${name}":"Project 1"}}}`);
      expect(upstream.requests).toEqual(['GET /api/projects/7/']);
    }
    expect(gateway.reported).toEqual([]);
  });

  test.each(names)('are not taken from a prototype if they are missing: %s', async (name) => {
    const { upstream, gateway } = await startBoth(routes);
    const query = `query Q($${name}: ID!) { project(id: $${name}) { name } }`;
    for (const variables of ['{}', `{"a":{"${name}":"7"}}`]) {
      const text = `{"query":${JSON.stringify(query)},"variables":${variables}}`;
      expect(codesIn((await sendRaw(gateway.url, { headers: json, body: text })).body)).toEqual(['BAD_USER_INPUT']);
    }
    const unnamed = await gateway.ask('query A { __typename } query B { __typename }', { operationName: name });
    expect(codesOf(unnamed)).toEqual(['BAD_USER_INPUT']);
    expect(upstream.requests).toEqual([]);
  });
});

test('fragments that spread each other astronomically often are answered, however often they come', async () => {
  const { gateway } = await startBoth(routes);
  // Three spreads of the next one in each of forty: three to the power of forty names.
  const fragments = Array.from({ length: 40 }, (_, index) => {
    const next = index === 39 ? '' : `...F${index + 1} `.repeat(3);
    return `fragment F${index} on Project { name ${next}}`;
  });
  // Executed by other code from the second time on.
  for (let times = 0; times < 3; times += 1)
    expect((await gateway.ask(`{ project(id: 1) { ...F0 } } ${fragments.join(' ')}`)).body).toBe(whole);
});

test('a body of a million chunks takes little more memory than its bytes', { timeout: 180_000 }, async () => {
  await using upstream = await startUpstream(routes);
  await using gateway = runWeighed({ PORT: '0', UPSTREAM_URL: upstream.url, LOG_LEVEL: 'warn' });
  const [, url = ''] = await gateway.printed(/^Gateway +(\S+)/m);
  expect(await sendBytes(url, request(), 3000)).toContain(whole);
  const before = await gateway.weigh();
  const padded = `${body.slice(0, -1)},"padding":"${'a'.repeat(1_000_000)}"}`;
  const chunks = padded
    .split('')
    .map((letter) => `1\r\n${letter}\r\n`)
    .join('');
  for (let times = 0; times < inForm(1, 3); times += 1) {
    const bytes = chunked(`${chunks}0\r\n\r\n`, 'connection: close\r\n');
    // A busy machine may take more than the 15 seconds of a request for it.
    await expect.poll(() => sendBytes(url, bytes, 50_000), { timeout: 150_000 }).toContain(whole);
  }
  expect((await peakMemory(gateway)) - before.resident).toBeLessThan(100 * 2 ** 20);
});
