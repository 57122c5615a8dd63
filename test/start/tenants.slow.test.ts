import { renameSync } from 'node:fs';
import { expect, test } from 'vitest';
import { pause } from '../support/load.ts';
import { createFolder, type Folder } from '../support/persisted.ts';
import { runMain } from '../support/process.ts';
import { project } from '../support/rows.ts';
import { audience, createSigningKey, issuer, type SigningKey, signToken } from '../support/tokens.ts';
import { startUpstream } from '../support/upstream.ts';

const document = 'query Read { project(id: 1) { name } }';

/** The settings of a gateway that holds keys, and the files that they name. */
function settingsIn(folder: Folder, key: SigningKey, upstreamUrl: string): Readonly<Record<string, string>> {
  return {
    PORT: '0',
    UPSTREAM_URL: upstreamUrl,
    AUTH: 'jwt',
    JWT_JWKS: folder.write('jwks.json', { keys: [key.jwk] }),
    JWT_ISSUER: issuer,
    JWT_AUDIENCE: audience,
    JWT_ROLES_CLAIM: 'roles',
    UPSTREAM_KEYS: folder.write('keys.json', { acme: { key: 'phx_first' } }),
    CURSOR_SECRET: '0123456789abcdef',
    PERSISTED_DOCUMENTS: folder.write('manifest.json', { read: document }),
  };
}

function replace(folder: Folder, name: string, content: unknown): void {
  renameSync(folder.write(`${name}.new`, content), `${folder.path}/${name}`);
}

test('A start is refused with exit code 2 and one line with a role that names a document that no manifest has', async () => {
  using folder = createFolder();
  const settings = settingsIn(folder, await createSigningKey('1'), 'http://127.0.0.1:1');
  folder.write('keys.json', { acme: { key: 'phx_first', roles: { agent: { documents: ['Missing'] } } } });
  const message =
    'UPSTREAM_KEYS: expected Missing in the role "agent" of "acme" to be an operation of a listed document, but there is none';
  await using running = runMain([], settings);
  await using checked = runMain(['--check'], settings);
  expect([await running.exit(), running.output()]).toEqual([2, expect.stringMatching(/^error: [^\n]+\n$/)]);
  expect(running.output()).toContain(message);
  expect([await checked.exit(), checked.output()]).toEqual([1, expect.stringContaining(message)]);
});

test.concurrent.each(['1', '2'])(
  '%s workers take another key without a refused request; a bad file changes nothing',
  {
    timeout: 60_000,
  },
  async (workers) => {
    using folder = createFolder();
    const key = await createSigningKey('1');
    await using upstream = await startUpstream({ 'GET /api/projects/1/': project(1) }, { hold: 1 });
    await using running = runMain([], { ...settingsIn(folder, key, upstream.url), WORKERS: workers });
    const [, url = ''] = await running.printed(/^Gateway +(\S+)/m);
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${await signToken(key, 'acme')}` };
    const body = JSON.stringify({ documentId: 'read', variables: {} });
    // A connection each, so that every worker gets some.
    const ask = async (): Promise<string> =>
      (await fetch(url, { method: 'POST', headers: { ...headers, connection: 'close' }, body })).text();
    const answers = new Set<string>();
    const askUntil = async (done: () => boolean): Promise<void> => {
      for (let tries = 0; tries < 500 && !done(); tries += 1) {
        for (const answer of await Promise.all([ask(), ask(), ask(), ask()])) answers.add(answer);
        await pause(10);
      }
      expect(done()).toBe(true);
    };
    const latestKeys = (): readonly unknown[] =>
      upstream.records.slice(-20).map(({ headers: sent }) => sent.authorization);
    await askUntil(() => latestKeys().length === 20);
    replace(folder, 'keys.json', { acme: { key: 'phx_second' } });
    await askUntil(() => latestKeys().every((sent) => sent === 'Bearer phx_second'));
    replace(folder, 'keys.json', '{');
    running.child.kill('SIGHUP');
    await running.printed(/upstream keys stay as they were/);
    const metrics = await (await fetch(new URL('/metrics', url))).text();
    expect(metrics).toMatch(/^gateway_reloads_total\{what="tenants",result="ok"\} [1-9]/m);
    expect(metrics).toMatch(/^gateway_reloads_total\{what="tenants",result="failed"\} [1-9]/m);
    expect(metrics).toMatch(/^gateway_reloads_total\{what="keys",result="ok"\} [1-9]/m);
    await askUntil(() => latestKeys().every((sent) => sent === 'Bearer phx_second'));
    expect([...answers]).toEqual(['{"data":{"project":{"name":"Project 1"}}}']);
    expect(running.output()).not.toMatch(/phx_|eyJ/);
  },
);

test.concurrent.for(['1', '2'])(
  '%s workers take other roles; those that name what no manifest has change nothing, also for a worker that starts later',
  { timeout: 60_000 },
  async (workers, context) => {
    using folder = createFolder();
    const key = await createSigningKey('1');
    await using upstream = await startUpstream({ 'GET /api/projects/1/': project(1) }, { hold: 1 });
    const settings = settingsIn(folder, key, upstream.url);
    const entryWith = (roles: object): object => ({ acme: { key: 'phx_first', roles } });
    replace(folder, 'keys.json', entryWith({ agent: { documents: ['Read'] } }));
    await using running = runMain([], { ...settings, WORKERS: workers });
    const [, url = ''] = await running.printed(/^Gateway +(\S+)/m);
    const token = await signToken(key, 'acme', { claims: { roles: ['agent'] } });
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}`, connection: 'close' };
    const body = JSON.stringify({ documentId: 'read' });
    const statuses = async (): Promise<readonly number[]> =>
      Promise.all(Array.from({ length: 8 }, async () => (await fetch(url, { method: 'POST', headers, body })).status));
    expect(new Set(await statuses())).toEqual(new Set([200]));
    replace(folder, 'keys.json', entryWith({ agent: { documents: ['Missing'] } }));
    await running.printed(/upstream keys stay as they were: UPSTREAM_KEYS: expected Missing in the role/);
    expect(new Set(await statuses())).toEqual(new Set([200]));
    replace(folder, 'keys.json', entryWith({ viewer: {} }));
    await context.expect.poll(async () => new Set(await statuses()), { timeout: 20_000 }).toEqual(new Set([403]));
    // A document may go once no role names it. A worker that starts later gets the present entries.
    replace(folder, 'manifest.json', { other: 'query Other { project(id: 1) { id } }' });
    await running.printed(/persisted documents were read again/);
    if (workers === '1') return;
    const pid = Number(/"pid":(\d+).*"msg":"operation"/.exec(running.output())?.[1]);
    expect(pid).toBeGreaterThan(1);
    process.kill(pid, 'SIGKILL');
    const metrics = async (): Promise<string> => (await fetch(new URL('/metrics', url))).text().catch(() => '');
    await context.expect.poll(metrics, { timeout: 20_000 }).toMatch(/^gateway_worker_restarts_total 1$/m);
    await context.expect.poll(metrics, { timeout: 20_000 }).toMatch(/^gateway_workers 2$/m);
    expect(new Set(await statuses())).toEqual(new Set([403]));
  },
);
