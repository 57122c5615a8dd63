import { availableParallelism } from 'node:os';
import { expect, test } from 'vitest';
import { ConfigError } from '../../src/config-error.ts';
import { cursorSecretOf, readConfig } from '../../src/settings/config.ts';
import { settings } from '../../src/settings/declaration.ts';
import { currentRoute } from '../../src/settings/route.ts';
import { createFolder } from '../support/persisted.ts';
import { authority, authorityPath, expiredTls } from '../support/tls.ts';

const upstream = { UPSTREAM_URL: 'https://api.example.com', CURSOR_SECRET: '0123456789abcdef' };

test('without an environment every setting has its documented default', () => {
  const config = readConfig({});
  expect(config).toMatchObject({
    port: 4000,
    host: '127.0.0.1',
    upstreamUrl: undefined,
    operationDeadlineMs: 8000,
    maxPageSize: 100,
    logLevel: 'info',
    introspection: true,
    graphiql: true,
    corsOrigins: [],
  });
  expect(Object.isFrozen(config)).toBe(true);
  const unreadable = Object.values(settings).filter(
    ({ fallback, read }) => fallback !== undefined && read(fallback) === undefined,
  );
  expect(unreadable).toEqual([]);
});

test('in production introspection and GraphiQL are off unless they are asked for', () => {
  const production = { NODE_ENV: 'production', UPSTREAM_URL: 'embedded' };
  expect(readConfig(production)).toMatchObject({ introspection: false, graphiql: false });
  const asked = readConfig({ ...production, INTROSPECTION: 'on', GRAPHIQL: 'on' });
  expect(asked).toMatchObject({ introspection: true, graphiql: true });
});

test('introspection is off unless it is asked for if only listed documents may run; automatic ones are left to the mode', () => {
  const only = { PERSISTED_DOCUMENTS_MODE: 'only', PERSISTED_DOCUMENTS: 'examples/operations/manifest.json' };
  const persisted = { mode: 'only', automatic: undefined, strict: false, getMaxAge: 0 };
  expect(readConfig(only)).toMatchObject({ introspection: false, persisted });
  const asked = readConfig({ ...only, INTROSPECTION: 'on', APQ: 'on' });
  expect(asked).toMatchObject({ introspection: true, persisted: { ...persisted, automatic: true } });
  expect(readConfig({})).toMatchObject({ introspection: true, persisted: { mode: 'allow', files: undefined } });
});

test('the seconds that answers are kept are read by noun, and only once for each', () => {
  expect(readConfig({}).cache).toBeUndefined();
  expect(readConfig({ CACHE_TTL: ' projects=60  values=5', CACHE_MAX_MB: '1' }).cache).toEqual({
    ttls: { projects: 60, values: 5 },
    staleSeconds: 600,
    maxBytes: 2 ** 20,
  });
});

test.each([
  ['projects', 'projects needs = and a number of seconds'],
  ['projects=', 'projects has "", which is not a number of seconds from 1 to 86400'],
  ['projects=0', 'projects has "0", which is not a number of seconds from 1 to 86400'],
  ['projects=1.5', 'projects has "1.5", which is not a number of seconds from 1 to 86400'],
  ['projects=60,events=5', 'projects has "60,events=5", which is not a number of seconds from 1 to 86400'],
  ['events=86401', 'events has "86401", which is not a number of seconds from 1 to 86400'],
  ['project=60 events=5', 'there is no kind called "project"'],
  ['projects = 60', 'projects needs = and a number of seconds'],
  ['projects=1 projects=2', 'projects is given twice'],
  [' ', 'there is no kind called ""'],
])('the lifetimes %j are refused with a message that says what is wrong', (value, fault) => {
  const { expected } = settings['CACHE_TTL'] ?? {};
  expect(() => readConfig({ CACHE_TTL: value })).toThrow(
    new ConfigError(`CACHE_TTL: expected ${expected}, but got ${JSON.stringify(value)}: ${fault}`),
  );
});

