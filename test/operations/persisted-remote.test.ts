import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { SecureContextOptions } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { followRemoteManifests } from '../../src/operation/persisted/remote-manifests.ts';
import { startGateway } from '../support/gateway.ts';
import { listen } from '../support/listen.ts';
import { createFolder, outcomeOf, send } from '../support/persisted.ts';
import { runMain } from '../support/process.ts';
import { authority, serverTls, tlsPaths } from '../support/tls.ts';
import { until } from '../support/until.ts';

interface ManifestServer extends AsyncDisposable {
  readonly url: string;
  /** The answer that it gives from now on. */
  answer: { status?: number; text?: string; etag?: string; headers?: Readonly<Record<string, string>> };
  /** `If-None-Match` and `Authorization` of each request. */
  readonly asked: readonly (readonly [string | undefined, string | undefined])[];
}

async function startManifests(content: unknown, tls?: SecureContextOptions): Promise<ManifestServer> {
  const asked: [string | undefined, string | undefined][] = [];
  const answer: RequestListener = (request, response) => {
    const { status = 200, text = '', etag, headers } = started.answer;
    asked.push([request.headers['if-none-match'], request.headers.authorization]);
    const known = etag !== undefined && request.headers['if-none-match'] === etag;
    response.writeHead(known ? 304 : status, { ...(etag !== undefined && { etag }), ...headers });
    response.end(known ? undefined : text);
  };
  const server = tls === undefined ? createServer(answer) : createSecureServer(tls, answer);
  const port = await listen(server);
  const started: ManifestServer = {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}/manifest.json?key=secret`,
    answer: { text: JSON.stringify(content), etag: '"1"' },
    asked,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return started;
}

const unknown = [404, 'PERSISTED_DOCUMENT_NOT_FOUND'];
const long = 'x'.repeat(100_000);
const [a, b] = ['a', 'b'].map((id) => ({ [id]: `{ ${id}: __typename }` }));

describe('A manifest of a server', () => {
  test('is asked for again with its ETag and the token, and a new one is served', async () => {
    await using server = await startManifests(a);
    const lines: string[] = [];
    const log = (level: string, message: string): void => void lines.push(`${level}: ${message}`);
    const manifests = await followRemoteManifests({
      urls: [server.url],
      token: () => 't',
      route: () => ({}),
      log,
      pollMs: 20,
    });
    await using gateway = await startGateway(
      { url: 'http://127.0.0.1:1' },
      { persisted: { files: server.url }, manifests, log },
    );
    const ask = async (id: string): Promise<unknown> => outcomeOf(await send(gateway.url, { id }));
    expect(await ask('a')).toEqual([200, { a: 'Query' }]);
    await until(() => server.asked.length > 2);
    expect(server.asked.slice(0, 3)).toEqual([
      [undefined, 'Bearer t'],
      ['"1"', 'Bearer t'],
      ['"1"', 'Bearer t'],
    ]);
    server.answer = { text: JSON.stringify(b), etag: '"2"' };
    await until(() => lines.some((line) => line.includes('read again')));
    expect([await ask('a'), await ask('b')]).toEqual([unknown, [200, { b: 'Query' }]]);
    manifests.close();
    expect(lines.filter((line) => line.startsWith('error'))).toEqual([]);
  });

  test.each([
    ['an error', { status: 500, text: 'secret' }, 'expected status 200, but got 500'],
    [
      'a redirect',
      { status: 302, headers: { location: '/other' } },
      'it redirects (status 302), which is not followed',
    ],
    ['other JSON', { text: '[1]', etag: '"3"' }, 'expected [0] to be a pair of an id and a text'],
    ['a page', { text: '<html>secret</html>' }, 'it is not JSON'],
    ['a long format', { text: JSON.stringify({ format: long }) }, 'expected format "apollo-persisted-query-manifest"'],
    ['a long id', { text: JSON.stringify({ [long]: 1 }) }, 'to be a text, or an object with a `source`'],
    ['more than 10 MB', { text: ' '.repeat(11 * 2 ** 20) }, 'too large'],
  ])('that turns into %s changes nothing, and is logged once', async (_, answer, reason) => {
    await using server = await startManifests(a);
    const lines: string[] = [];
    const log = (_level: string, message: string): void => void lines.push(message);
    const remote = await followRemoteManifests({
      urls: [server.url],
      token: () => undefined,
      route: () => ({}),
      log,
      pollMs: 20,
    });
    const before = server.asked.length;
    server.answer = answer;
    await until(() => server.asked.length > before + 4);
    expect(remote.current()).toEqual([{ file: server.url.replace('?key=secret', ''), text: JSON.stringify(a) }]);
    expect(lines).toEqual([expect.stringContaining(reason)]);
    expect(lines[0]).toContain(server.url.replace('?key=secret', ''));
    expect(lines[0]).not.toContain('secret');
    expect(lines[0]?.length).toBeLessThan(500);
    server.answer = { text: JSON.stringify(b), etag: '"4"' };
    await until(() => remote.current()[0]?.text.includes('"b"') === true);
    remote.close();
    expect(lines).toHaveLength(1);
  });

  test.each([
    ['that is not valid', [['id', `{ ${long} }`]]],
    ['with a long id', [[long, '{ nothing }']]],
    [
      'with two texts',
      [
        ['id', '{ __typename }'],
        ['id', '{ a: __typename }'],
      ],
    ],
    [
      'with two texts of a long id',
      [
        [long, '{ __typename }'],
        [long, '{ a: __typename }'],
      ],
    ],
  ])('is told of in short lines: a document %s', async (_, pairs) => {
    await using server = await startManifests(pairs);
    const options = { token: () => undefined, route: () => ({}), log: () => undefined };
    const manifests = await followRemoteManifests({ urls: [server.url], ...options });
    const lines: string[] = [];
    const log = (_level: string, message: string): void => void lines.push(message);
    const files = server.url;
    await startGateway({ url: 'http://127.0.0.1:1' }, { persisted: { files }, manifests, log }).then(
      (gateway) => gateway[Symbol.asyncDispose](),
      (error: unknown) => lines.push(String(error)),
    );
    manifests.close();
    expect(lines.filter((line) => /not valid|two different/.test(line))).toHaveLength(1);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(2000);
  });

  test('that fails twice at the start is asked a third time', async () => {
    await using server = await startManifests(a);
    const { answer } = server;
    server.answer = { status: 503 };
    const starting = followRemoteManifests({
      urls: [server.url],
      token: () => undefined,
      route: () => ({}),
      log: () => undefined,
    });
    await until(() => server.asked.length === 2);
    server.answer = answer;
    const remote = await starting;
    expect([remote.current().length, server.asked.length]).toEqual([1, 3]);
    remote.close();
  });
});

describe('The gateway', () => {
  const settings = { PORT: '0', WORKSPACE_PORT: '0', LOG_LEVEL: 'warn', STOP_DELAY_MS: '0' };

  test.each(['1', '2'])('serves manifests of a server, a file and a glob together: WORKERS=%s', async (WORKERS) => {
    await using server = await startManifests(a);
    using folder = createFolder();
    const files = [server.url, folder.write('b.json', b), `${folder.path}/{c,d}.json`];
    folder.write('c.json', { c: '{ c: __typename }' });
    const token = folder.write('token', 'a token\n');
    const documents = { PERSISTED_DOCUMENTS: files.join(', '), PERSISTED_DOCUMENTS_TOKEN_FILE: token };
    await using gateway = runMain([], { ...settings, ...documents, PERSISTED_DOCUMENTS_MODE: 'only', WORKERS });
    const [, url = ''] = await gateway.printed(/^Gateway +(\S+)/m);
    for (const id of ['a', 'b', 'c', 'a']) {
      expect(outcomeOf(await send(url, { id }))).toEqual([200, { [id]: 'Query' }]);
    }
    // The first process alone asks.
    expect(server.asked).toEqual([[undefined, 'Bearer a token']]);
    expect(outcomeOf(await send(url, { query: '{ __schema { description } }' }))[0]).toBe(403);
    server.answer = { text: JSON.stringify({ ...a, e: '{ e: __typename }' }), etag: '"2"' };
    folder.write('c.json', { f: '{ f: __typename }' });
    gateway.child.kill('SIGHUP');
    for (let times = 0; times < 6; times += 1) await until(async () => (await send(url, { id: 'e' })).status === 200);
    for (const id of ['f', 'f']) expect(outcomeOf(await send(url, { id }))).toEqual([200, { [id]: 'Query' }]);
    expect(outcomeOf(await send(url, { id: 'c' }))).toEqual(unknown);
    expect(server.asked).toHaveLength(2);
    expect(gateway.output()).not.toContain('secret');
    gateway.child.kill('SIGTERM');
    expect(await gateway.exit()).toBe(0);
  });

  test.each(['1', '2'])('trusts the authorities that UPSTREAM_CA holds by then: WORKERS=%s', async (WORKERS) => {
    await using server = await startManifests(a, serverTls);
    using folder = createFolder();
    const UPSTREAM_CA = folder.write('ca.pem', authority);
    const urls = { UPSTREAM_URL: 'https://127.0.0.1:1', PERSISTED_DOCUMENTS: server.url };
    await using gateway = runMain([], { ...settings, ...urls, UPSTREAM_CA, WORKERS });
    const [, url = ''] = await gateway.printed(/^Gateway +(\S+)/m);
    server.answer = { text: JSON.stringify({ ...a, ...b }), etag: '"2"' };
    folder.write('ca.pem', readFileSync(tlsPaths.otherName, 'utf8'));
    gateway.child.kill('SIGHUP');
    await gateway.printed(/persisted documents stay as they were: .* signed by an unknown authority/);
    folder.write('ca.pem', authority);
    gateway.child.kill('SIGHUP');
    for (let times = 0; times < 4; times += 1) {
      await until(async () => (await send(url, { id: 'b' })).status === 200);
    }
    expect(outcomeOf(await send(url, { id: 'b' }))).toEqual([200, { b: 'Query' }]);
  });

  test.each([
    [
      'http://127.0.0.1:1/manifest.json?key=secret',
      /^error: http:\/\/127\.0\.0\.1:1\/manifest\.json: expected a manifest, but .*\n$/,
    ],
    [
      '/nowhere/m.json',
      /^error: PERSISTED_DOCUMENTS: \/nowhere\/m\.json: expected a file, a folder or a glob, but there is no such file, and as a glob it matches none\n$/,
    ],
  ])('does not start without %s, and names it in one line', async (PERSISTED_DOCUMENTS, told) => {
    await using gateway = runMain([], { ...settings, PERSISTED_DOCUMENTS });
    expect(await gateway.exit()).toBe(2);
    expect(gateway.output()).toMatch(told);
  });
});
