import { createServer } from 'node:http';
import { describe, expect, test } from 'vitest';
import { checkUpstream } from '../../src/rest/check-upstream.ts';
import { startBoth } from '../support/both.ts';
import { startBothCaching } from '../support/cache.ts';
import { startGateway } from '../support/gateway.ts';
import { listen } from '../support/listen.ts';
import { listOf } from '../support/lists.ts';
import { codesOf } from '../support/outcomes.ts';
import { type Reply, reply } from '../support/replies.ts';
import { project } from '../support/rows.ts';

const read = '{ project(id: 1) { name } }';

/** Bodies that are no error of the API's, with the content types under which they come. */
const bodies: readonly (readonly [name: string, body: string | undefined, type: string | undefined])[] = [
  ['a page', '<html><center><h1>Sorry</h1></center></html>', 'text/html'],
  ['a page that calls itself JSON', '<html><h1>Sorry</h1></html>', 'application/json'],
  ['text', 'Sorry', 'text/plain'],
  ['nothing', undefined, undefined],
  ['nothing, as HTML', '', 'text/html'],
  ['nothing, as JSON', '', 'application/json'],
  // As Kong and AWS, Tyk, Spring, FastAPI, Apigee, WSO2, OAuth's own, and RFC 9457 write errors.
  ['a message', '{"message": "no Route matched with those values"}', 'application/json'],
  ['an error', '{"error": "Key not authorised"}', 'application/json'],
  [
    'an error with its status',
    '{"timestamp": "2026-01-01", "status": 404, "error": "Not Found", "path": "/"}',
    'application/json',
  ],
  ['a detail', '{"detail": "Not Found"}', 'application/json'],
  ['a fault', '{"fault": {"faultstring": "Invalid ApiKey", "detail": {"errorcode": "oauth.v2"}}}', 'application/json'],
  [
    'a report',
    '{"code": "900902", "type": "Status report", "message": "Error", "detail": "Missing"}',
    'application/json',
  ],
  ['an error of OAuth', '{"error": "invalid_token", "error_description": "expired"}', 'application/json'],
  [
    'a problem',
    '{"type": "about:blank", "title": "Forbidden", "detail": "No.", "code": "no"}',
    'application/problem+json',
  ],
  ['the code of the API and nothing else', '{"code": "authentication_failed"}', 'application/json'],
  ['an empty object', '{}', 'application/json'],
  ['a list', '[{"detail": "Not found."}]', 'application/json'],
  ['JSON that was cut', '{"detail": "Not fo', 'application/json'],
];

/** The code of an error of the API's; none: the object does not exist, which is null without an error. */
const own: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  402: 'FORBIDDEN',
  403: 'FORBIDDEN',
  429: 'RATE_LIMITED',
  451: 'FORBIDDEN',
};

describe.each([401, 402, 403, 404, 410, 429, 451])('A status %i', (status) => {
  test('with a body of another server is a failure of the upstream, and says nothing of key or object', async () => {
    let answer: Reply | undefined;
    const { gateway } = await startBoth(() => answer ?? project(1), {}, { hold: 0 });
    const code = status === 429 ? 'UPSTREAM_UNAVAILABLE' : 'UPSTREAM_INVALID_RESPONSE';
    for (const [name, body, type] of bodies) {
      answer = reply({ status, headers: { 'content-type': type }, ...(body !== undefined && { body }) });
      const failed = await gateway.ask(read);
      expect([name, codesOf(failed)]).toEqual([name, [`project ${code}`]]);
      expect(failed.errors?.[0]?.extensions['upstream']).toMatchObject({ status });
      expect(gateway.gateway.resources.reachability.state).toMatchObject({
        kind: 'failing',
        reason: 'NOT_THE_API',
      });
      // Neither is the key refused, nor does it pause.
      answer = undefined;
      expect((await gateway.ask(read)).data).toEqual({ project: { name: 'Project 1' } });
    }
  });

  test.each([
    { type: 'error', code: 'code', detail: 'Detail.', attr: null },
    { type: 'invalid_request', code: 'not_found', detail: '' },
  ])('with an error of the API keeps its meaning: %j', async (body) => {
    const { gateway } = await startBoth(() => reply({ status, body, headers: { 'content-type': 'text/html' } }));
    const answer = await gateway.ask(read);
    expect(codesOf(answer)).toEqual(own[status] === undefined ? [] : [`project ${own[status]}`]);
  });
});

test.each([401, 403, 429])(
  'at its start the gateway takes a JSON %i that is not of the API for what it is',
  async (status) => {
    // The scripted API answers the check of a start by itself.
    const server = createServer((_, response) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end('{"error": "No."}');
    });
    const url = `http://127.0.0.1:${await listen(server)}`;
    await using gateway = await startGateway({ url });
    expect(await checkUpstream(gateway.gateway.resources)).toMatch(/^NOT_THE_API: /);
    server.close();
    server.closeAllConnections();
  },
);

test('a 429 of a proxy is tried again once after its Retry-After, and pauses nothing', async () => {
  const limited = reply({ status: 429, headers: { 'retry-after': '1' }, body: 'slow down' });
  const answers = [limited, limited, project(1)];
  const { upstream, gateway } = await startBoth(() => answers.shift() ?? project(1));
  const answer = await gateway.ask(read);
  expect(codesOf(answer)).toEqual(['project UPSTREAM_UNAVAILABLE']);
  expect(answer.errors?.[0]?.extensions['upstream']).toEqual({ status: 429, retryAfter: 1 });
  expect(upstream.requests).toHaveLength(2);
  expect(codesOf(await gateway.ask(read))).toEqual([]);
});

test.each(['{}', '{"error": "No."}', '{"message": "no Route matched"}', '{"status": "ok"}'])(
  'JSON of another server with status 200 is no row: %s',
  async (body) => {
    const { gateway } = await startBoth(() => reply({ body }));
    expect(codesOf(await gateway.ask(read))).toEqual(['project UPSTREAM_INVALID_RESPONSE']);
    expect(codesOf(await gateway.ask('{ project(id: 1) { dashboard(id: 2) { name } } }'))).toEqual([
      'project.dashboard UPSTREAM_INVALID_RESPONSE',
    ]);
  },
);

test('a page with status 404 ends no use of what is cached', async () => {
  let isBroken = false;
  const page = reply({ status: 404, headers: { 'content-type': 'text/html' }, body: '<html>404</html>' });
  const { upstream, gateway } = await startBothCaching({
    'GET /api/projects/1/': project(1),
    'GET /api/projects/1/dashboards/': (request) => (isBroken ? page : listOf([])(request)),
  });
  await gateway.ask(read);
  isBroken = true;
  expect(codesOf(await gateway.ask('{ project(id: 1) { name dashboards { totalCount } } }'))).toEqual([
    'project.dashboards UPSTREAM_INVALID_RESPONSE',
  ]);
  upstream.reset();
  expect(codesOf(await gateway.ask(read))).toEqual([]);
  expect(upstream.requests).toEqual([]);
});
