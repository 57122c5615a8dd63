import { expect, test } from 'vitest';
import { checkOperations } from '../../src/commands/check-operations.ts';
import { createReader } from '../../src/settings/config.ts';
import { createFolder } from '../support/persisted.ts';

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
