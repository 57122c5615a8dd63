import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { runScript, runShell } from '../support/process.ts';

const folder = new URL('../../examples/web/', import.meta.url);

test('the page with Apollo Client is built', async () => {
  await using building = runScript('examples/apollo/', 'build');
  expect(await building.exit()).toBe(0);
  expect(building.output()).toContain('built in');
}, 60_000);

test('the bundle of the example page has the ids of its documents, nothing of their texts, and neither key nor token', async () => {
  await using building = runScript('examples/web/', 'build', { API_KEY: 'phx_of_the_dev_server' });
  await building.exit();
  expect(building.output()).toContain('built in');
  const files = await Array.fromAsync(glob('dist/assets/*.js', { cwd: folder }));
  const bundle = files.map((file) => readFileSync(new URL(file, folder), 'utf8')).join('');
  const manifest: unknown = JSON.parse(readFileSync(new URL('src/generated/persisted-documents.json', folder), 'utf8'));
  const ids = Object.keys(manifest ?? {});
  expect(ids).toHaveLength(6);
  for (const id of ids) expect(bundle).toContain(id);
  const all = await Array.fromAsync(glob('dist/**/*.*', { cwd: folder }));
  expect(all.length).toBeGreaterThan(files.length);
  const served = all.map((file) => readFileSync(new URL(file, folder), 'utf8')).join('');
  expect(served).not.toMatch(/phx_|Bearer|authorization|\beyJ/i);
  expect(bundle).not.toMatch(
    /(?:query|mutation|fragment|subscription) (?:PinDashboard|Projects|ProjectLink|Dashboards|Dashboard(?:Card|Details)|Events|EventRow|EventsAdded)\b/,
  );
}, 60_000);

test('users of the example page stay signed in when its gateway is started again', async () => {
  const keys = async (): Promise<readonly string[]> => {
    await using making = runShell('node dev/keys.ts', {}, 'examples/web/');
    expect([await making.exit(), making.output()]).toEqual([0, '']);
    return ['private.json', 'public.json'].map((name) => readFileSync(new URL(`dev/keys/${name}`, folder), 'utf8'));
  };
  const first = await keys();
  expect(await keys()).toEqual(first);
  expect(first[1]).not.toContain('"d"');
});
