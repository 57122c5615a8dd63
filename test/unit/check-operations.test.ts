import { extendSchema, parse } from 'graphql';
import { expect, test } from 'vitest';
import { checkOperations, judge } from '../../src/commands/check-operations.ts';
import { cursorsOf } from '../../src/commands/documents.ts';
import { createCursorCodec } from '../../src/graphql/cursors.ts';
import { createReadableSchema } from '../../src/schema.ts';
import { createReader, cursorSecretOf, readPlainConfig } from '../../src/settings/config.ts';
import { createFolder } from '../support/persisted.ts';
import { tenantsOf } from '../support/tenants.ts';

test('commands read the cursors of a gateway on the embedded workspace, whatever HOST is', () => {
  const ofGateway = createCursorCodec(cursorSecretOf(undefined, 'http://127.0.0.1:4001'));
  const ofCommand = cursorsOf(readPlainConfig(createReader({ HOST: '0.0.0.0' })));
  expect(ofCommand.decodeQuery('log', ofGateway.encodeQuery('log', '?page=2'), 'after')).toBe('?page=2');
});

test('check-operations says which listed operations a tenant may run', () => {
  using folder = createFolder();
  const settings = createReader({
    UPSTREAM_KEYS: folder.write('keys.json', {
      narrow: { key: 'k', projects: ['1'], mutations: ['updateProject'] },
      wide: { key: 'k', mutations: true },
    }),
  });
  const manifest = folder.write('manifest.json', {
    read: 'query Read { project(id: 1) { name } }',
    here: 'query Here { project(id: "@current") { name } }',
    write:
      'mutation Write { a: deleteProject(input: { id: 1 }) { deletedId } ...B } fragment B on Mutation { updateProject(input: { id: 1 }) { project { name } } }',
  });
  const { text, exitCode } = checkOperations([manifest, '--tenant', 'narrow'], settings);
  expect(exitCode).toBe(0);
  expect(text.split('\n').slice(1)).toEqual([
    '  Read: ok, 1 call, 1 wave, at most 1 row and 1 object',
    '  Here: ok, 1 call, 1 wave, at most 1 row and 1 object',
    '    refused: narrow may not name @current',
    '  Write: ok, 2 calls, 2 waves, at most 2 rows and 3 objects',
    '    refused: narrow may not run `deleteProject`',
    '',
    '3 operations: 0 invalid, 0 over budget, 1 for this tenant',
  ]);
  expect(checkOperations([manifest, '--tenant', 'wide'], settings).text).toContain('3 for this tenant');
  expect(checkOperations([manifest], settings).text).not.toContain('tenant');
  const json: unknown = JSON.parse(checkOperations([manifest, '--tenant', 'narrow', '--json'], settings).text);
  expect(json).toMatchObject({ runnable: 1, files: [{ operations: [{ refused: [] }, {}, {}] }] });
  expect(() => checkOperations([manifest, '--tenant', 'other'], settings)).toThrow(
    '--tenant: expected one of the tenants in UPSTREAM_KEYS (narrow, wide), but got other',
  );
  expect(() => checkOperations([manifest, '--tenant', 'narrow'], createReader({}))).toThrow(
    'UPSTREAM_KEYS: expected the path of a JSON file, because the option --tenant is given, but it is not set',
  );
});

test('check-operations says which listed operations the roles of a tenant may run', () => {
  using folder = createFolder();
  const roles = { viewer: {}, editor: { projects: ['1'], mutations: true }, agent: { documents: ['Read'] } };
  const settings = createReader({
    UPSTREAM_KEYS: folder.write('keys.json', {
      acme: { key: 'k', mutations: ['updateProject'], roles },
      globex: { key: 'k' },
    }),
  });
  const write = 'mutation Write { updateProject(input: { id: "@current" }) { project { name } } }';
  const manifest = folder.write('manifest.json', { read: 'query Read { project(id: 1) { name } }', write });
  const refusedTo = (...options: readonly string[]): readonly string[] => {
    const { text } = checkOperations([manifest, '--tenant', 'acme', ...options], settings);
    return [...text.matchAll(/^ +refused: (.*)$/gm)].map(([, why = '']) => why);
  };
  expect(refusedTo('--role', 'viewer')).toEqual(['acme may not run `updateProject`']);
  expect(refusedTo('--role', 'editor')).toEqual(['acme may not name @current']);
  expect(refusedTo('--role', 'viewer', '--role', 'editor')).toEqual(['acme may not name @current']);
  expect(refusedTo('--role', 'agent')).toEqual(['none of the roles that --role names may run it']);
  expect(() => refusedTo()).toThrow(
    '--role: expected one of the roles of acme (viewer, editor, agent), because its entry has roles, but got none',
  );
  expect(() => refusedTo('--role', 'viewer', '--role', 'Editor')).toThrow(
    '--role: expected one of the roles of acme (viewer, editor, agent), but got Editor',
  );
  expect(() => checkOperations([manifest, '--tenant', 'globex', '--role', 'viewer'], settings)).toThrow(
    '--role: expected none, because the entry of globex has no roles, but got viewer',
  );
  expect(() => checkOperations([manifest, '--role', 'viewer'], settings)).toThrow('--role: expected --tenant as well');
});

test('an operation that no variables fit is invalid, and still says who may run it and that it is no tool', () => {
  const odd = parse('scalar Odd extend type Mutation { odd(of: Odd!): String }');
  const schema = extendSchema(createReadableSchema(true), odd);
  const tenant = tenantsOf({ acme: { key: 'k' } }).get('acme');
  const text = 'mutation ($of: Odd!) { odd(of: $of) }';
  expect(judge(schema, 'Odd', text, readPlainConfig(createReader({})), { tenant, asTools: true })).toEqual([
    {
      name: 'Odd',
      errors: ['no values of its variables are valid'],
      deprecated: [],
      overBudget: false,
      refused: ['acme may not run `odd`'],
      mcp: null,
    },
  ]);
});
