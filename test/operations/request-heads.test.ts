import { describe, expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import { codesIn } from '../support/outcomes.ts';
import { sendRaw } from '../support/raw-http.ts';
import { project } from '../support/rows.ts';
import { sendBytes } from '../support/wire.ts';

const routes = { 'GET /api/projects/1/': project(1) };
const body = '{"query":"{ project(id: 1) { name } }"}';
const json = ['content-type', 'application/json', 'authorization', 'Bearer phx_test'];
const whole = '{"data":{"project":{"name":"Project 1"}}}';
const get = '/graphql?query={project(id:1){name}}';

/** A request as it goes over the wire, with its `Host` lines as they are given. */
function request(line: string, hosts: string, headers: string, content = body): string {
  const length = `content-length: ${content.length}\r\n`;
  return `${line} HTTP/1.1\r\n${hosts}connection: close\r\nauthorization: Bearer phx_test\r\n${headers}${length}\r\n${content}`;
}

describe('a Host that is not one', () => {
  const hosts = ['a b', 'a/b', 'user@a', 'a?b', 'a#b', '[::', '256.256.256.256', 'a:99999', 'a:b', 'a%zz', '<script>'];
  const kinds = [
    ['a common request', 'POST /graphql', 'content-type: application/json\r\n'],
    ['another method', 'PUT /graphql', 'content-type: application/json\r\n'],
    ['plain text', 'POST /graphql', 'content-type: text/plain\r\n'],
    ['a stream', 'POST /graphql', 'content-type: application/json\r\naccept: text/event-stream\r\n'],
  ] as const;

  test.each(kinds)('is refused with 400 in %s', async (_name, line, headers) => {
    const { upstream, gateway } = await startBoth(routes);
    for (const host of hosts) {
      const answer = await sendBytes(gateway.url, request(line, `host: ${host}\r\n`, headers), 5000);
      expect([host, answer.slice(0, 12)]).toEqual([host, 'HTTP/1.1 400']);
      expect(codesIn(answer.slice(answer.indexOf('\r\n\r\n')))).toEqual(['BAD_USER_INPUT']);
      expect(answer).not.toMatch(/node_modules|file:|at [A-Z]\w+\./);
    }
    expect(upstream.requests).toEqual([]);
    expect(gateway.reported).toEqual([]);
  });

  test('is every other form of one, and an empty one', async () => {
    const { gateway } = await startBoth(routes);
    for (const host of ['', 'a', 'a:1', '[::1]:80', '10.0.0.1', 'xn--bcher-kva.example', 'under_score.example:']) {
      for (const [, line, headers] of kinds) {
        const answer = await sendBytes(gateway.url, request(line, `host: ${host}\r\n`, headers), 5000);
        expect([host, line, answer.slice(9, 12)]).toEqual([host, line, expect.stringMatching(/200|405|415/)]);
      }
    }
  });
});

test.each([
  ['two Host headers', request('POST /graphql', 'host: a\r\nhost: b\r\n', 'content-type: application/json\r\n')],
  ['two equal Host headers', request('POST /graphql', 'host: a\r\nHost: a\r\n', 'content-type: application/json\r\n')],
  [
    'a transfer coding beside chunked',
    `POST /graphql HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ntransfer-encoding: gzip, chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
  ],
])('%s: 400, and the connection is closed', async (_name, bytes) => {
  const { upstream, gateway } = await startBoth(routes);
  const answer = await sendBytes(gateway.url, bytes);
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(answer).toMatch(/^connection: close\r$/im);
  expect(answer.split('HTTP/1.1 ')).toHaveLength(2);
  expect(upstream.requests).toEqual([]);
});

describe('requests that people make by hand', () => {
  test('/graphql/ is /graphql, with and without a query, on the fast path and in Yoga', async () => {
    const { gateway } = await startBoth(routes);
    for (const accept of ['application/json', 'text/event-stream']) {
      const headers = [...json, 'accept', accept];
      const posted = await sendRaw(gateway.url, { path: '/graphql/', headers, body });
      expect([posted.status, posted.body]).toEqual([200, expect.stringContaining(whole)]);
      const got = await sendRaw(gateway.url, { method: 'GET', path: get.replace('?', '/?'), headers });
      expect([got.status, got.body]).toEqual([200, expect.stringContaining(whole)]);
    }
    const page = await sendRaw(gateway.url, { method: 'GET', path: '/graphql/', headers: ['accept', 'text/html'] });
    expect([page.status, page.body.includes('GraphiQL')]).toEqual([200, true]);
    expect((await sendRaw(gateway.url, { path: '/graphql/x', headers: json, body })).status).toBe(404);
  });

  test.each(['', '?a=b'])('a whole URL without a path means /: %j', async (query) => {
    const { gateway } = await startBoth(routes);
    const answer = await sendBytes(gateway.url, `GET http://a${query} HTTP/1.1\r\nhost: a\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 302 [^]*^location: \/graphql\r$/im);
  });

  test('HEAD answers what GET would, without a body', async () => {
    const { gateway } = await startBoth(routes);
    for (const [path, accept] of [
      [get, 'application/json'],
      [
        `/graphql?query=${encodeURIComponent('mutation { createProject(input: { name: "x" }) { project { id } } }')}`,
        '*/*',
      ],
      ['/graphql', 'text/html'],
      ['/graphql', '*/*'],
      ['/healthz', '*/*'],
    ] as const) {
      const headers = [...json, 'accept', accept];
      const got = await sendRaw(gateway.url, { method: 'GET', path, headers });
      const head = await sendRaw(gateway.url, { method: 'HEAD', path, headers });
      expect([path, head.status, head.body]).toEqual([path, got.status, '']);
      for (const name of ['content-type', 'content-length', 'vary', 'cache-control'])
        expect([path, name, head.headers[name]]).toEqual([path, name, got.headers[name]]);
    }
  });

  test.each(['""', 'null'])('members that are %s count as left out', async (none) => {
    const { gateway } = await startBoth(routes);
    const text = `${body.slice(0, -1)},"variables":${none},"operationName":${none},"extensions":${none}}`;
    expect((await sendRaw(gateway.url, { headers: json, body: text })).body).toBe(whole);
  });
});
