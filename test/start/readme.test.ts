import { execFile } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { settings } from '../../src/settings/config.ts';
import { startGateway } from '../support/gateway.ts';
import { runMain } from '../support/process.ts';

const run = promisify(execFile);
const root = new URL('../../', import.meta.url);
const readme = readFileSync(new URL('README.md', root), 'utf8');

/** The text of a code block of a language behind a heading, the first unless another is asked for. */
function block(heading: string, language: string, at = 0): string {
  const rest = readme.slice(readme.indexOf(`\n## ${heading}\n`));
  const [, text] = [...rest.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))][at] ?? [];
  if (text === undefined) throw new Error(`expected a ${language} block under ${heading}`);
  return text;
}

/** The text of a chapter. */
function chapter(heading: string): string {
  const [, text = ''] = readme.split(`\n## ${heading}\n`);
  return text.split('\n## ', 1)[0] ?? '';
}

test('the first query of the README has the answer that stands there', async () => {
  await using gateway = runMain([], { PORT: '0', WORKSPACE_PORT: '0' });
  const [, url = '', key = ''] = await gateway.printed(/^Gateway +(\S+)[\s\S]*^Demo key +(\S+)/m);
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ query: block('A first query', 'graphql') }),
  });
  expect(await answer.json()).toEqual(JSON.parse(block('A first query', 'json')));
});

test('the mutation of the README, as it is typed there, has the answer that stands there, from one REST call', async () => {
  await using gateway = runMain([], { PORT: '0', WORKSPACE_PORT: '0' });
  const [, url = ''] = await gateway.printed(/^Gateway +(\S+)[\s\S]*^Demo key/m);
  const command = block('A first query', 'sh');
  expect(command).toContain(' http://127.0.0.1:4000/graphql ');
  const { stdout } = await run('sh', ['-c', command.replace('http://127.0.0.1:4000/graphql', url)]);
  expect(JSON.parse(stdout)).toEqual(JSON.parse(block('A first query', 'json', 1)));
  await gateway.printed(/"operationName":"Create".*"calls":1\b/);
});

test('the two commands of the README are those of the package', () => {
  expect(block('Start it', 'sh').trim()).toBe('npm ci && npm start');
  expect(block('Test it', 'sh').trim()).toBe('npm ci && npm test');
});

test('every path in the layout of the README exists', () => {
  const paths = [...block('How the code is laid out', '').matchAll(/^([\w./]+)\s{2,}/gm)].map(([, path = '']) => path);
  expect(paths.length).toBeGreaterThan(10);
  expect(paths.filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
});

test('every error code that the gateway can answer is explained in the README', () => {
  const sources = globSync('src/{rest,http,operation,server,graphql}/**/*.ts', {
    cwd: root,
    exclude: ['**/generated'],
  });
  const codes = sources.flatMap((file) => {
    const source = readFileSync(new URL(file, root), 'utf8');
    return [...source.matchAll(/(?:^ {2}\| |code: |code = |coded\(error, )'([A-Z][A-Z_]+)'/gm)].map(
      ([, code = '']) => code,
    );
  });
  for (const code of ['UPSTREAM_TIMEOUT', 'GRAPHQL_PARSE_FAILED', 'LIMIT_EXCEEDED', 'INTERNAL_SERVER_ERROR'])
    expect(codes).toContain(code);
  expect([...new Set(codes)].filter((code) => !readme.includes(`\`${code}\``))).toEqual([]);
});

test('the limits of the README are the settings and their defaults', () => {
  const rows = [...chapter('Operations').matchAll(/^\| [^|]+ \| ([\d, ]+) \| (`[A-Z_`, ]+`) \|/gm)];
  const told = rows.flatMap(([, defaults = '', names = '']) => {
    const values = defaults.split(', ');
    return names.split(', ').map((name, at) => [name.replaceAll('`', ''), values[at]] as const);
  });
  expect(told.length).toBeGreaterThan(15);
  const fallbacks = new Map(Object.entries(settings).map(([name, { fallback }]) => [name, fallback]));
  for (const [name, value] of told) expect([name, fallbacks.get(name)]).toEqual([name, value]);
  const limits = Object.keys(settings).filter((name) => name.startsWith('MAX_'));
  expect(limits.filter((limit) => !told.some(([name]) => name === limit))).toEqual([]);
});

test('the metrics of the README are those that the gateway has', async () => {
  await using gateway = await startGateway({ url: 'http://127.0.0.1:9' });
  const metrics = await (await fetch(new URL('/metrics', gateway.url))).text();
  const own = [...metrics.matchAll(/^# TYPE (gateway_\w+) /gm)].map(([, name = '']) => name);
  const table = chapter('Operations');
  const told = [...table.matchAll(/`(gateway_\w+)[{`]/g)].map(([, name = '']) => name);
  expect(own.length).toBeGreaterThan(15);
  expect(own.filter((name) => !told.includes(name))).toEqual([]);
  // Those of the workers come from the process that leads them.
  expect(told.filter((name) => !own.includes(name) && !name.startsWith('gateway_worker'))).toEqual([]);
});
