import { documentModes } from '../operation/persisted/resolve.ts';
import { cacheNouns } from '../rest/cache/freshness.ts';
import {
  fraction,
  headerNames,
  oneOf,
  onOff,
  seconds,
  secondsByNoun,
  secret,
  text,
  toolNames,
  whole,
  windows,
  workerCount,
} from './kinds.ts';
import { adminTokenIn, jsonTextIn, keyFile, keySet, manifests, pemFile, secretFile } from './setting-files.ts';
import { define, type Settings, showNothing } from './settings-reader.ts';
import { baseUrl, origins, proxyUrl, publicUrl, redisUrl } from './urls.ts';

/** Settings of the process: its ports, its workers and its upstream. */
const processSettings = {
  port: define(
    'PORT=4000',
    whole(0, 65_535),
    'Port that the gateway listens on. With 0, the system chooses a free port',
  ),
  metricsPort: define(
    'METRICS_PORT',
    whole(1, 65_535),
    'Port of `/metrics`, which needs no key. Required with ADMIN_TOKEN_FILE. Default: the value of PORT',
  ),
  adminTokenFile: define(
    'ADMIN_TOKEN_FILE',
    secretFile('the path of a file with a token of at least 32 ASCII characters', adminTokenIn),
    'File with the token for `/admin/usage` and `/admin/cache/purge` on METRICS_PORT. Default: both paths are off',
  ),
  host: define('HOST=127.0.0.1', text('an address or name of this machine'), 'Address to listen on'),
  workers: define('WORKERS=1', workerCount, 'Number of worker processes. `auto` starts one for each core'),
  upstreamUrl: define(
    'UPSTREAM_URL',
    baseUrl,
    'URL of the REST API. `embedded` starts a server with example data. Default: `embedded`, but required with NODE_ENV=production',
  ),
};

/** Settings of TLS to the upstream: the trusted authorities, and the gateway's client certificate. */
export const tlsSettings = {
  authorities: define(
    'UPSTREAM_CA',
    pemFile,
    'PEM file with additional certificate authorities to trust for the upstream',
  ),
  certificate: define(
    'UPSTREAM_CLIENT_CERT',
    pemFile,
    'PEM file with the client certificate for the upstream, followed by its intermediate certificates',
  ),
  key: define('UPSTREAM_CLIENT_KEY', keyFile, 'PEM file with the private key of UPSTREAM_CLIENT_CERT'),
};

/** The variables of proxies, which other programs also read. */
export const proxySettings = {
  https: define('HTTPS_PROXY', proxyUrl, 'Proxy to an https upstream'),
  http: define('HTTP_PROXY', proxyUrl, 'Proxy to an http upstream'),
  all: define('ALL_PROXY', proxyUrl, 'Proxy to the upstream, if neither HTTPS_PROXY nor HTTP_PROXY applies'),
  none: define(
    'NO_PROXY',
    text('names, addresses or CIDR blocks, separated by commas, or * for all'),
    'Hosts that are reached without a proxy',
  ),
};

export const authSettings = {
  auth: define(
    'AUTH=forward',
    oneOf('forward', 'jwt'),
    'What clients send: an API key of their own (forward), or a token of an identity provider (jwt)',
  ),
  keySet: define(
    'JWT_JWKS',
    keySet,
    'URL or file with the public keys of the identity provider. Required with AUTH=jwt',
  ),
  issuer: define('JWT_ISSUER', text('exactly the `iss` of the tokens'), 'Issuer of the tokens. Required with AUTH=jwt'),
  audience: define(
    'JWT_AUDIENCE',
    text('a value in the `aud` of every token'),
    'Audience of the tokens. Required with AUTH=jwt',
  ),
  tenantClaim: define('JWT_TENANT_CLAIM=tenant', text('the name of a claim'), 'Claim that names the tenant of a user'),
  rolesClaim: define(
    'JWT_ROLES_CLAIM',
    text('the name of a claim, or a path such as realm_access.roles'),
    'Claim that names the roles of a user. Required if UPSTREAM_KEYS has roles',
  ),
  tenants: define(
    'UPSTREAM_KEYS',
    secretFile('the path of a JSON file', jsonTextIn),
    'JSON file with the API key and the rights of each tenant. Required with AUTH=jwt',
  ),
};

