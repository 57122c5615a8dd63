import { authSettings } from './auth-settings.ts';
import { budgetSettings, windows } from './budget-settings.ts';
import { cacheSettings } from './cache-settings.ts';
import { cursorSecret } from './cursor-secret.ts';
import { mcpSettings } from './mcp-settings.ts';
import { persistedSettings } from './persisted-settings.ts';
import { optional, required, type Setting, settingsIn } from './reader.ts';
import { routeSettings } from './route-settings.ts';
import { adminTokenIn, secretFile } from './setting-files.ts';
import { fraction, headerNames, oneOf, onOff, seconds, text, whole, workerCount } from './settings.ts';
import { baseUrl, origins } from './urls.ts';

/** Settings of the process: its ports, its workers and its upstream. */
const processSettings = {
  port: required('PORT', whole('Port that the gateway listens on. 0 takes a free port', '4000', 0, 65_535)),
  metricsPort: optional(
    'METRICS_PORT',
    whole('Port of `/metrics`, which needs no key. Default: the value of PORT', undefined, 1, 65_535),
  ),
  adminTokenFile: optional(
    'ADMIN_TOKEN_FILE',
    secretFile(
      'File with the token for `/admin/usage` and `/admin/cache/purge` on METRICS_PORT. Default: no such paths',
      'the path of a file with a token of at least 32 ASCII characters',
      adminTokenIn,
    ),
  ),
  host: required('HOST', text('Address to listen on', '127.0.0.1', 'an address or name of this machine')),
  workers: required('WORKERS', workerCount('Number of worker processes. `auto` starts one for each core', '1')),
  upstreamUrl: optional(
    'UPSTREAM_URL',
    baseUrl(
      'URL of the REST API. `embedded` starts a server with example data. Default: `embedded`, none with NODE_ENV=production',
    ),
  ),
};

/** The levels of the log; `silent` writes nothing. */
const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** Settings of the reporting about operations. */
const operationSettings = {
  explain: optional(
    'EXPLAIN',
    onOff(
      'Lets clients ask which REST calls an operation makes. Default: on with UPSTREAM_URL=embedded, else off',
      undefined,
    ),
  ),
  driftSampleRate: required(
    'DRIFT_SAMPLE_RATE',
    fraction('Share of operations whose REST answers are compared with the OpenAPI document. 0.01 is 1 %', '0.01'),
  ),
  cursorSecret,
  logLevel: required('LOG_LEVEL', oneOf('Lowest level of the lines that are logged', 'info', logLevels)),
  logStyle: optional(
    'LOG_STYLE',
    oneOf('Format of log lines. Default: text at a terminal, else JSON', undefined, ['json', 'text']),
  ),
};

/** Settings of subscriptions. */
const liveSettings = {
  isOn: required('LIVE', onOff('Lets clients subscribe to new events', 'off')),
  pollMs: required(
    'LIVE_POLL_SECONDS',
    seconds('Seconds between two reads of new events for subscriptions', '10', 2, 3600),
  ),
  maxStreams: required('MAX_STREAMS', whole('Most open subscriptions of a process', '1000', 1, 100_000)),
  maxStreamsPerCaller: required(
    'MAX_STREAMS_PER_CALLER',
    whole('Most open subscriptions of a process for one key, or for one user of a tenant', '20', 1, 100_000),
  ),
};

/** Limits of the cost of an operation, and of the work that is under way to the upstream. */
const costSettings = {
  operationDeadlineMs: required(
    'OPERATION_DEADLINE_MS',
    whole('Most milliseconds that an operation may take, with all retries and waits', '8000', 1, 600_000),
  ),
  maxPageSize: required(
    'MAX_PAGE_SIZE',
    whole('Largest `first` or `last`, and most rows that a REST call asks for', '100', 1, 1000),
  ),
  maxUpstreamCalls: required(
    'MAX_UPSTREAM_CALLS',
    whole('Most REST calls that an operation may make', '150', 1, 1_000_000),
  ),
  maxUpstreamRows: required(
    'MAX_UPSTREAM_ROWS',
    whole('Most rows that an operation may ask for', '10000', 1, 100_000_000),
  ),
  maxAnswerObjects: required('MAX_ANSWER_OBJECTS', whole('Most JSON objects of an answer', '50000', 1, 10_000_000)),
  maxAnswerBytes: required(
    'MAX_ANSWER_BYTES',
    whole('Most bytes of the `data` of an answer', '16777216', 1024, 100_000_000),
  ),
  upstreamConnections: required(
    'UPSTREAM_CONNECTIONS',
    whole('Most connections of a process to the upstream', '512', 1, 10_000),
  ),
  maxUpstreamInFlight: required(
    'MAX_UPSTREAM_IN_FLIGHT',
    whole('Most REST calls of a process at a time. Further calls wait', '512', 1, 10_000),
  ),
};