test('settings are read from their text', () => {
  const config = readConfig({
    PORT: '0',
    UPSTREAM_URL: 'https://example.com/prefix/',
    CORS_ORIGINS: 'https://a.example, https://b.example:8443',
    CORS_HEADERS: 'X-Team, x-app',
    WORKSPACE_ERROR_RATE: '0.25',
    WORKSPACE_PAGE_CAP: '7',
    MAX_DEPTH: '3',
    CURSOR_SECRET: '',
  });
  expect(config).toMatchObject({
    port: 0,
    upstreamUrl: 'https://example.com/prefix',
    corsOrigins: ['https://a.example', 'https://b.example:8443'],
    corsHeaders: ['x-team', 'x-app'],
    workspace: { errorRate: 0.25, pageCap: 7, latencyMs: 0 },
    documentLimits: { depth: 3, aliases: 30 },
    cursorSecret: undefined,
  });
});

test.each(['https://Example.com', 'https://example.com/', 'https://example.com:443', 'https://example.com//?'])(
  '%s is the same upstream however it is spelt, for all that gateways share of it',
  (value) => {
    expect(readConfig({ UPSTREAM_URL: value }).upstreamUrl).toBe('https://example.com');
  },
);

test('UPSTREAM_URL=embedded is the embedded workspace, in any environment', () => {
  const config = readConfig({ UPSTREAM_URL: 'embedded', HTTP_PROXY: 'http://proxy.example.com:3128' });
  expect(config).toEqual(readConfig({ HTTP_PROXY: 'http://proxy.example.com:3128' }));
  expect(readConfig({ NODE_ENV: 'production', UPSTREAM_URL: 'embedded' }).upstreamUrl).toBeUndefined();
});

test.each([
  ['PORT', '-1'],
  ['PORT', '70000'],
  ['WORKERS', '0'],
  ['WORKERS', 'all'],
  ['PORT', '4000x'],
  ['MAX_PAGE_SIZE', '0'],
  ['MAX_PAGE_SIZE', '1e2'],
  ['OPERATION_DEADLINE_MS', '0'],
  ['LOG_LEVEL', 'INFO'],
  ['INTROSPECTION', 'true'],
  ['CORS_ORIGINS', '*'],
  ['CORS_ORIGINS', 'https://a.example/'],
  ['CORS_ORIGINS', 'https://a.example/path'],
  ['CORS_HEADERS', '*'],
  ['CORS_HEADERS', 'x-team,,x-app'],
  ['WORKSPACE_ERROR_RATE', '-0.1'],
  ['WORKSPACE_ERROR_RATE', '2'],
  ['GRAPHIQL', 'yes'],
] as const)(
  '%s=%s is refused with a message that names the variable, what is expected and what is there',
  (name, value) => {
    const read = (): unknown => readConfig({ [name]: value });
    expect(read).toThrow(new ConfigError(`${name}: expected ${settings[name]?.expected}, but got "${value}"`));
  },
);

test('a secret of cursors that can be guessed is refused, and none is a warning if there is something to guard', () => {
  const { UPSTREAM_URL } = upstream;
  const start = 'CURSOR_SECRET: expected a secret that cannot be guessed, of at least 16 characters, but it ';
  expect(readConfig({ UPSTREAM_URL }).warnings).toEqual([
    `${start}is not set, so cursors are signed with a secret that is made from UPSTREAM_URL`,
  ]);
  expect(() => readConfig({ CURSOR_SECRET: 'abc' })).toThrow(new ConfigError(`${start}has 3 characters`));
  expect(readConfig(upstream).warnings).toEqual([]);
  expect(readConfig({}).warnings).toEqual([]);
});

test.each(['MAX_PAGESIZE', 'UPSTREAM_URLS', 'UPSTREAM_URI', 'UPSTREAM_ULR', 'LOG_LEVLE', 'CURSOR_SECRTE'])(
  '%s is taken for a mistake',
  (name) => {
    expect(() => readConfig({ [name]: '1' })).toThrow(/there is no such setting; expected [A-Z_]+/);
  },
);

