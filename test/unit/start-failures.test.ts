import { expect, test } from 'vitest';
import { followTenants } from '../../src/auth/tenants-file.ts';
import { failureOf, listening } from '../../src/process/start-failures.ts';
import { createFolder } from '../support/persisted.ts';

test.each([
  ['EADDRINUSE', 'address already in use', 1, 'PORT: expected a port that is free at HOST'],
  ['EACCES', 'permission denied', 2, 'PORT: expected a port that may be listened on'],
  ['EADDRNOTAVAIL', 'address not available', 2, 'HOST: expected an address of this machine'],
  ['EMFILE', 'too many open files', 1, undefined],
])(
  'a start that fails with %s (%s) has exit code %i, and one line with the address',
  async (code, what, exitCode, expected) => {
    const reason = `listen ${code}: ${what} 127.0.0.1:80`;
    const failed = listening('PORT', Promise.reject(Object.assign(new Error(reason), { code })));
    const error: unknown = await failed.catch((thrown: unknown) => thrown);
    const advice = code === 'EADDRINUSE' ? '; PORT=0 takes a free one' : '';
    const message = expected === undefined ? reason : `${expected}, but got: ${reason}${advice}`;
    expect(failureOf(error)).toEqual({ message, exitCode });
  },
);

test('a file of upstream keys that is wrong when it is followed has exit code 2, as when the settings are read', async () => {
  using folder = createFolder();
  const source = { path: folder.write('keys.json', '{'), environment: {}, mutationNames: [], hasRoles: false };
  const error: unknown = await followTenants({ source, log: () => undefined }).catch((thrown: unknown) => thrown);
  const message = `${source.path}: expected JSON, but it cannot be parsed`;
  expect(failureOf(error)).toEqual({ message, exitCode: 2 });
});