/** Limits of what an operation may cost, and of the REST calls that a process has under way at a time. */
const costSettings = {
  operationDeadlineMs: define(
    'OPERATION_DEADLINE_MS=8000',
    whole(1, 600_000),
    'Maximum time of an operation in milliseconds, with all retries and waits',
  ),
  maxPageSize: define(
    'MAX_PAGE_SIZE=100',
    whole(1, 1000),
    'Maximum of `first` and `last`, and of the rows that one REST call asks for',
  ),
  maxUpstreamCalls: define(
    'MAX_UPSTREAM_CALLS=150',
    whole(1, 1_000_000),
    'Maximum number of REST calls of an operation',
  ),
  maxUpstreamRows: define(
    'MAX_UPSTREAM_ROWS=10000',
    whole(1, 100_000_000),
    'Maximum number of rows that an operation may ask for',
  ),
  maxAnswerObjects: define(
    'MAX_ANSWER_OBJECTS=50000',
    whole(1, 10_000_000),
    'Maximum number of JSON objects in an answer',
  ),
  maxAnswerBytes: define(
    'MAX_ANSWER_BYTES=16777216',
    whole(1024, 100_000_000),
    'Maximum size of the `data` of an answer, in bytes',
  ),
  upstreamConnections: define(
    'UPSTREAM_CONNECTIONS=512',
    whole(1, 10_000),
    'Maximum number of connections of a process to the upstream',
  ),
  maxUpstreamInFlight: define(
    'MAX_UPSTREAM_IN_FLIGHT=512',
    whole(1, 10_000),
    'Maximum number of REST calls that a process makes at the same time. Further calls wait',
  ),
};

export const budgetSettings = {
  windows: define(
    'UPSTREAM_BUDGET',
    windows,
    'Maximum number of REST calls of an API key in a span of time, for each surface (group of REST calls). Default: no limit',
  ),
  scope: define(
    'UPSTREAM_BUDGET_SCOPE=key',
    oneOf('key', 'all'),
    'What UPSTREAM_BUDGET limits: each API key (key), or all API keys together (all)',
  ),
  share: define(
    'UPSTREAM_BUDGET_SHARE=100',
    whole(1, 100),
    'Percent of the budget that one user may use, with AUTH=jwt',
  ),
  agentShare: define(
    'MCP_BUDGET_SHARE=50',
    whole(1, 100),
    'Percent of the budget that all agents of an API key may use together',
  ),
  replicas: define(
    'UPSTREAM_BUDGET_REPLICAS',
    whole(1, 1000),
    'Number of gateways that share the budget. While Redis is down, each uses an equal part. Required with UPSTREAM_BUDGET and REDIS_URL',
  ),
};

export const cacheSettings = {
  ttls: define(
    'CACHE_TTL',
    secondsByNoun(cacheNouns),
    'Seconds for which a cached answer is fresh, by kind of data. Default: no cache',
  ),
  staleSeconds: define(
    'CACHE_STALE=600',
    whole(0, 604_800),
    'Seconds after CACHE_TTL in which clients still get the old answer, while a new one is read',
  ),
  mebibytes: define('CACHE_MAX_MB=64', whole(1, 65_536), 'Maximum size of the cached answers in each process, in MiB'),
};

/**
 * The fewest characters of the secret that signs cursors: a shorter one can be found by trying. A client that can sign
 * cursors can ask for positions that no page returned.
 */
const shortestCursorSecret = 16;

/** The levels of the log; `silent` writes nothing. */
const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** Settings of the reports about operations, of cursors and of the log. */
const operationSettings = {
  explain: define(
    'EXPLAIN',
    onOff,
    'Lets clients ask which REST calls an operation makes. Default: on with UPSTREAM_URL=embedded, otherwise off',
  ),
  driftSampleRate: define(
    'DRIFT_SAMPLE_RATE=0.01',
    fraction,
    'Share of REST answers that are compared with the OpenAPI document. 0.01 is 1 %',
  ),
  cursorSecret: define(
    'CURSOR_SECRET',
    secret(shortestCursorSecret),
    'Secret that signs the cursors of pages. Required with AUTH=jwt. Default: made from UPSTREAM_URL',
  ),
  logLevel: define(
    'LOG_LEVEL=info',
    oneOf(...logLevels),
    'Lowest level that is logged: trace, debug, info, warn, error, fatal or silent',
  ),
  logStyle: define(
    'LOG_STYLE',
    oneOf('json', 'text'),
    'Format of log lines. Default: text at a terminal, otherwise JSON',
  ),
};