test("a name that may be another program's, or stands beside the right one, is a warning", () => {
  const [warning, ...others] = readConfig({ REDIS_URI: 'redis://elsewhere', LOG_LEVEL: 'warn' }).warnings;
  expect(warning).toBe('REDIS_URI: there is no such setting, so it is ignored; the gateway has a setting REDIS_URL');
  expect(others).toEqual([]);
  expect(readConfig({ LOGLEVEL: 'debug', LOG_LEVEL: 'warn' }).warnings).toHaveLength(1);
});

test.each([
  ['WORKSPACE_ID', 'WORKSPACE_DB'],
  ['WORKSPACE_DIR', 'WORKSPACE_DB'],
  ['WORKSPACE_ROOT', 'WORKSPACE_PORT'],
  ['WORKSPACE_HOST', 'WORKSPACE_PORT'],
  ['REDIS_UID', 'REDIS_URL'],
  ['LOGLEVEL', 'LOG_LEVEL'],
  ['CORS_ORIGIN', 'CORS_ORIGINS'],
  ['GRAPHQL', 'GRAPHIQL'],
])('%s may be inherited from elsewhere: it is a warning that names %s', (name, meant) => {
  const warning = `${name}: there is no such setting, so it is ignored; the gateway has a setting ${meant}`;
  expect(readConfig({ [name]: 'x' }).warnings).toEqual([warning]);
});

test('what a container inherits, and what other programs read, neither stops the start nor is warned of', () => {
  const names = ['APP_PORT', 'REDIS_PORT', 'REDIS_HOST', 'REDIS_PASSWORD', 'REDIS_SERVICE_PORT', 'POD_NAME', 'POD_IP'];
  const links = [
    'GATEWAY_PORT',
    'GATEWAY_SERVICE_HOST',
    'METRICS_PORT',
    'WORKSPACE_PORT',
    'KUBERNETES_PORT',
    'LOG_FORMAT',
  ];
  const others = ['HOSTNAME', 'NODE_ENV', 'NODE_OPTIONS', 'CI', 'DATABASE_URL', 'MAX_MEMORY', 'LANG', 'HTTP_PORT'];
  const alike = ['WORKSPACE', 'PATH', 'POST', 'npm_config_yes', 'FTP_PROXY', 'GOPROXY', 'ALL_PROXY', 'no_proxy'];
  for (const name of [...names, ...links, ...others, ...alike])
    expect([name, readConfig({ [name]: 'tcp://10.0.0.1:80' }).warnings]).toEqual([name, []]);
});

test('the link that Kubernetes makes of a service called `metrics` does not hide the METRICS_PORT of a file', () => {
  const file = { values: { METRICS_PORT: '9464' }, faults: [] };
  expect(readConfig({ METRICS_PORT: 'tcp://10.0.0.1:80' }, file).metricsPort).toBe(9464);
});

test('cursors of one upstream have one secret on every replica, unless one is given', () => {
  expect(cursorSecretOf(undefined, 'https://a.example')).toBe(cursorSecretOf(undefined, 'https://a.example'));
  expect(cursorSecretOf(undefined, 'https://a.example')).not.toBe(cursorSecretOf(undefined, 'https://b.example'));
  expect(cursorSecretOf('given', 'https://a.example')).toBe('given');
});

