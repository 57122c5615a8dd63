import { createHash } from 'node:crypto';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { startBoth } from '../support/both.ts';
import { readGraphiql } from '../support/graphiql.ts';
import { createFolder } from '../support/persisted.ts';
import { type BinaryResponse, sendForBytes } from '../support/raw-http.ts';
import { project } from '../support/rows.ts';
import { startSmallGateway } from '../support/small-gateway.ts';
import { startTenants } from '../support/tenants.ts';

const lasting = 'public, max-age=31536000, immutable';
const unknown = `/graphql?graphiql=${'a'.repeat(43)}`;

function get(url: string, path: string, headers: readonly string[] = [], method = 'GET'): Promise<BinaryResponse> {
  return sendForBytes(url, { method, path, headers });
}

test("GraphiQL's page is small, and its script and icon are kept by browsers under addresses that name their content", async () => {
  const { gateway } = await startBoth({});
  const page = await readGraphiql(gateway.url);
  expect(page.html.length).toBeLessThan(60_000);
  const script = await get(gateway.url, page.script);
  expect([script.status, script.headers]).toMatchObject([
    200,
    {
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': lasting,
      'x-content-type-options': 'nosniff',
    },
  ]);
  expect(script.body.length).toBeGreaterThan(8_000_000);
  const sha256 = createHash('sha256').update(script.body).digest();
  expect(page.integrity).toBe(`sha256-${sha256.toString('base64')}`);
  expect(page.script).toBe(`/graphql?graphiql=${sha256.toString('base64url')}`);
  const icon = await get(gateway.url, page.icon);
  expect([icon.status, icon.headers]).toMatchObject([
    200,
    { 'content-type': 'image/x-icon', 'cache-control': lasting },
  ]);
  expect(gateway.reported).toEqual([]);
});

test("GraphiQL's page may run only the scripts that it has, each by its hash", async () => {
  const { gateway } = await startBoth({});
  const { html, policy, integrity } = await readGraphiql(gateway.url);
  const inline = [...html.matchAll(/<script>([^]*?)<\/script>/g)].map(([, text = '']) =>
    createHash('sha256').update(text).digest('base64'),
  );
  expect(inline.length).toBeGreaterThan(3);
  const directives = policy.split('; ');
  const scripts = directives.find((directive) => directive.startsWith('script-src '))?.split(' ') ?? [];
  expect(scripts.toSorted()).toEqual(
    ['script-src', `'${integrity}'`, ...inline.map((hash) => `'sha256-${hash}'`)].toSorted(),
  );
  expect(directives.filter((directive) => !directive.startsWith('script-src '))).toEqual([
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    'worker-src blob:',
    "connect-src 'self'",
    "img-src 'self' data:",
    'font-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]);
});

test.each([
  ['br', brotliDecompressSync],
  ['gzip', gunzipSync],
])("GraphiQL's script is compressed in %s, and HEAD answers the same as GET", async (coding, decode) => {
  const { gateway } = await startBoth({});
  const { script, integrity } = await readGraphiql(gateway.url);
  const headers = ['accept-encoding', coding];
  const got = await get(gateway.url, script, headers);
  expect(got.headers['content-encoding']).toBe(coding);
  expect(got.body.length).toBeLessThan(2_700_000);
  expect(`sha256-${createHash('sha256').update(decode(got.body)).digest('base64')}`).toBe(integrity);
  const head = await get(gateway.url, script, headers, 'HEAD');
  expect([head.status, head.body.length]).toEqual([200, 0]);
  expect({ ...head.headers, date: '', connection: '' }).toEqual({ ...got.headers, date: '', connection: '' });
});

test('a script of GraphiQL that this version does not have is not found, and the answer is not kept', async () => {
  const { gateway } = await startBoth({});
  const { script } = await readGraphiql(gateway.url);
  for (const path of [unknown, script.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))]) {
    for (const method of ['GET', 'HEAD']) {
      const answer = await get(gateway.url, path, ['accept', '*/*'], method);
      expect([answer.status, answer.headers['cache-control']]).toEqual([404, 'no-store']);
      expect(answer.body.length).toBeLessThan(100);
    }
  }
});

test('what GraphiQL asks for is found as the first thing that is asked, at /graphql/ as well, and without a token', async () => {
  await using first = await startTenants({ url: 'http://127.0.0.1:1' }, {});
  const { script } = await readGraphiql(first.url);
  await using other = await startTenants({ url: 'http://127.0.0.1:1' }, {});
  const answer = await get(other.url, script.replace('/graphql?', '/graphql/?'));
  expect([answer.status, answer.headers['content-type']]).toEqual([200, 'text/javascript; charset=utf-8']);
});

test('with COMPRESSION=off GraphiQL goes as it is', async () => {
  const { gateway } = await startBoth({}, { compression: false });
  const { script } = await readGraphiql(gateway.url);
  const answer = await get(gateway.url, script, ['accept-encoding', 'br, gzip']);
  expect(answer.headers).not.toHaveProperty('content-encoding');
  expect(answer.headers['vary']).toBe('Authorization, Accept');
  expect(answer.body.length).toBeGreaterThan(8_000_000);
});

test('operations at an address of GraphiQL are operations, and with GRAPHIQL=off nothing else is there', async () => {
  const routes = { 'GET /api/projects/1/': project(1) };
  const { gateway } = await startBoth(routes);
  const { script } = await readGraphiql(gateway.url);
  const { gateway: without } = await startBoth(routes, { graphiql: false });
  const query = '{ project(id: 1) { name } }';
  const whole = '{"data":{"project":{"name":"Project 1"}}}';
  for (const { url } of [gateway, without]) {
    const headers = ['authorization', 'Bearer phx_test', 'content-type', 'application/json'];
    const posted = await sendForBytes(url, { path: script, headers, body: JSON.stringify({ query }) });
    expect(posted.body.toString()).toBe(whole);
    const got = await get(url, `${script}&query=${encodeURIComponent(query)}`, headers);
    expect(got.body.toString()).toBe(whole);
  }
  expect((await get(without.url, script, ['accept', '*/*'])).status).toBe(400);
});

test('of GraphiQL, the memory of a gateway keeps what it sends and nothing else', async () => {
  await using gateway = await startSmallGateway({ url: 'http://127.0.0.1:1' });
  const accept = ['accept-encoding', 'br'];
  await get(gateway.url, '/graphql?query={__typename}');
  const before = await gateway.weigh();
  const { script } = await readGraphiql(gateway.url);
  const sizes = await Promise.all(
    [[], accept].map(async (headers) => (await get(gateway.url, script, headers)).body.length),
  );
  const sent = sizes.reduce((sum, size) => sum + size, 0);
  const { live } = await gateway.weigh();
  expect(live - before.live).toBeLessThan(sent + 5_000_000);
});

test("if the thread that reads GraphiQL's script ends without it, the page fails, and does not wait for ever", async () => {
  using folder = createFolder();
  const preloaded = folder.write('end.cjs', "if (!require('node:worker_threads').isMainThread) process.exit();");
  const options = `--require=${preloaded}`;
  await using gateway = await startSmallGateway({ url: 'http://127.0.0.1:1' }, { NODE_OPTIONS: options });
  expect((await get(gateway.url, '/graphql', ['accept', 'text/html'])).status).toBe(500);
});
