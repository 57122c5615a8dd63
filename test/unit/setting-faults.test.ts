import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ConfigError } from '../../src/config-error.ts';
import { unreadableBecause } from '../../src/error-text.ts';
import { createReader, readConfig, readPlainConfig } from '../../src/settings/config.ts';
import { settings } from '../../src/settings/declaration.ts';
import { type Environment } from '../../src/settings/settings-reader.ts';
import { createFolder, type Folder } from '../support/persisted.ts';
import { authorityPath } from '../support/tls.ts';

const pathOf = (name: string): string => authorityPath.replace('authority', name);

const publicKeys = { keys: [{ kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' }] };

/** An environment in which every file is there and right. */
function everythingIn(folder: Folder): Record<string, string> {
  return {
    UPSTREAM_URL: 'https://api.test',
    PUBLIC_URL: 'https://gateway.test',
    UPSTREAM_CA: authorityPath,
    UPSTREAM_CLIENT_CERT: pathOf('client'),
    UPSTREAM_CLIENT_KEY: pathOf('client-key'),
    METRICS_PORT: '9100',
    ADMIN_TOKEN_FILE: folder.write('token', '0123456789abcdef'.repeat(2)),
    AUTH: 'jwt',
    JWT_JWKS: folder.write('jwks.json', publicKeys),
    JWT_ISSUER: 'https://issuer.test/',
    JWT_AUDIENCE: 'gateway',
    UPSTREAM_KEYS: folder.write('keys.json', { acme: { key: 'phx_acme' } }),
    CURSOR_SECRET: '0123456789abcdef',
    PERSISTED_DOCUMENTS: folder.write('listed.graphql', '{ __typename }'),
    REDIS_URL: 'rediss://host',
    REDIS_CA: authorityPath,
    REDIS_PASSWORD_FILE: folder.write('password', 'hunter2\n'),
  };
}

/** All that is wrong with an environment. */
function faultsOf(environment: Environment, file?: Environment): readonly string[] {
  try {
    readConfig(environment, file && { values: file, faults: [] });
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}

/** States in which a file may be, by their names: each makes one and returns its path. */
const states: Readonly<Record<string, (folder: Folder) => string>> = {
  absent: ({ path }) => join(path, 'absent'),
  'below a file': (folder) => join(folder.write('file', 'x'), 'absent'),
  'a folder': ({ path }) => {
    mkdirSync(join(path, 'folder'));
    return join(path, 'folder');
  },
  empty: (folder) => folder.write('empty', '\n'),
  'a private key': () => pathOf('client-key'),
  'an encrypted key': (folder) =>
    folder.write(
      'encrypted.pem',
      generateKeyPairSync('ed25519').privateKey.export({
        format: 'pem',
        type: 'pkcs8',
        cipher: 'aes-128-cbc',
        passphrase: 'x',
      }),
    ),
  'a certificate': () => pathOf('client'),
  'a broken certificate': (folder) =>
    folder.write(
      'broken.pem',
      `${readFileSync(authorityPath, 'utf8')}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`,
    ),
  'a cut certificate': (folder) => folder.write('cut.pem', readFileSync(authorityPath, 'utf8').slice(0, 200)),
  'a broken key': (folder) =>
    folder.write('broken-key.pem', '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n'),
  'other JSON': (folder) => folder.write('other.json', '{"key": "value"}'),
  'a private key set': (folder) => folder.write('private.json', { keys: [{ ...publicKeys.keys[0], d: 'secret' }] }),
  'some text': (folder) => folder.write('text', 'hunter2'),
  // To open it would wait for somebody who writes into it.
  'a pipe': (folder) => {
    execFileSync('mkfifo', [join(folder.path, 'pipe')]);
    return join(folder.path, 'pipe');
  },
  'a large file': (folder) => {
    const path = folder.write('large', '');
    truncateSync(path, 2 ** 30);
    return path;
  },
};

/** The text in a message about each state; undefined for a state that the setting takes. */
type Causes = Readonly<Record<string, string | undefined>>;

const anyFile: Causes = {
  absent: 'there is no file at that path',
  'below a file': 'there is no file at that path',
  'a folder': 'it is a folder',
  empty: 'the file is empty',
  'a pipe': 'it is not a regular file',
  'a large file': 'the file has more than 10 MiB',
};
const certificates: Causes = {
  ...anyFile,
  'a private key': 'the file holds a private key',
  'an encrypted key': 'the file holds a private key with a passphrase',
  'a certificate': undefined,
  'a broken certificate': 'certificate 2 of the file is broken',
  'a cut certificate': 'certificate 1 of the file is broken',
  'a broken key': 'the file holds a private key',
  'other JSON': 'the file holds JSON',
  'a private key set': 'the file holds JSON',
  'some text': 'the file holds something else',
};
const json = (other: string): Causes => ({
  ...anyFile,
  'a private key': 'the file holds a private key',
  'an encrypted key': 'the file holds a private key with a passphrase',
  'a certificate': 'the file holds a certificate',
  'a broken certificate': 'the file holds a certificate',
  'a cut certificate': 'the file holds a certificate',
  'a broken key': 'the file holds a private key',
  'other JSON': other,
  'some text': 'the file holds something else',
});

/** Every setting that names a file that is read at the start. */
const files: Readonly<Record<string, Causes>> = {
  UPSTREAM_CA: certificates,
  UPSTREAM_CLIENT_CERT: certificates,
  UPSTREAM_CLIENT_KEY: {
    ...anyFile,
    'a private key': undefined,
    'an encrypted key': 'the file holds a private key with a passphrase',
    'a certificate': 'the file holds a certificate',
    'a broken certificate': 'the file holds a certificate',
    'a cut certificate': 'the file holds a certificate',
    'a broken key': 'the private key in the file is broken',
    'other JSON': 'the file holds JSON',
    'a private key set': 'the file holds JSON',
    'some text': 'the file holds something else',
  },
  JWT_JWKS: {
    ...json('the file is JSON, but not a key set: `keys` has to be a list of objects with a `kty`'),
    'a private key set': 'the file holds a private key',
  },
  UPSTREAM_KEYS: {
    ...json('key: expected an object with a key, a keyFile or a keyEnv, but got a text'),
    'a private key set': 'keys: expected an object with a key, a keyFile or a keyEnv, but got a list',
  },
  REDIS_CA: certificates,
  REDIS_PASSWORD_FILE: anyFile,
  ADMIN_TOKEN_FILE: { ...anyFile, 'some text': 'the token in the file has 7' },
};

describe('A file that a setting names has a message for each state', () => {
  test.each(Object.entries(files))('%s', (name, causes) => {
    for (const [state, make] of Object.entries(states)) {
      if (!(state in causes)) continue;
      using folder = createFolder();
      const faults = faultsOf({ ...everythingIn(folder), [name]: make(folder) });
      const cause = causes[state];
      const found = faults.filter((fault) => fault.startsWith(`${name}: `));
      const told = found.map((fault) => (cause === undefined || !fault.includes(cause) ? fault : cause));
      expect([state, told]).toEqual([state, cause === undefined ? [] : [cause]]);
    }
  });

  // Root may read everything, so that no file brings these about for everyone.
  test.each([
    ['EACCES', 'this process may not read the file'],
    ['EPERM', 'this process may not read the file'],
    ['EIO', 'the file cannot be read (EIO)'],
  ])('that the system says %s, too', (code, cause) => {
    expect(unreadableBecause(Object.assign(new Error('no'), { code }))).toBe(cause);
  });

  test.each([
    ['UPSTREAM_CLIENT_CERT', 'certificates', 'UPSTREAM_CLIENT_KEY'],
    ['UPSTREAM_CLIENT_KEY', 'a private key that has no passphrase', 'UPSTREAM_CLIENT_CERT'],
  ])('%s is not set beside the other one of its pair', (name, content, other) => {
    using folder = createFolder();
    const fault = `expected the path of a PEM file with ${content}, because ${other} is set, but it is not set`;
    expect(faultsOf({ ...everythingIn(folder), [name]: '' })).toEqual([`${name}: ${fault}`]);
  });

  test('a certificate and the key of another do not belong together', () => {
    using folder = createFolder();
    expect(faultsOf({ ...everythingIn(folder), UPSTREAM_CLIENT_KEY: pathOf('server-key') })).toEqual([
      'UPSTREAM_CLIENT_KEY: expected the key of the first certificate of UPSTREAM_CLIENT_CERT, but the file holds the key of another',
    ]);
  });
});

/** An environment that does not set a name. */
function without(name: string, environment: Environment): Environment {
  return Object.fromEntries(Object.entries(environment).filter(([other]) => other !== name));
}

/** Values that are wrong for nearly every setting. */
const nonsense = ['hunter2', '-1', '{', 'ftp://user:hunter2@a.test', '-----BEGIN hunter2', '/', 'x'.repeat(300)];

test('whatever is wrong with a setting, the message names it and where it is set, and several are told at once', () => {
  using folder = createFolder();
  const right = everythingIn(folder);
  expect(faultsOf(right)).toEqual([]);
  const all: Record<string, string> = {};
  for (const name of Object.keys(settings)) {
    for (const value of nonsense) {
      const beside = name === 'UPSTREAM_BUDGET' ? { ...right, UPSTREAM_BUDGET_REPLICAS: '1' } : right;
      const faults = faultsOf(without(name, beside), { [name]: value });
      if (faults.length === 0) continue;
      expect(faults).toEqual([expect.stringMatching(new RegExp(`^${name}: .*expected `, 's'))]);
      all[name] = value;
    }
  }
  // The others take any text.
  const free = [
    'HOST',
    'NO_PROXY',
    'JWT_ISSUER',
    'JWT_AUDIENCE',
    'JWT_TENANT_CLAIM',
    'JWT_ROLES_CLAIM',
    'WORKSPACE_DB',
    'REDIS_SENTINEL_PASSWORD',
  ];
  const unread = ['DRIFT_KEY_FILE'];
  expect(Object.keys(settings).filter((name) => !(name in all))).toEqual(
    Object.keys(settings).filter((name) => [...free, ...unread].includes(name)),
  );
  const together = faultsOf({ ...right, ...all, AUTH: 'jwt' }).map((fault) => fault.split(':', 1)[0]);
  // Without a URL of the upstream nothing asks for this proxy.
  const untold = new Set(['AUTH', 'ALL_PROXY']);
  expect(new Set(together)).toEqual(new Set(Object.keys(all).filter((name) => !untold.has(name))));
});

test('no message shows the value of a setting that is a secret, or may be one by mistake', () => {
  using folder = createFolder();
  const secrets = [
    ...['JWT_JWKS', 'UPSTREAM_KEYS', 'CURSOR_SECRET', 'REDIS_URL', 'REDIS_PASSWORD_FILE', 'UPSTREAM_CLIENT_KEY'],
    'ADMIN_TOKEN_FILE',
    ...['UPSTREAM_URL', 'HTTPS_PROXY', 'HTTP_PROXY'],
  ];
  for (const secret of ['hunter2', 'phx_hunter2', 'hunter2/hunter2', 'a.hunter2', ':hunter2@', '-----BEGIN hunter2'])
    for (const name of secrets) {
      const [first, ...others] = faultsOf({ ...everythingIn(folder), [name]: secret });
      expect([name, others]).toEqual([name, []]);
      expect(first ?? '').not.toContain('hunter2');
    }
  for (const secret of ['hunter2', 'hunter2/hunter2'])
    for (const member of ['keyFile', 'keyEnv']) {
      const path = folder.write('wrong.json', { acme: { [member]: secret } });
      const [fault] = faultsOf({ ...everythingIn(folder), UPSTREAM_KEYS: path });
      expect(fault).toMatch(new RegExp(`^UPSTREAM_KEYS: .*acme\\.${member}: expected `));
      expect(fault).not.toContain('hunter2');
    }
});

test('with AUTH=jwt alone all that it needs is told at once', () => {
  const needed = [
    ['JWT_JWKS', 'an https URL (http on loopback only), or the path of a JSON Web Key Set'],
    ['JWT_ISSUER', 'exactly the `iss` of the tokens'],
    ['JWT_AUDIENCE', 'a value in the `aud` of every token'],
    ['UPSTREAM_KEYS', 'the path of a JSON file'],
    ['CURSOR_SECRET', 'a secret that cannot be guessed, of at least 16 characters'],
  ];
  expect(faultsOf({ AUTH: 'jwt' })).toEqual([
    ...needed.map(([name, expected]) => `${name}: expected ${expected}, because AUTH is jwt, but it is not set`),
    expect.stringMatching(/^PERSISTED_DOCUMENTS: /),
  ]);
});

test.each([
  [{ PERSISTED_DOCUMENTS_MODE: 'only' }, {}, 'only (set in the environment)'],
  [{}, { PERSISTED_DOCUMENTS_MODE: 'log' }, 'log (set in .env)'],
  [{ PERSISTED_DOCUMENTS_MODE: 'only' }, { PERSISTED_DOCUMENTS_MODE: 'log' }, 'only (set in the environment)'],
  [{ AUTH: 'jwt' }, {}, 'only (its default with AUTH=jwt)'],
])('with %j and a file with %j the need of a manifest says where the mode came from', (environment, file, origin) => {
  expect(faultsOf(environment, file)).toContain(
    `PERSISTED_DOCUMENTS: expected ${settings['PERSISTED_DOCUMENTS']?.expected}, because PERSISTED_DOCUMENTS_MODE is ${origin}, but it is not set`,
  );
});

test('a file with the token of operators holds one word, and is no use without METRICS_PORT', () => {
  using folder = createFolder();
  const right = everythingIn(folder);
  const ADMIN_TOKEN_FILE = folder.write('words', 'one two three four five six seven eight');
  const [words = ''] = faultsOf({ ...right, ADMIN_TOKEN_FILE });
  expect(words).toMatch(/^ADMIN_TOKEN_FILE: .*the token in the file has blanks/);
  expect(words).not.toContain('seven');
  expect(faultsOf(without('METRICS_PORT', right))).toEqual([
    'METRICS_PORT: expected a whole number from 1 to 65535, because ADMIN_TOKEN_FILE is set, but it is not set',
  ]);
});

test('a value that the file .env sets is told as such', () => {
  expect(faultsOf({}, { PORT: 'many' })).toEqual([
    'PORT: expected a whole number from 0 to 65535, but got "many" (in .env)',
  ]);
});

test('what is wrong with each tenant is told', () => {
  using folder = createFolder();
  const path = folder.write('wrong.json', { acme: { key: '' }, globex: { key: 'k', project: [] }, own: { key: 'k' } });
  expect(faultsOf({ ...everythingIn(folder), UPSTREAM_KEYS: path })).toEqual([
    `UPSTREAM_KEYS: ${path}: acme.key: expected a text, but got an empty one`,
    expect.stringContaining(`UPSTREAM_KEYS: ${path}: globex.project: expected one of the members`),
  ]);
});

test('roles need a claim that names them', () => {
  using folder = createFolder();
  const entries = { acme: { key: 'k', roles: { viewer: {} } }, globex: { key: 'k' } };
  const UPSTREAM_KEYS = folder.write('roles.json', entries);
  const expected = 'expected JWT_ROLES_CLAIM to be set, because tokens name roles in that claim';
  expect(faultsOf({ ...everythingIn(folder), UPSTREAM_KEYS, JWT_ROLES_CLAIM: undefined })).toEqual([
    `UPSTREAM_KEYS: ${UPSTREAM_KEYS}: acme.roles: ${expected}`,
  ]);
  expect(faultsOf({ ...everythingIn(folder), UPSTREAM_KEYS, JWT_ROLES_CLAIM: 'realm_access.roles' })).toEqual([]);
});

test('commands read no settings of tokens, Redis or listed documents', () => {
  const idle = { AUTH: 'jwt', REDIS_CA: '/nowhere', PERSISTED_DOCUMENTS_MODE: 'only', UPSTREAM_KEYS: '/nowhere' };
  expect(readPlainConfig(createReader({ ...idle, MAX_PAGE_SIZE: '7' }))).toMatchObject({ maxPageSize: 7 });
  expect(() => readPlainConfig(createReader({ ...idle, MAX_PAGE_SIZE: 'many' }))).toThrow(/^MAX_PAGE_SIZE: [^;]*$/);
});