/** Settings of the edge: what it serves beside operations, to which clients, and in which form it answers. */
const edgeSettings = {
  graphiql: define('GRAPHIQL', onOff, 'Shows GraphiQL to browsers. Default: on, but off with NODE_ENV=production'),
  corsOrigins: define(
    'CORS_ORIGINS',
    origins,
    'Origins whose web pages may call the gateway, separated by commas. Default: the origin of the gateway',
  ),
  corsHeaders: define(
    'CORS_HEADERS',
    headerNames,
    'Additional headers that pages of CORS_ORIGINS may send, separated by commas. Headers of GraphQL clients and of tracing are always allowed',
  ),
  incremental: define('INCREMENTAL=on', onOff, 'Lets clients get slow fields later, with `@defer`'),
  compression: define('COMPRESSION=on', onOff, 'Compresses answers above 1 KB with br or gzip'),
  stopDelayMs: define(
    'STOP_DELAY_MS=500',
    whole(0, 60_000),
    'Milliseconds for which the gateway still accepts new requests after SIGTERM',
  ),
  introspection: define(
    'INTROSPECTION',
    onOff,
    'Lets clients read the schema. Default: on, but off with NODE_ENV=production or PERSISTED_DOCUMENTS_MODE=only',
  ),
  maxErrors: define(
    'MAX_ERRORS=100',
    whole(1, 100_000),
    'Maximum number of errors in an answer. One more error says how many others there are',
  ),
};

export const bodyLimits = {
  bytes: define('MAX_REQUEST_BYTES=1048576', whole(1024, 100_000_000), 'Maximum size of a request body, in bytes'),
  jsonDepth: define('MAX_JSON_DEPTH=100', whole(5, 500), 'Maximum nesting of a JSON body'),
};

export const documentLimits = {
  argumentBytes: define(
    'MAX_ARGUMENT_BYTES=16384',
    whole(256, 100_000_000),
    'Maximum size of the arguments of one field, in bytes. It does not apply to mutations',
  ),
  bytes: define('MAX_DOCUMENT_BYTES=131072', whole(1024, 100_000_000), 'Maximum size of a GraphQL document, in bytes'),
  tokens: define('MAX_TOKENS=2000', whole(10, 1_000_000), 'Maximum number of tokens in a document'),
  aliases: define('MAX_ALIASES=30', whole(0, 10_000), 'Maximum number of aliases in an operation'),
  rootFields: define('MAX_ROOT_FIELDS=20', whole(1, 10_000), 'Maximum number of fields at the root of an operation'),
  directives: define('MAX_DIRECTIVES=50', whole(0, 10_000), 'Maximum number of directives in an operation'),
  depth: define('MAX_DEPTH=14', whole(1, 1000), 'Maximum nesting of fields'),
  introspectionDepth: define(
    'MAX_INTROSPECTION_DEPTH=20',
    whole(1, 1000),
    'Maximum nesting of fields below `__schema` and `__type`',
  ),
  fragments: define('MAX_FRAGMENTS=50', whole(0, 10_000), 'Maximum number of fragments in a document'),
  operations: define('MAX_OPERATIONS=10', whole(1, 10_000), 'Maximum number of operations in a document'),
};

/** Settings of persisted documents: those in manifests, and those that clients register. */
export const persistedSettings = {
  files: define(
    'PERSISTED_DOCUMENTS',
    manifests,
    'Manifests: files with GraphQL documents and their ids, separated by commas. Required with PERSISTED_DOCUMENTS_MODE=log or only',
  ),
  tokenFile: define(
    'PERSISTED_DOCUMENTS_TOKEN_FILE',
    secretFile('the path of a file with a token'),
    'File with the bearer token for the URLs of PERSISTED_DOCUMENTS',
  ),
  mode: define(
    'PERSISTED_DOCUMENTS_MODE',
    oneOf(...documentModes),
    '`off` ignores manifests. `allow` runs all documents. `log` also runs all documents, and logs those that are in no manifest. `only` refuses such documents. Default: `only` with AUTH=jwt, otherwise `allow`',
  ),
  strict: define('PERSISTED_DOCUMENTS_STRICT=off', onOff, 'Stops the start if a document in a manifest is not valid'),
  getMaxAge: define(
    'PERSISTED_GET_MAX_AGE=0',
    whole(0, 31_536_000),
    'Seconds for which browsers may keep the answer of a GET request with a document id',
  ),
  automatic: define(
    'APQ',
    onOff,
    'Lets clients register documents by hash (automatic persisted queries). Default: on, but off with PERSISTED_DOCUMENTS_MODE=only',
  ),
};

