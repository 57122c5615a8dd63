import { execFile } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { objectOf, parseObject } from '../../workspace/json.ts';
import { readGraphiql } from '../support/graphiql.ts';
import { createFolder } from '../support/persisted.ts';
import { runProgram } from '../support/process.ts';
import { sendForBytes } from '../support/raw-http.ts';

const root = join(import.meta.dirname, '../..');
const folder = createFolder();
const copy = join(folder.path, 'repository');
const empty = join(folder.path, 'empty');
const unpacked = join(folder.path, 'unpacked');
const freePorts = { PORT: '0', WORKSPACE_PORT: '0' };
let tarball = '';

const run = async (where: string, command: string, ...args: string[]): Promise<string> =>
  (await promisify(execFile)(command, args, { cwd: where })).stdout;

const textOf = (...path: string[]): string => readFileSync(join(...path), 'utf8');

// In a copy: while npm packs, package.json is that of the package, which other tests would read.
beforeAll(async () => {
  const listed = await run(root, 'git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard');
  const files = listed
    .split('\0')
    .filter((path) => /^(?:src|schema|workspace|tools)\/|^[^/]+\.(?:json|md)$|^LICENSE$/.test(path));
  for (const file of files.filter((path) => existsSync(join(root, path)))) {
    mkdirSync(join(copy, dirname(file)), { recursive: true });
    cpSync(join(root, file), join(copy, file));
  }
  mkdirSync(join(copy, 'node_modules'));
  for (const name of readdirSync(join(root, 'node_modules'))) {
    const target = name === 'embedded-workspace' ? join(copy, 'workspace') : join(root, 'node_modules', name);
    symlinkSync(target, join(copy, 'node_modules', name));
  }
  const printed = await run(copy, 'npm', 'pack', '--silent');
  tarball = join(copy, printed.trim());
  for (const path of [empty, unpacked]) mkdirSync(path);
  folder.write('empty/package.json', { private: true });
  // The packages of the repository are in npm's cache.
  const quietly = ['--omit=optional', '--no-audit', '--no-fund', '--prefer-offline'];
  await run(unpacked, 'tar', 'xzf', tarball, '--strip-components=1');
  await Promise.all([
    run(empty, 'npm', 'install', ...quietly, tarball),
    run(unpacked, 'npm', 'ci', '--ignore-scripts', ...quietly),
  ]);
}, 300_000);

afterAll(() => folder[Symbol.dispose]());

test('npm pack leaves the repository as it was', () => {
  expect(textOf(copy, 'package.json')).toBe(textOf(root, 'package.json'));
  expect(globSync('{npm-shrinkwrap,package.repository}.json', { cwd: copy })).toEqual([]);
});

test('the package holds JavaScript, the schema and the pages, and neither TypeScript nor tests', async () => {
  const files = (await run(copy, 'tar', 'tzf', tarball)).trim().split('\n');
  expect(files).toEqual(
    expect.arrayContaining(['package/LICENSE', 'package/dist/src/main.js', 'package/dist/schema/base.graphql']),
  );
  expect(files.filter((file) => /\.ts$|\/test\//.test(file))).toEqual([]);
});

test.each([
  ['alone', {}],
  ['with workers', { WORKERS: '2' }],
])(
  'installed into an empty folder it answers a query of its embedded workspace, %s, and serves GraphiQL',
  async (_, environment) => {
    const program = ['node_modules/.bin/workspace-gateway'];
    await using gateway = runProgram(empty, [process.execPath, ...program], { ...freePorts, ...environment });
    const [, url = ''] = await gateway.printed(/^Gateway +(\S+)/m);
    const [, key = ''] = await gateway.printed(/^Demo key +(\S+)/m);
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ query: '{ project(id: "1") { name } }' }),
    });
    expect(await answer.text()).toMatch(/^\{"data":\{"project":\{"name":"[^"]+"\}\}\}$/);
    const { script } = await readGraphiql(url);
    // With workers, another one than that of the page may answer.
    const scripts = await Promise.all(
      Array.from({ length: 4 }, () => sendForBytes(url, { method: 'GET', path: script })),
    );
    expect(scripts.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const metrics = await (await fetch(new URL('/metrics', url))).text();
    expect(metrics).toMatch(/^gateway_build_info\{version="0\.1\.0"/m);
    expect(textOf(root, 'package.json')).toContain('"version": "0.1.0"');
  },
);

test('its commands run there', async () => {
  const sdl = await run(empty, process.execPath, 'node_modules/.bin/workspace-gateway', 'schema');
  expect(sdl).toBe(textOf(root, 'schema.graphql'));
});

test('npm ci in the unpacked package installs the versions that were tested', () => {
  const installed = versionsIn(textOf(unpacked, 'node_modules/.package-lock.json'));
  const locked = versionsIn(textOf(root, 'package-lock.json'));
  expect(installed.size).toBeGreaterThan(100);
  expect([...installed].filter(([path, version]) => locked.get(path) !== version)).toEqual([]);
  expect([...installed.keys()].filter((path) => /vitest|typescript|embedded-workspace/.test(path))).toEqual([]);
});

/** The version of each package in a lock, by where it is installed. */
function versionsIn(lock: string): ReadonlyMap<string, unknown> {
  const packages = Object.entries(objectOf(parseObject(lock)['packages']));
  return new Map(packages.map(([path, found]) => [path, objectOf(found)['version']]));
}