test.each([
  [{ HTTPS_PROXY: 'http://proxy.example:3128' }, 'http://proxy.example:3128/'],
  [{ https_proxy: 'proxy.example:3128' }, 'http://proxy.example:3128/'],
  [{ HTTPS_PROXY: 'http://capitals.example', https_proxy: 'http://small.example' }, 'http://small.example/'],
  [{ HTTPS_PROXY: 'https://user:p%40ss@proxy.example' }, 'https://user:p%40ss@proxy.example/'],
  [{ HTTPS_PROXY: 'http://capitals.example', https_proxy: '' }, 'http://capitals.example/'],
  [{ HTTP_PROXY: 'http://proxy.example:3128' }, undefined],
  [{ ALL_PROXY: 'http://proxy.example:3128' }, 'http://proxy.example:3128/'],
  [{ all_proxy: 'http://all.example', HTTPS_PROXY: 'http://own.example' }, 'http://own.example/'],
  [{ all_proxy: 'socks5://all.example', HTTPS_PROXY: 'http://own.example' }, 'http://own.example/'],
  [{ ALL_PROXY: 'http://all.example', https_proxy: '' }, 'http://all.example/'],
  [{ HTTPS_PROXY: '', https_proxy: '', ALL_PROXY: '', all_proxy: '' }, undefined],
  [{ HTTPS_PROXY: 'http://proxy.example', NO_PROXY: 'api.example.com', no_proxy: '' }, undefined],
  [
    { HTTPS_PROXY: 'http://proxy.example', NO_PROXY: 'api.example.com', no_proxy: 'other.example' },
    'http://proxy.example/',
  ],
  [{}, undefined],
])('with %j the proxy to an https upstream is %s', (environment, url) => {
  const { upstreamRoute } = readConfig({ UPSTREAM_URL: 'https://api.example.com', ...environment });
  expect(upstreamRoute.proxy).toBe(url);
});

test('the embedded workspace has no proxy', () => {
  expect(readConfig({ http_proxy: 'proxy.example' }).upstreamRoute.proxy).toBeUndefined();
});

test.each([
  ['http://api.example.com', '*', true],
  ['http://api.example.com', 'other.example, API.example.com', true],
  ['http://api.example.com', 'example.com', true],
  ['http://api.example.com', '.example.com', true],
  ['http://api.example.com.', 'example.com', true],
  ['http://notexample.com', 'example.com', false],
  ['http://api.example.com:8080', 'api.example.com:8080', true],
  ['http://api.example.com', 'api.example.com:80', true],
  ['https://api.example.com', 'api.example.com:80', false],
  ['http://10.1.2.3', '10.1.2.3', true],
  ['http://10.1.2.3:81', '10.1.2.3:82', false],
  ['http://10.1.2.3', '192.168.0.0/16 10.0.0.0/8', true],
  ['http://11.1.2.3', '10.0.0.0/8', false],
  ['http://10.1.2.3', '10.0.0.0/33', false],
  ['http://10.1.2.3', '2.3', false],
  ['http://[fd00::1]', 'fd00:0:0::1', true],
  ['http://[fd00::1]:81', '[fd00::1]:81', true],
  ['http://[fd00::1]', 'fd00::/8', true],
  ['http://[fe80::1]', 'fd00::/8', false],
  ['http://api.example.com', '', false],
])('%s with NO_PROXY=%s is reached without a proxy: %s', (url, noProxy, isWithout) => {
  const environment = { UPSTREAM_URL: url, http_proxy: 'http://p.example', https_proxy: 'http://p.example' };
  const { upstreamRoute } = readConfig({ ...environment, no_proxy: noProxy });
  expect(upstreamRoute.proxy).toBe(isWithout ? undefined : 'http://p.example/');
});

test.each([
  'ftp://user:secret@proxy.example',
  'http://',
  'socks5://secret@proxy.example',
  'http://%ff:secret@proxy.example',
])('the proxy %s is refused, whatever it holds unseen', (proxy) => {
  for (const name of ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy']) {
    const read = (): unknown => readConfig({ UPSTREAM_URL: 'http://a.example', [name]: proxy });
    expect(read).toThrow(new RegExp(`^${name}: expected a URL such as http://proxy.example.com:3128`));
    expect(read).not.toThrow(/secret/);
  }
});