export const redisSettings = {
  redisUrl: define(
    'REDIS_URL',
    redisUrl,
    'Redis in which gateways share budgets, the cache and registered documents. Default: none',
  ),
  redisAuthorities: define('REDIS_CA', pemFile, 'PEM file with additional certificate authorities to trust for Redis'),
  redisPasswordFile: define(
    'REDIS_PASSWORD_FILE',
    secretFile('the path of a file with a password'),
    'File with the password of Redis. It is read for each new connection',
  ),
  redisSentinelPassword: define(
    'REDIS_SENTINEL_PASSWORD',
    { ...text('a password'), shown: showNothing },
    'Password of the Sentinels',
  ),
};

export const mcpSettings = {
  tools: define(
    'MCP_TOOLS',
    toolNames,
    'Operations of the manifests that agents may use at `/mcp`, separated by commas. Default: none',
  ),
  publicUrl: define(
    'PUBLIC_URL',
    publicUrl,
    'URL at which clients reach the gateway. Required with MCP_TOOLS and AUTH=jwt',
  ),
};

export const liveSettings = {
  isOn: define('LIVE=off', onOff, 'Lets clients subscribe to new events'),
  pollMs: define('LIVE_POLL_SECONDS=10', seconds(2, 3600), 'Seconds between two reads of new events for subscriptions'),
  maxStreams: define('MAX_STREAMS=1000', whole(1, 100_000), 'Maximum number of open subscriptions in a process'),
  maxStreamsPerCaller: define(
    'MAX_STREAMS_PER_CALLER=20',
    whole(1, 100_000),
    'Maximum number of open subscriptions in a process for one key, or for one user of a tenant',
  ),
};

/** Settings of the embedded workspace, and of the faults that it can simulate for tests and demonstrations. */
export const workspaceSettings = {
  port: define(
    'WORKSPACE_PORT=4001',
    whole(0, 65_535),
    'Port of the embedded workspace. With 0, the system chooses a free port',
  ),
  database: define('WORKSPACE_DB', text('a path'), 'File with the data of the workspace. Default: memory only'),
  latencyMs: define('WORKSPACE_LATENCY_MS=0', whole(0, 60_000), 'Milliseconds by which the workspace delays answers'),
  errorRate: define('WORKSPACE_ERROR_RATE=0', fraction, 'Share of requests that the workspace answers with 503'),
  pageCap: define('WORKSPACE_PAGE_CAP', whole(1, 10_000), 'Maximum number of rows in a page of the workspace'),
  rates: define(
    'WORKSPACE_RATES',
    windows,
    'Maximum number of requests of a key to the workspace in a span of time, for each surface. Default: no limit',
  ),
  eventsPerMinute: define(
    'WORKSPACE_EVENTS_PER_MINUTE=0',
    whole(0, 600),
    'Number of events that each example project captures in a minute',
  ),
  eventsNext: define(
    'WORKSPACE_EVENTS_NEXT=offset',
    oneOf('offset', 'before'),
    'Query parameter in the `next` link of a page of events. The hosted service uses `before`',
  ),
  dialect: define(
    'WORKSPACE_DIALECT=document',
    oneOf('document', '2024', '2026'),
    'Form of the answers of the workspace: as in the OpenAPI document (document), or as the hosted service sent them in 2024 or 2026',
  ),
};

export const driftSettings = {
  driftKeyFile: define(
    'DRIFT_KEY_FILE',
    secretFile('the path of a file with an API key'),
    'File with the API key that the command drift uses',
  ),
};

/**
 * The settings that depend on no other setting, by their names in the configuration. Times are in milliseconds. Sizes
 * are in rows or bytes.
 */
export const plainSettings = { ...processSettings, ...costSettings, ...operationSettings, ...edgeSettings };

/** Every setting, by the name of its variable, in the order in which `--help` shows them. */
export const settings: Settings = Object.fromEntries(
  [
    processSettings,
    tlsSettings,
    proxySettings,
    authSettings,
    costSettings,
    budgetSettings,
    cacheSettings,
    operationSettings,
    edgeSettings,
    bodyLimits,
    documentLimits,
    persistedSettings,
    redisSettings,
    mcpSettings,
    liveSettings,
    workspaceSettings,
    driftSettings,
  ].flatMap((group: Settings) => Object.values(group).map((one) => [one.name, one])),
);
