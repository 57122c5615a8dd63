/**
 * Runs the code generators of the client libraries. `node generate.ts` writes what is stale; `node generate.ts --check`
 * names it instead, and exits with 1 if there is any.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { preset } from '@graphql-codegen/client-preset';
import { codegen } from '@graphql-codegen/core';
import { gqlPluckFromCodeString } from '@graphql-tools/graphql-tag-pluck';
import { buildSchema, parse } from 'graphql';
import { operations as swift } from './apollo-ios/operations.ts';
import { operations as kotlin } from './apollo-kotlin/operations.ts';
import { toManifest } from './support/mobile.ts';

const here = import.meta.dirname;
const sdl = readFileSync(join(here, '../../schema.graphql'), 'utf8');
const checks = process.argv.includes('--check');

const contents: Readonly<Record<string, string>> = {
  'apollo/generated/persisted-query-manifest.json': ofApollo(),
  'apollo-kotlin/generated/persistedQueryManifest.json': toManifest(kotlin),
  'apollo-ios/generated/operationIDs.json': toManifest(swift),
  ...(await ofCodegen()),
};

runRelayCompiler();
for (const [path, content] of Object.entries(contents)) {
  if (readIfThere(path) === content) continue;
  if (checks) refuse(path);
  else write(path, content);
}

/** relay-compiler writes files itself; it needs one that it can add texts to. */
function runRelayCompiler(): void {
  const texts = 'relay/generated/persisted-documents.json';
  if (!checks) write(texts, '{}');
  if (run('relay-compiler', checks ? ['--validate'] : ['--repersist'], join(here, 'relay'))) return;
  if (checks) refuse('relay/generated');
  else process.exitCode = 1;
}

function ofApollo(): string {
  const folder = mkdtempSync(join(tmpdir(), 'apollo-'));
  const config = join(folder, 'config.json');
  const output = join(folder, 'manifest.json');
  writeFileSync(config, JSON.stringify({ documents: 'apollo/documents.ts', output }));
  run('generate-persisted-query-manifest', ['--config', config], here);
  const manifest = readFileSync(output, 'utf8');
  rmSync(folder, { recursive: true });
  return manifest;
}

/** The client preset, as the command line of graphql-codegen runs it. */
async function ofCodegen(): Promise<Record<string, string>> {
  const path = 'codegen/documents.ts';
  const sources = await gqlPluckFromCodeString(path, readFileSync(join(here, path), 'utf8'), {
    modules: [{ name: './generated/gql.ts', identifier: 'graphql' }],
    skipIndent: true,
  });
  const files = await preset.buildGeneratesSection({
    baseOutputDir: 'codegen/generated/',
    presetConfig: { persistedDocuments: true, fragmentMasking: false },
    schema: parse(sdl),
    schemaAst: buildSchema(sdl),
    documents: sources.map(({ body }) => ({ location: path, rawSDL: body, document: parse(body) })),
    config: {
      useTypeImports: true,
      importExtension: '.ts',
      scalars: { DateTime: 'string', TimeZone: 'string', UUID: 'string', JSON: 'unknown' },
    },
    plugins: [],
    pluginMap: {},
  });
  return Object.fromEntries(
    await Promise.all(files.map(async (file) => [file.filename, await codegen(file)] as const)),
  );
}

function run(command: string, args: readonly string[], cwd: string): boolean {
  const { status, stdout, stderr } = spawnSync(join(here, 'node_modules/.bin', command), args, {
    cwd,
    encoding: 'utf8',
  });
  if (status !== 0) console.error(stdout, stderr);
  return status === 0;
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(join(here, path), 'utf8');
  } catch {
    return undefined;
  }
}

function write(path: string, content: string): void {
  mkdirSync(dirname(join(here, path)), { recursive: true });
  writeFileSync(join(here, path), content);
  console.log(`${path} written`);
}

function refuse(path: string): void {
  console.error(`${path} is stale: run npm run generate in test/clients`);
  process.exitCode = 1;
}
