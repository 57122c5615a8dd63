/**
 * Tools that read the published SDL, as their command lines run: each takes documents that fit, and refuses a field that
 * there is not. That of graphql-codegen is installed with examples/web.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdtempDisposableSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { parsed } from './support/traffic.ts';

const here = import.meta.dirname;
const root = join(here, '../..');
const wrong = 'query Wrong { project(id: 1) { nothing } }';
const refusal = 'Cannot query field "nothing" on type "Project"';

/** Runs a tool that is installed in `home`, in the folder `cwd`: its exit code, and what it has printed. */
function run(tool: string, args: readonly string[], cwd: string, home = cwd): [status: number, text: string] {
  const env = { PATH: process.env['PATH'], NO_COLOR: '1' };
  const { status, stdout, stderr } = spawnSync(join(home, 'node_modules/.bin', tool), args, {
    cwd,
    env,
    encoding: 'utf8',
  });
  return [status ?? -1, stdout + stderr];
}

/** Writes a copy of a file whose paths out of its folder lead to where they led. */
function move(from: string, to: string): void {
  const text = readFileSync(from, 'utf8');
  writeFileSync(to, text.replaceAll(/(?<=['"])(?:\.\.\/)+(?=schema)/g, `${root}/`).replace('"../', `"${here}/`));
}

// That it takes those of examples/web is a part of `npm run check`.
test('graphql-codegen refuses a document that does not fit', () => {
  const home = join(root, 'examples/web');
  using folder = mkdtempDisposableSync(join(tmpdir(), 'graphql-codegen-'));
  const documents = join(folder.path, 'wrong.graphql');
  writeFileSync(documents, wrong);
  const generates = { [join(folder.path, 'types.ts')]: { plugins: ['typescript'] } };
  const config = join(folder.path, 'codegen.json');
  writeFileSync(config, JSON.stringify({ schema: join(root, 'schema.graphql'), documents, generates }));
  const refused = run('graphql-codegen', ['--config', config], home);
  expect(refused).toEqual([1, expect.stringContaining(refusal)]);
}, 60_000);

test('gql.tada types documents', () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'gql-tada-'));
  symlinkSync(join(here, 'node_modules'), join(folder.path, 'node_modules'));
  cpSync(join(here, 'gql-tada'), folder.path, { recursive: true });
  move(join(here, 'gql-tada/tsconfig.json'), join(folder.path, 'tsconfig.json'));
  expect(run('gql.tada', ['generate', 'output'], folder.path, here)).toMatchObject([0, expect.any(String)]);
  expect(run('tsc', ['-p', folder.path], folder.path, root)).toEqual([0, '']);
  const text = readFileSync(join(here, 'gql-tada/documents.ts'), 'utf8');
  writeFileSync(join(folder.path, 'wrong.ts'), text.replace('name\n', 'nothing\n'));
  const [status, said] = run('gql.tada', ['check'], folder.path, here);
  expect([status, said]).toEqual([1, expect.stringContaining(refusal)]);
  expect(said).not.toContain('documents.ts');
}, 60_000);

test('@graphql-eslint finds nothing in documents and in the schema', () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'graphql-eslint-'));
  symlinkSync(join(here, 'node_modules'), join(folder.path, 'node_modules'));
  move(join(here, 'eslint.config.js'), join(folder.path, 'eslint.config.js'));
  cpSync(join(root, 'schema.graphql'), join(folder.path, 'schema.graphql'));
  cpSync(join(here, 'graphql-request'), join(folder.path, 'graphql-request'), { recursive: true });
  writeFileSync(join(folder.path, 'graphql-request/wrong.graphql'), wrong);
  const [status, said] = run('eslint', ['--format', 'json', '**/*.graphql'], folder.path, here);
  const results = parsed<readonly { filePath: string; messages: readonly { message: string }[] }[]>(said);
  expect(results).toHaveLength(globSync('graphql-request/*.graphql', { cwd: here }).length + 2);
  const found = results.flatMap(({ filePath, messages }) =>
    messages.map(({ message }) => [basename(filePath), message] as const),
  );
  expect([status, found]).toEqual([1, [['wrong.graphql', expect.stringContaining(refusal)]]]);
}, 60_000);