test.each([
  ['ftp://example.com/path', 'ftp://example.com'],
  ['https://hunter2@example.com', 'https://example.com with a user'],
  ['https://user:hunter2@example.com:8443/api', 'https://example.com:8443 with a user, a password'],
  ['https://example.com/?key=hunter2', 'https://example.com with a query'],
  ['https://example.com/#hunter2', 'https://example.com with a fragment'],
  ['https://user:12/hunter2@example.com/?x', 'something else'],
  ['https://user:hunter2@', 'something else'],
  ['user:hunter2@example.com', 'something without a scheme'],
  ['hunter2', 'something without a scheme'],
  ['analytics.example.com', 'something without a scheme'],
  ['127.0.0.1:6379', 'something without a scheme'],
])('a refused UPSTREAM_URL %s is told as %s, without what may be secret', (value, shown) => {
  const expected = 'an absolute http or https URL without user, query or fragment, or embedded';
  const message = `UPSTREAM_URL: expected ${expected}, but got ${shown}`;
  expect(() => readConfig({ UPSTREAM_URL: value })).toThrow(new ConfigError(message));
});

test('UPSTREAM_CA holds the certificates of its file, and is refused if there are none', () => {
  expect(readConfig({ UPSTREAM_CA: authorityPath }).upstreamRoute.authorities).toBe(authority);
  for (const path of ['missing.pem', 'package.json', 'test', authorityPath.replace('authority', 'server-key')]) {
    const read = (): unknown => readConfig({ UPSTREAM_CA: path });
    expect(read).toThrow(`UPSTREAM_CA: expected the path of a PEM file with certificates, but got "${path}"`);
  }
});

test('the route to another server has the authorities that the file holds now, or the last that could be used', () => {
  using folder = createFolder();
  const UPSTREAM_CA = folder.write('ca.pem', authority);
  const route = currentRoute({ proxy: 'http://proxy.test' }, { UPSTREAM_CA });
  expect(route()).toEqual({ proxy: 'http://proxy.test', authorities: authority });
  folder.write('ca.pem', expiredTls.cert);
  expect(route().authorities).toBe(expiredTls.cert);
  folder.write('ca.pem', 'nonsense');
  expect(route().authorities).toBe(expiredTls.cert);
  expect(currentRoute({}, {})()).toEqual({});
});

test('WORKERS is a number of processes, or one for each core', () => {
  expect([readConfig({}).workers, readConfig({ WORKERS: '3' }).workers]).toEqual([1, 3]);
  expect(readConfig({ WORKERS: 'auto' }).workers).toBe(availableParallelism());
});

test('a budget has windows by surface, shortest first', () => {
  const { budget, warnings } = readConfig({ UPSTREAM_BUDGET: ' rest=4800/3600,480/60  events=240/60' });
  expect(budget).toEqual({
    windows: {
      rest: [
        { limit: 480, ms: 60_000 },
        { limit: 4800, ms: 3_600_000 },
      ],
      events: [{ limit: 240, ms: 60_000 }],
    },
    ...{ scope: 'key', share: 100, agentShare: 50, replicas: 1 },
  });
  expect(warnings).toEqual([]);
  expect(readConfig({}).budget).toBeUndefined();
});

test.each([
  ['rest', 'rest needs = and calls/seconds'],
  ['rest=1/60=2', 'rest has "1/60=2", which does not have the form calls/seconds'],
  ['REST=1/60', 'there is no surface called "REST"'],
  ['plugins=1/60', 'there is no surface called "plugins"'],
  ['rest=1/60 rest=2/60', 'rest is given twice'],
  ['rest=1/60,', 'rest has "", which does not have the form calls/seconds'],
  ['rest=1/min', 'rest has "1/min", which does not have the form calls/seconds'],
  ['rest=0/60', 'rest allows 0 calls, which is not from 1 to 1000000'],
  ['rest=1/0', 'rest has a window of 0 seconds, which is not from 1 to 86400'],
  ['rest=1/86401', 'rest has a window of 86401 seconds, which is not from 1 to 86400'],
  ['events=1/60,2/60', 'events has two windows of 60 seconds'],
])('the budget %s is refused with a message that says what is wrong', (value, fault) => {
  const { expected } = settings['UPSTREAM_BUDGET'] ?? {};
  expect(() => readConfig({ UPSTREAM_BUDGET: value })).toThrow(
    new ConfigError(`UPSTREAM_BUDGET: expected ${expected}, but got "${value}": ${fault}`),
  );
});

