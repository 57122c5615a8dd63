import { describe, expect, test } from 'vitest';
import { followTenants, readTenants } from '../../src/auth/tenants-file.ts';
import type { Tenants } from '../../src/rest/tenants.ts';
import { createFolder, type Folder } from '../support/persisted.ts';
import { until } from '../support/until.ts';

const mutationNames = ['createProject', 'createDashboard', 'updateDashboard'];
const environment = { ACME_KEY: 'phx_of_environment', EMPTY: '' };
const organization = '0188f3c5-7a31-7c11-9d2b-0e5a4c1f6b77';

function read(folder: Folder, content: unknown): Tenants {
  return readTenants({ path: folder.write('keys.json', content), environment, mutationNames, hasRoles: true }).tenants;
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
  expect(acme).toMatchObject({ key: 'phx_acme', roles: undefined });
  expect([...(acme?.mutations ?? [])]).toEqual([['createDashboard', acme?.reach]]);
  expect([...(acme?.reach?.projects ?? [])]).toEqual(['2', '1']);
  expect(acme?.reach?.organizations).toEqual(new Set());
  const globex = tenants.get('globex');
  expect(globex).toMatchObject({ key: 'phx_of_file', reach: { organizations: new Set([organization]) } });
  expect([...(globex?.mutations.keys() ?? [])]).toEqual(['createDashboard', 'updateDashboard']);
  expect(tenants.get('initech')).toMatchObject({ key: 'phx_of_environment', reach: undefined });
  expect([...(tenants.get('initech')?.mutations.keys() ?? [])]).toEqual(mutationNames);
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
      'acme.mutations[0]: expected a mutation other than createProject, because projects or organizations limit its reach, but got "createProject"',
    ],
    [
      { acme: { key: 'k', project: [] } },
      'acme.project: expected one of the members key, keyFile, keyEnv, projects, organizations, mutations, roles, but there is no such member',
    ],
    [{ acme: { key: 'k', ['__proto__']: 1, toString: 1 } }, 'acme.__proto__: expected one of the members'],
    [
      { acme: { key: 'k', roles: ['viewer'] } },
      'acme.roles: expected an object with a member for each role, but got a list',
    ],
    [{ acme: { key: 'k', roles: null } }, 'acme.roles: expected an object with a member for each role, but got null'],
    [{ acme: { key: 'k', roles: {} } }, 'acme.roles: expected at least one role, but there is none'],
    [
      { acme: { key: 'k', roles: { '': {} } } },
      'acme.roles[""]: expected a name of 1 to 100 characters without control',
    ],
    [
      { acme: { key: 'k', roles: { 'a\u0007': {} } } },
      'acme.roles["a\\u0007"]: expected a name of 1 to 100 characters',
    ],
    [
      { acme: { key: 'k', roles: { viewer: true } } },
      'acme.roles.viewer: expected an object that says what the role may do, but got a boolean',
    ],
    [
      { acme: { key: 'k', roles: { ['__proto__']: { key: 'phx_secret' } } } },
      'acme.roles.__proto__.key: expected one of the members mutations, projects, organizations, documents, but there is no such member',
    ],
    [
      { acme: { key: 'k', projects: ['1', '2'], roles: { viewer: { projects: ['2', '3'] } } } },
      'acme.roles.viewer.projects[1]: expected the id of a project (an integer as text) that the entry reaches, but got "3"',
    ],
    [
      { acme: { key: 'k', projects: ['1'], roles: { viewer: { organizations: [organization] } } } },
      'acme.roles.viewer.organizations[0]: expected the id of an organization (a UUID) that the entry reaches, but got a text of 36 characters',
    ],
    [
      { acme: { key: 'k', roles: { viewer: { projects: [1] } } } },
      'acme.roles.viewer.projects[0]: expected the id of a project (an integer as text), but got a number',
    ],
    [
      { acme: { key: 'k', mutations: ['createDashboard'], roles: { editor: { mutations: ['updateDashboard'] } } } },
      'acme.roles.editor.mutations[0]: expected the name of a mutation that the entry allows (createDashboard), but got "updateDashboard"',
    ],
    [
      { acme: { key: 'k', roles: { editor: { mutations: ['updateDashboard'] } } } },
      'acme.roles.editor.mutations[0]: expected the name of a mutation that the entry allows (none), but got "updateDashboard"',
    ],
    [
      { acme: { key: 'k', mutations: true, roles: { editor: { projects: ['1'], mutations: ['createProject'] } } } },
      'acme.roles.editor.mutations[0]: expected a mutation other than createProject, because projects or organizations limit',
    ],
    [
      { acme: { key: 'k', roles: { agent: { documents: 'Overview' } } } },
      'acme.roles.agent.documents: expected a list of names of listed operations, but got "Overview"',
    ],
    [
      { acme: { key: 'k', roles: { agent: { documents: ['a b'] } } } },
      'acme.roles.agent.documents[0]: expected the name of a listed operation, but got "a b"',
    ],
  ])('%j', (content, message) => {
    using folder = createFolder();
    const reading = (): unknown => read(folder, content);
    expect(reading).toThrow(`keys.json: ${message}`);
    expect(reading).not.toThrow('phx_');
  });
});

test('changes of the file, and of a file with a key, are taken; what is wrong is logged and changes nothing', async () => {
  using folder = createFolder();
  const keyFile = folder.write('acme', 'first');
  const path = folder.write('keys.json', { acme: { keyFile } });
  const taken: (string | undefined)[] = [];
  const logged: string[] = [];
  const followed = await followTenants({
    source: { path, environment, mutationNames, hasRoles: false },
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
