import { expect, test } from 'vitest';
import { startWorkspace } from '../../workspace/workspace.ts';
import { blocksOf, textOf } from '../support/documentation.ts';
import { freePort } from '../support/free-port.ts';
import { createFolder } from '../support/persisted.ts';
import { runMain, runShell } from '../support/process.ts';
import { createSigningKey, issuer, signToken } from '../support/tokens.ts';

const page = 'docs/recipes.md';

test.each([
  'examples/tenants/provider.js',
  'examples/apollo/src/ProjectFacts.tsx',
  'examples/apollo/src/LatestEvents.tsx',
])('the page of recipes shows %s, or parts of it, as they are', (file) => {
  const whole = textOf(file);
  const shown = blocksOf(page).filter(({ text }) => {
    let end = 0;
    return text.split('// …\n').every((part) => {
      const at = whole.indexOf(part, end);
      end = at + part.length;
      return at !== -1;
    });
  });
  expect(shown).toHaveLength(1);
});

test('a provider of 20 lines or so signs a user in, whose tenant reaches its projects', async () => {
  const [provide = '', serve = '', query = ''] = blocksOf(page)
    .filter(({ mark }) => mark !== undefined)
    .map(({ text }) => text);
  const [providerPort, port] = [`${await freePort()}`, `${await freePort()}`];
  const here = (lines: string): string =>
    lines.replaceAll('127.0.0.1:4444', `127.0.0.1:${providerPort}`).replaceAll('127.0.0.1:4000', `127.0.0.1:${port}`);
  await using provider = runShell(here(provide), { PORT: providerPort }, '.');
  await provider.printed(/^Provider +http/m);
  await using gateway = runShell(here(serve), { PORT: port, WORKSPACE_PORT: '0' }, '.');
  await gateway.printed(/^Gateway +http/m);
  const answerTo = async (lines: string): Promise<unknown> => {
    await using asking = runShell(here(lines), {}, '.');
    await asking.exit();
    const answer: unknown = JSON.parse(asking.output());
    return answer;
  };
  expect(await answerTo(query)).toMatchObject({ data: { project: { name: 'iOS app', dashboards: {} } } });
  expect(await answerTo(query.replace('"id": "2"', '"id": "3"'))).toEqual({ data: { project: null } });
  expect(textOf(page)).toContain('With `"id": "3"` the answer is `{"data":{"project":null}}`');
}, 60_000);

test('a gateway starts in production with the settings to copy, and answers those who are signed in', async () => {
  await using started = new AsyncDisposableStack();
  const workspace = await startWorkspace({ port: 0, host: '127.0.0.1', latencyMs: 0, errorRate: 0 });
  started.defer(() => workspace.close());
  using folder = createFolder();
  const key = await createSigningKey('1');
  const values = [
    workspace.url,
    'https://app.example.com',
    folder.write('jwks.json', { keys: [key.jwk] }),
    issuer,
    'gateway',
    folder.write('keys.json', { acme: { key: workspace.demoKey } }),
    'a secret of the test that nobody guesses',
    folder.write('manifest.json', { read: 'query Read { project(id: 1) { name } }' }),
  ];
  const metricsPort = await freePort();
  const copied = textOf('examples/production.env')
    .replaceAll(/=<[^>]+>/g, () => `=${values.shift()}`)
    .replace('HOST=0.0.0.0', 'HOST=127.0.0.1')
    .replace('PORT=4000', 'PORT=0')
    .replace('METRICS_PORT=9464', `METRICS_PORT=${metricsPort}`);
  expect([values, copied.match(/<[^>]*>/g)]).toEqual([[], ['< and >']]);
  const check = async (text: string): Promise<readonly [number | null, string]> => {
    folder.write('.env', text);
    await using checking = runMain(['--check'], {}, `${folder.path}/`);
    return [await checking.exit(), checking.output()];
  };
  const [code, told] = await check(textOf('examples/production.env'));
  expect(code).toBe(1);
  const wrong = ['UPSTREAM_URL', 'CORS_ORIGINS', 'JWT_JWKS', 'UPSTREAM_KEYS', 'PERSISTED_DOCUMENTS'];
  expect([...told.matchAll(/^error: (\w+):/gm)].map(([, name]) => name)).toEqual(wrong);
  expect((await check(copied))[0]).toBe(0);
  await using gateway = runMain([], {}, `${folder.path}/`);
  const [, url = ''] = await gateway.printed(/"gateway":"([^"]+)"/);
  const headers = { authorization: `Bearer ${await signToken(key, 'acme')}` };
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ documentId: 'read' }),
  });
  expect(await response.json()).toEqual({ data: { project: { name: 'Booking website' } } });
  expect(response.headers.get('ratelimit')).toBe('"rest-60s";r=479;t=60');
  expect(gateway.output()).not.toMatch(/"level":[4-6]0/);
  expect((await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).status).toBe(200);
});