test('a budget that gateways share over Redis needs their number', () => {
  const shared = { UPSTREAM_BUDGET: 'rest=1/1', REDIS_URL: 'redis://127.0.0.1:1' };
  expect(() => readConfig(shared)).toThrow(
    new ConfigError(
      'UPSTREAM_BUDGET_REPLICAS: expected a whole number from 1 to 1000, because UPSTREAM_BUDGET and REDIS_URL are set, but it is not set',
    ),
  );
  expect(readConfig({ ...shared, UPSTREAM_BUDGET_REPLICAS: '3' }).budget).toMatchObject({ replicas: 3 });
});

/** Settings, and those among them that mean nothing, each with the reason. */
const idle: readonly (readonly [settings: Record<string, string>, reasons: Record<string, string>])[] = [
  [{ CACHE_TTL: 'events=5', CACHE_STALE: '5' }, {}],
  [
    { CACHE_STALE: '5', CACHE_MAX_MB: '1' },
    { CACHE_STALE: 'CACHE_TTL is not set', CACHE_MAX_MB: 'CACHE_TTL is not set' },
  ],
  [{ WORKSPACE_PORT: '0', WORKSPACE_LATENCY_MS: '5', UPSTREAM_URL: '' }, {}],
  [
    { WORKSPACE_PORT: '0', WORKSPACE_LATENCY_MS: '5', WORKSPACE_DB: '', ...upstream },
    { WORKSPACE_PORT: 'UPSTREAM_URL is set', WORKSPACE_LATENCY_MS: 'UPSTREAM_URL is set' },
  ],
  [{ UPSTREAM_BUDGET_SCOPE: 'all' }, { UPSTREAM_BUDGET_SCOPE: 'UPSTREAM_BUDGET is not set' }],
  [
    { UPSTREAM_BUDGET: 'rest=1/1', UPSTREAM_BUDGET_SHARE: '50' },
    { UPSTREAM_BUDGET_SHARE: 'AUTH is not jwt, so the gateway does not know users' },
  ],
  [
    { UPSTREAM_BUDGET: 'rest=1/1', UPSTREAM_BUDGET_REPLICAS: '3' },
    { UPSTREAM_BUDGET_REPLICAS: 'REDIS_URL is not set, so each gateway has the whole budget' },
  ],
  [{ REDIS_CA: authorityPath }, { REDIS_CA: 'REDIS_URL is not set' }],
  [{ REDIS_CA: authorityPath, REDIS_URL: 'redis://host' }, { REDIS_CA: 'REDIS_URL is not a rediss URL' }],
  [{ REDIS_CA: authorityPath, REDIS_URL: 'rediss://host' }, {}],
  [{ REDIS_CA: authorityPath, REDIS_URL: 'rediss+sentinel://host/main' }, {}],
  [{ REDIS_CA: authorityPath, REDIS_URL: 'rediss+cluster://host' }, {}],
  [{ REDIS_SENTINEL_PASSWORD: 'hunter2' }, { REDIS_SENTINEL_PASSWORD: 'REDIS_URL is not set' }],
  ...['redis://host', 'redis+cluster://host'].map(
    (REDIS_URL) =>
      [
        { REDIS_SENTINEL_PASSWORD: 'hunter2', REDIS_URL },
        { REDIS_SENTINEL_PASSWORD: 'REDIS_URL names no Sentinels' },
      ] as const,
  ),
  [{ REDIS_SENTINEL_PASSWORD: 'hunter2', REDIS_URL: 'redis+sentinel://host/main' }, {}],
];

test.each(idle)('of %j is warned what means nothing: %j', (given, reasons) => {
  expect(readConfig(given).warnings).toEqual(
    Object.entries(reasons).map(([name, reason]) => `${name}: it is ignored, because ${reason}`),
  );
});
