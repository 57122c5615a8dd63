import { expect, test } from 'vitest';
import { check } from '../../src/commands/check.ts';
import { readConfig } from '../../src/settings/config.ts';
import { createFolder } from '../support/persisted.ts';

const key = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo', kid: '1' };

test('check says which listed operations a tenant may run', () => {
  using folder = createFolder();
  const config = readConfig({
    AUTH: 'jwt',
    JWT_JWKS: folder.write('jwks.json', { keys: [key] }),
    JWT_ISSUER: 'i',
    JWT_AUDIENCE: 'a',
    CURSOR_SECRET: '0123456789abcdef',
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
  const { text, exitCode } = check([manifest, '--tenant', 'narrow'], config);
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
  expect(check([manifest, '--tenant', 'wide'], config).text).toContain('3 for this tenant');
  expect(check([manifest], config).text).not.toContain('tenant');
  const json: unknown = JSON.parse(check([manifest, '--tenant', 'narrow', '--json'], config).text);
  expect(json).toMatchObject({ runnable: 1, files: [{ operations: [{ refused: [] }, {}, {}] }] });
  expect(() => check([manifest, '--tenant', 'other'], config)).toThrow(
    '--tenant: expected one of the tenants in UPSTREAM_KEYS (narrow, wide), but got other',
  );
  expect(() => check([manifest, '--tenant', 'narrow'], readConfig({}))).toThrow('--tenant: expected AUTH=jwt');
});