/** Settings of the edge: what it serves beside operations, and to which clients. */
const edgeSettings = {
  graphiql: optional(
    'GRAPHIQL',
    onOff('Shows GraphiQL to browsers. Default: on, off with NODE_ENV=production', undefined),
  ),
  corsOrigins: optional(
    'CORS_ORIGINS',
    origins('Origins whose web pages may call the gateway. Default: the origin of the gateway'),
  ),
  corsHeaders: optional(
    'CORS_HEADERS',
    headerNames('More headers that these pages may send. Headers of GraphQL clients and of tracing are always allowed'),
  ),
  incremental: required('INCREMENTAL', onOff('Lets clients get slow fields later, with `@defer`', 'on')),
  compression: required('COMPRESSION', onOff('Compresses answers above 1 KB with br or gzip', 'on')),
  stopDelayMs: required(
    'STOP_DELAY_MS',
    whole('Milliseconds after SIGTERM in which the gateway still takes new requests', '500', 0, 60_000),
  ),
  introspection: optional(
    'INTROSPECTION',
    onOff(
      'Lets clients read the schema. Default: on, off with NODE_ENV=production or PERSISTED_DOCUMENTS_MODE=only',
      undefined,
    ),
  ),
  maxErrors: required(
    'MAX_ERRORS',
    whole('Most errors that an answer lists. One more counts the others', '100', 1, 100_000),
  ),
};

const documentLimits = {
  argumentBytes: required(
    'MAX_ARGUMENT_BYTES',
    whole('Most bytes of the arguments of one field, except in mutations', '16384', 256, 100_000_000),
  ),
  bytes: required('MAX_DOCUMENT_BYTES', whole('Largest GraphQL document, in bytes', '131072', 1024, 100_000_000)),
  tokens: required('MAX_TOKENS', whole('Most tokens in a document', '2000', 10, 1_000_000)),
  aliases: required('MAX_ALIASES', whole('Most aliases in an operation', '30', 0, 10_000)),
  rootFields: required('MAX_ROOT_FIELDS', whole('Most fields at the root of an operation', '20', 1, 10_000)),
  directives: required('MAX_DIRECTIVES', whole('Most directives in an operation', '50', 0, 10_000)),
  depth: required('MAX_DEPTH', whole('Deepest nesting of fields', '14', 1, 1000)),
  introspectionDepth: required(
    'MAX_INTROSPECTION_DEPTH',
    whole('Deepest nesting of fields below `__schema` and `__type`', '20', 1, 1000),
  ),
  fragments: required('MAX_FRAGMENTS', whole('Most fragments in a document', '50', 0, 10_000)),
  operations: required('MAX_OPERATIONS', whole('Most operations in a document', '10', 1, 10_000)),
};

/** Settings of the embedded workspace, and of the faults that it can simulate for tests and demonstrations. */
const workspaceSettings = {
  port: required('WORKSPACE_PORT', whole('Port of the embedded workspace. 0 takes a free one', '4001', 0, 65_535)),
  database: optional(
    'WORKSPACE_DB',
    text('File with the data of the workspace. Default: memory only', undefined, 'a path'),
  ),
  latencyMs: required(
    'WORKSPACE_LATENCY_MS',
    whole('Milliseconds by which the workspace delays answers', '0', 0, 60_000),
  ),
  errorRate: required('WORKSPACE_ERROR_RATE', fraction('Share of requests that the workspace answers with 503', '0')),
  pageCap: optional('WORKSPACE_PAGE_CAP', whole('Most rows in a page of the workspace', undefined, 1, 10_000)),
  rates: optional(
    'WORKSPACE_RATES',
    windows('Most requests of a key to the workspace for each surface. Default: no limit'),
  ),
  eventsPerMinute: required(
    'WORKSPACE_EVENTS_PER_MINUTE',
    whole('Events that each example project captures in a minute', '0', 0, 600),
  ),
  eventsNext: required(
    'WORKSPACE_EVENTS_NEXT',
    oneOf('Parameter in the `next` of events. The hosted service uses `before`', 'offset', ['offset', 'before']),
  ),
  dialect: required(
    'WORKSPACE_DIALECT',
    oneOf('Answers of the workspace: as in the OpenAPI document, or in a year of the hosted service', 'document', [
      'document',
      '2024',
      '2026',
    ]),
  ),
};

const bodyLimits = {
  bytes: required('MAX_REQUEST_BYTES', whole('Largest request body, in bytes', '1048576', 1024, 100_000_000)),
  jsonDepth: required('MAX_JSON_DEPTH', whole('Deepest nesting of a JSON body', '100', 5, 500)),
};

/** Settings that only the command `drift` reads. */
export const driftSettings = {
  driftKeyFile: optional(
    'DRIFT_KEY_FILE',
    secretFile('File with the API key that the command drift uses', 'the path of a file with an API key'),
  ),
};

/**
 * The settings that depend on no other setting, by their names in the configuration. Times are in milliseconds, sizes in
 * rows or bytes.
 */
export const plainSettings = {
  ...processSettings,
  ...costSettings,
  ...operationSettings,
  ...edgeSettings,
  bodyLimits,
  documentLimits,
  live: liveSettings,
  workspace: workspaceSettings,
};

const all = settingsIn({
  processSettings,
  routeSettings,
  authSettings,
  costSettings,
  budgetSettings,
  cacheSettings,
  operationSettings,
  edgeSettings,
  bodyLimits,
  documentLimits,
  persistedSettings,
  mcpSettings,
  liveSettings,
  workspaceSettings,
  driftSettings,
});

/** Every setting, by the name of its variable, in the order in which docs/settings.md and `--help` show them. */
export const settings: Readonly<Record<string, Setting<unknown>>> = Object.fromEntries(
  all.map((setting) => [setting.name, setting]),
);
