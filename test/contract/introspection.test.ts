import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSchema, parse, validate } from 'graphql';
import { expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { at } from '../support/connections.ts';
import { startGateway } from '../support/gateway.ts';
import { startUpstream } from '../support/upstream.ts';

async function introspect(query: string): Promise<unknown> {
  await using upstream = await startUpstream({});
  await using gateway = await startGateway(upstream);
  const answer = await gateway.ask(query);
  expect(answer.errors).toBeUndefined();
  expect(upstream.requests).toEqual([]);
  return answer.data;
}

test("directives are those of the specification at the locations of the specification, and none is the gateway's own", async () => {
  const data = await introspect('{ __schema { directives { name locations } } }');
  expect(at(data, '__schema', 'directives')).toEqual([
    {
      name: 'deprecated',
      locations: ['FIELD_DEFINITION', 'ARGUMENT_DEFINITION', 'INPUT_FIELD_DEFINITION', 'ENUM_VALUE'],
    },
    { name: 'include', locations: ['FIELD', 'FRAGMENT_SPREAD', 'INLINE_FRAGMENT'] },
    { name: 'skip', locations: ['FIELD', 'FRAGMENT_SPREAD', 'INLINE_FRAGMENT'] },
    { name: 'specifiedBy', locations: ['SCALAR'] },
    { name: 'oneOf', locations: ['INPUT_OBJECT'] },
    { name: 'defer', locations: ['FRAGMENT_SPREAD', 'INLINE_FRAGMENT'] },
  ]);
});

test.each(['DateTime', 'JSON', 'TimeZone', 'UUID'])(
  'the scalar %s is described and says where it is specified',
  async (name) => {
    const data = await introspect(`{ __type(name: "${name}") { description specifiedByURL } }`);
    expect(at(data, '__type', 'description')).toMatch(/^[A-Z].{30}/);
    expect(at(data, '__type', 'specifiedByURL')).toMatch(/^https:\/\//);
  },
);

/** Imports that work in graphql-core 2 and 3, the versions that Debian has; 3 refuses directive locations it does not know. */
const imports = `
import json, sys
from graphql import build_client_schema, print_schema
try:
    from graphql import get_introspection_query
except ImportError:
    from graphql import introspection_query
    get_introspection_query = lambda: introspection_query
`;

/** A Python that has graphql-core. */
const python = ['python3', '/usr/bin/python3'].find((command) => spawnSync(command, ['-c', imports]).status === 0);

test.skipIf(python === undefined)(
  "graphql-core builds its client schema from the endpoint (skipped without Python's graphql-core)",
  async () => {
    const query = runPython('print(get_introspection_query())', '');
    const answer = await introspect(query);
    const sdl = runPython('print(print_schema(build_client_schema(json.load(sys.stdin))))', JSON.stringify(answer));
    const names = Object.keys(buildSchema(sdl).getTypeMap());
    expect(names).toEqual(expect.arrayContaining(['Query', 'Dashboard', 'PluginActivityEntry', 'DateTime']));
  },
);

function runPython(line: string, input: string): string {
  const { stdout, stderr } = spawnSync(python ?? '', ['-c', `${imports}${line}`], { input, encoding: 'utf8' });
  if (stderr !== '') throw new Error(stderr);
  return stdout;
}

test('the documents that graphql.config.yml names are valid', () => {
  const root = join(import.meta.dirname, '../..');
  const config: unknown = parseYaml(readFileSync(join(root, 'graphql.config.yml'), 'utf8'));
  for (const project of ['gateway', 'web']) {
    const schema = buildSchema(readFileSync(join(root, String(at(config, 'projects', project, 'schema'))), 'utf8'));
    const files = globSync(String(at(config, 'projects', project, 'documents')), { cwd: root });
    expect(files).not.toEqual([]);
    const text = files.map((file) => readFileSync(join(root, file), 'utf8')).join('\n');
    expect(validate(schema, parse(text))).toEqual([]);
  }
});
