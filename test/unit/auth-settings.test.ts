import { expect, test } from 'vitest';
import { readTenants } from '../../src/auth/tenants-file.ts';
import { readConfig, tenantsSourceOf } from '../../src/settings/config.ts';
import { createFolder, type Folder } from '../support/persisted.ts';

const key = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo', kid: '1' };

/** An environment in which everything is set that tokens need. */
function environmentIn(folder: Folder): Readonly<Record<string, string>> {
  return {
    AUTH: 'jwt',
    JWT_JWKS: folder.write('jwks.json', { keys: [key] }),
    JWT_ISSUER: 'https://issuer.test/',
    JWT_AUDIENCE: 'gateway',
    UPSTREAM_KEYS: folder.write('keys.json', { acme: { keyEnv: 'ACME_KEY', projects: ['1'] } }),
    ACME_KEY: 'phx_acme',
    CURSOR_SECRET: '0123456789abcdef',
    PERSISTED_DOCUMENTS: folder.write('listed.graphql', '{ __typename }'),
  };
}

test('callers bring their own key unless tokens are asked for', () => {
  expect(readConfig({})).toMatchObject({ auth: undefined, persisted: { mode: 'allow' } });
});

test('with tokens the keys are read from the file, and only listed documents are run', () => {
  using folder = createFolder();
  const environment = { ...environmentIn(folder), JWT_TENANT_CLAIM: 'org' };
  const config = readConfig(environment);
  expect(config.auth).toMatchObject({
    rules: { issuer: 'https://issuer.test/', audience: 'gateway', tenantClaim: 'org' },
  });
  const read = config.auth && readTenants(tenantsSourceOf(config.auth, environment));
  expect(read?.tenants.get('acme')?.key).toBe('phx_acme');
  expect([config.persisted.mode, config.introspection, config.warnings]).toEqual(['only', false, []]);
});

test.each(['https://issuer.test/keys', 'http://127.0.0.1:9000/keys', 'http://localhost/keys'])(
  'a key set at %s is taken, and fetched through the proxy that is configured',
  (source) => {
    using folder = createFolder();
    const proxies = { HTTPS_PROXY: 'http://proxy.test:3128', NO_PROXY: 'localhost,127.0.0.1' };
    const { auth } = readConfig({ ...environmentIn(folder), ...proxies, JWT_JWKS: source });
    expect(auth).toMatchObject({
      keySet: source,
      route: source.startsWith('https:') ? { proxy: 'http://proxy.test:3128/' } : {},
    });
  },
);

test('settings of tokens without tokens are warnings, and so is a mode that runs any document', () => {
  using folder = createFolder();
  const environment = environmentIn(folder);
  expect(readConfig({ ...environment, AUTH: 'forward' }).warnings).toEqual(
    ['JWT_JWKS', 'JWT_ISSUER', 'JWT_AUDIENCE', 'UPSTREAM_KEYS'].map(
      (name) => `${name}: it is ignored, because AUTH is not jwt`,
    ),
  );
  const open = readConfig({ ...environment, PERSISTED_DOCUMENTS_MODE: 'allow' });
  expect([open.persisted.mode, open.warnings]).toEqual([
    'allow',
    [
      'PERSISTED_DOCUMENTS_MODE: expected the mode "only" with AUTH=jwt, but it is allow: any user may run any document',
    ],
  ]);
});
