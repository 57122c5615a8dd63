import { describe, expect, test } from 'vitest';
import { followTenants } from '../../src/auth/follow-tenants.ts';
import { readTenants } from '../../src/auth/read-tenants.ts';
import type { Tenants } from '../../src/rest/tenants.ts';
import { createFolder, type Folder } from '../support/persisted.ts';
import { until } from '../support/until.ts';

const mutationNames = ['createProject', 'createDashboard', 'updateDashboard'];
const environment = { ACME_KEY: 'phx_of_environment', EMPTY: '' };
const organization = '0188f3c5-7a31-7c11-9d2b-0e5a4c1f6b77';

function read(folder: Folder, content: unknown): Tenants {
  return readTenants({ path: folder.write('keys.json', content), environment, mutationNames }).tenants;
}

test('an entry says a key, what it reaches and which mutations it runs', () => {
  using folder = createFolder();
  const keyFile = folder.write('globex', 'phx_of_file\n');
  const tenants = read(folder, {
    acme: { key: 'phx_acme', projects: ['2', '1'], mutations: ['createDashboard'] },
    globex: { keyFile, organizations: [organization.toUpperCase()], mutations: true },
    initech: { keyEnv: 'ACME_KEY', mutations: true },
  });
  const acme = tenants.get('acme');
  expect(acme).toMatchObject({ key: 'phx_acme', mutations: new Set(['createDashboard']) });
  expect([...(acme?.reach?.projects ?? [])]).toEqual(['2', '1']);
  expect(acme?.reach?.organizations).toEqual(new Set());
  const globex = tenants.get('globex');
  expect(globex).toMatchObject({ key: 'phx_of_file', reach: { organizations: new Set([organization]) } });
  expect(globex?.mutations).toEqual(new Set(['createDashboard', 'updateDashboard']));
  expect(tenants.get('initech')).toMatchObject({ key: 'phx_of_environment', reach: undefined });
  expect(tenants.get('initech')?.mutations).toEqual(new Set(mutationNames));
  expect(tenants.get('__proto__')).toBe(undefined);
});

test('entries with one key have one hash of it, and others of what they say', () => {
  using folder = createFolder();
  const tenants = read(folder, { a: { key: 'k' }, b: { key: 'k' }, c: { key: 'k', projects: [] } });
  const all = [...tenants.values()];
  expect(new Set(all.map(({ keyHash }) => keyHash)).size).toBe(1);
  expect(new Set(all.map(({ entryHash }) => entryHash)).size).toBe(3);
});

describe('A file that cannot be used is an error that names the place', () => {
  test.each<[unknown, string]>([
    ['{', 'expected JSON, but it cannot be parsed'],
    [[], 'expected an object with a member for each tenant'],
    [{ acme: 'phx_secret' }, 'acme: expected an object with a key, a keyFile or a keyEnv, but got a text'],
    [{ acme: {} }, 'acme: expected exactly one of key, keyFile and keyEnv, but got none'],
    [
      { acme: { key: 'a', keyEnv: 'b' } },
      'acme: expected exactly one of key, keyFile and keyEnv, but got key and keyEnv',
    ],
    [{ 'a b': { key: 1 } }, '["a b"].key: expected a text, but got a number'],
    [{ acme: { key: '' } }, 'acme.key: expected a text, but got an empty one'],
    [
      { acme: { key: 'phx_a b' } },
      'acme.key: expected a personal API key (letters, digits and -._~+/ without spaces), but it is something else',
    ],
    [
      { acme: { keyFile: '/nowhere' } },
      'acme.keyFile: expected the path of a file with a key, but there is no file at that path',
    ],
    [
      { acme: { keyEnv: 'EMPTY' } },
      'acme.keyEnv: expected the name of an environment variable that is set, but got "EMPTY"',
    ],
    [
      { acme: { keyEnv: 'phx_secret' } },
      'acme.keyEnv: expected the name of an environment variable that is set, but got a text of 10 characters',
    ],
    [{ acme: { key: 'k', projects: '1' } }, 'acme.projects: expected a list of ids, but got "1"'],
    [
      { acme: { key: 'k', projects: ['1', 2] } },
      'acme.projects[1]: expected the id of a project (an integer as text), but got a number',
    ],
    [
      { acme: { key: 'k', projects: ['@current'] } },
      'acme.projects[0]: expected the id of a project (an integer as text), but got "@current"',
    ],
    [
      { acme: { key: 'k', organizations: ['1'] } },
      'acme.organizations[0]: expected the id of an organization (a UUID), but got "1"',
    ],
    [
      { acme: { key: 'k', mutations: 'all' } },
      'acme.mutations: expected true, false or a list of names of mutations, but got "all"',
    ],
    [
      { acme: { key: 'k', mutations: ['drop'] } },
      'acme.mutations[0]: expected the name of a mutation (createProject, createDashboard, updateDashboard), but got "drop"',
    ],
    [
      { acme: { key: 'k', projects: [], mutations: ['createProject'] } },
      'acme.mutations[0]: expected a mutation other than createProject, because the tenant has projects or organizations, but got "createProject"',
    ],
    [
      { acme: { key: 'k', project: [] } },
      'acme.project: expected one of the members key, keyFile, keyEnv, projects, organizations, mutations, but there is no such member',
    ],
    [{ acme: { key: 'k', ['__proto__']: 1, toString: 1 } }, 'acme.__proto__: expected one of the members'],
  ])('%j', (content, message) => {
    using folder = createFolder();
    const reading = (): unknown => read(folder, content);
    expect(reading).toThrow(`keys.json: ${message}`);
    expect(reading).not.toThrow('phx_');
  });

  test('a file that is missing', () => {
    const source = { path: '/nowhere.json', environment, mutationNames };
    expect(() => readTenants(source)).toThrow('/nowhere.json: expected JSON, but there is no file at that path');
  });
});

test('changes of the file, and of a file with a key, are taken; what is wrong is logged and changes nothing', async () => {
  using folder = createFolder();
  const keyFile = folder.write('acme', 'first');
  const path = folder.write('keys.json', { acme: { keyFile } });
  const taken: (string | undefined)[] = [];
  const logged: string[] = [];
  const followed = followTenants({
    source: { path, environment, mutationNames },
    log: (_level, message) => logged.push(message),
    pollMs: 5,
  });
  followed.onChange((tenants) => taken.push(tenants.get('acme')?.key));
  expect(followed.current().get('acme')?.key).toBe('first');
  folder.write('acme', 'second-one');
  await until(() => taken.length === 1);
  folder.write('keys.json', '{');
  await until(() => logged.some((message) => message.startsWith('upstream keys stay as they were: ')));
  expect(followed.current().get('acme')?.key).toBe('second-one');
  const other = folder.write('other', 'third');
  folder.write('keys.json', { acme: { keyFile: other } });
  await until(() => taken.length === 2);
  folder.write('other', 'and-a-fourth');
  await until(() => taken.length === 3);
  expect(taken).toEqual(['second-one', 'third', 'and-a-fourth']);
  followed.close();
});
