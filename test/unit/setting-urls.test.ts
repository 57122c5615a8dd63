import { expect, test } from 'vitest';
import { ConfigError } from '../../src/config-error.ts';
import { readConfig } from '../../src/settings/config.ts';
import { createFolder, type Folder } from '../support/persisted.ts';

/** Ways to write a host behind a scheme, and if they lead to this machine; undefined for what is no host alone. */
const hosts: readonly (readonly [text: string, isLoopback: boolean | undefined])[] = [
  ['127.0.0.1', true],
  ['127.1', true],
  ['0x7f000001', true],
  ['2130706433', true],
  ['[::1]', true],
  ['[0:0:0:0:0:0:0:1]', true],
  ['[::ffff:127.0.0.1]', true],
  ['localhost', true],
  ['localhost.', true],
  ['LOCALHOST', true],
  ['127.0.0.1.evil.example', false],
  ['127.evil.example', false],
  ['localhost.evil.example', false],
  ['evil.localhost.example', false],
  ['0.0.0.0', false],
  ['[::2]', false],
  ['127.0.0.1@evil.example', undefined],
  ['localhost:hunter2@evil.example', undefined],
  ['user:hunter2@127.0.0.1', undefined],
  ['user:123,hunter2@evil.example', undefined],
  ['evil.example#127.0.0.1', undefined],
];

/** Every setting that takes a URL: a scheme that it takes without TLS, and what it is set beside. */
const settings = [
  ['UPSTREAM_URL', 'http', {}],
  ['HTTP_PROXY', 'http', { UPSTREAM_URL: 'http://api.example' }],
  ['HTTPS_PROXY', 'http', {}],
  ['http_proxy', 'http', {}],
  ['https_proxy', 'http', {}],
  ['ALL_PROXY', 'http', { UPSTREAM_URL: 'http://api.example' }],
  ['all_proxy', 'http', { UPSTREAM_URL: 'http://api.example' }],
  ['REDIS_URL', 'redis', {}],
  ['REDIS_URL', 'redis+cluster', {}],
  ['CORS_ORIGINS', 'http', {}],
  ['JWT_JWKS', 'http', {}],
  ['PERSISTED_DOCUMENTS', 'http', {}],
  ['PUBLIC_URL', 'http', {}],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http', {}],
  ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'http', {}],
] as const;

/** Settings whose URL may have a user and a password. */
const withCredentials = /PROXY$|^REDIS_URL$|^OTEL_/i;

/** Settings that name what only its owner may change on the way. */
const withoutHttp = /^JWT_JWKS$|^PERSISTED_DOCUMENTS$/;

function tokensIn(folder: Folder): Readonly<Record<string, string>> {
  return {
    AUTH: 'jwt',
    JWT_ISSUER: 'https://issuer.test/',
    JWT_AUDIENCE: 'gateway',
    CURSOR_SECRET: '0123456789abcdef',
    UPSTREAM_KEYS: folder.write('keys.json', { acme: { key: 'phx_acme' } }),
    PERSISTED_DOCUMENTS_MODE: 'allow',
  };
}

/** The refusal of a setting's value; undefined if the value is taken. */
function refusalOf(name: string, value: string, beside: object): string | undefined {
  using folder = createFolder();
  try {
    readConfig({ ...(name === 'JWT_JWKS' && tokensIn(folder)), ...beside, [name]: value });
    return undefined;
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
}

/** True if a setting must refuse a URL with this host. */
function mustRefuse(name: string, host: string, isLoopback: boolean | undefined): boolean {
  // A browser sends an origin in one form, so that others could never be met.
  if (name === 'CORS_ORIGINS') return isLoopback === undefined || URL.parse(`http://${host}`)?.host !== host;
  if (isLoopback === undefined) return host.includes('#') || !withCredentials.test(name);
  return withoutHttp.test(name) && !isLoopback;
}

test.each(settings)('%s takes a host by what it is, and never shows a password', (name, scheme, beside) => {
  for (const [host, isLoopback] of hosts) {
    const refusal = refusalOf(name, `${scheme}://${host}`, beside);
    expect([host, refusal !== undefined]).toEqual([host, mustRefuse(name, host, isLoopback)]);
    expect(refusal ?? '').not.toMatch(/hunter2|user:123/);
  }
});

test('a password that a slash or a question mark cuts is refused, for what stands before is no host', () => {
  for (const [name, scheme, beside] of settings.filter(([one]) => withCredentials.test(one)))
    for (const cut of ['/', '?']) {
      const refusal = refusalOf(name, `${scheme}://user:123${cut}hunter2@evil.example`, beside);
      expect(refusal).toMatch(new RegExp(`^${name}: expected `));
      expect(refusal).not.toMatch(/123|hunter2/);
    }
});

test.each(settings)('%s refuses another scheme without showing its password', (name, _scheme, beside) => {
  for (const foreign of ['ftp', 'gopher', 'socks5']) {
    const value = `${foreign}://user:hunter2@a.example`;
    const refusal = refusalOf(name, value, beside);
    expect(refusal).toMatch(new RegExp(`^${name}: expected `));
    expect(refusal).not.toContain('hunter2');
  }
});

test('a collector over gRPC needs no scheme, and one that nothing is sent to may be anything', () => {
  const name = 'OTEL_EXPORTER_OTLP_ENDPOINT';
  expect(refusalOf(name, 'collector.example:4317', { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })).toBe(undefined);
  expect(refusalOf(name, 'collector.example:4317', { OTEL_SDK_DISABLED: 'true' })).toBe(undefined);
  expect(refusalOf(name, 'user:hunter2@collector.example:4318', {})).toBe(
    `${name}: expected an absolute http or https URL such as http://collector.example.com:4318, but got something without a scheme`,
  );
});

test('a key set over http on another host is refused with the reason', () => {
  expect(refusalOf('JWT_JWKS', 'http://127.0.0.1.evil.example/jwks', {})).toBe(
    'JWT_JWKS: expected an https URL (http on loopback only), or the path of a JSON Web Key Set, but got http://127.0.0.1.evil.example: http is accepted only for 127.0.0.0/8, [::1] and localhost',
  );
});
