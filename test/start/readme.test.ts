import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runMain } from '../support/process.ts';

const root = new URL('../../', import.meta.url);
const readme = readFileSync(new URL('README.md', root), 'utf8');

/** The text of the first code block of a language behind a heading. */
function block(heading: string, language: string): string {
  const chapter = readme.slice(readme.indexOf(`\n## ${heading}\n`));
  const [, text] = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(chapter) ?? [];
  if (text === undefined) throw new Error(`expected a ${language} block under ${heading}`);
  return text;
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
  const source = readFileSync(new URL('src/rest/errors.ts', root), 'utf8');
  const codes = [...source.matchAll(/^ {2}\| '([A-Z_]+)'/gm)].map(([, code = '']) => code);
  expect(codes).toContain('UPSTREAM_TIMEOUT');
  expect(codes.filter((code) => !readme.includes(`\`${code}\``))).toEqual([]);
});
