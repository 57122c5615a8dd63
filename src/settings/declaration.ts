import { documentModes } from '../operation/persisted/policy.ts';
import { authSettings } from './auth-settings.ts';
import { budgetSettings, windows } from './budget-settings.ts';
import { declareCache } from './cache-settings.ts';
import type { SettingsReader } from './reader.ts';
import { passwordFile } from './redis-settings.ts';
import { routeSettings } from './route-settings.ts';
import { fraction, headerNames, oneOf, onOff, text, whole, workerCount } from './settings.ts';
import { pemFile } from './tls-settings.ts';
import { baseUrl, origins, redisUrl } from './urls.ts';

/**
 * Every setting, once: where the configuration has it, its variable, what it means, its default and its bounds. Times are
 * in milliseconds, sizes in rows or bytes. What a setting is by default may depend on others (see `readConfig`).
 */
export function declare(settings: SettingsReader) {
  const { required } = settings;
  return {
    ...declareProcess(settings),
    ...declareCosts(settings),
    ...declareOperations(settings),
    ...declareUpstreamLimits(settings),
    cache: declareCache(settings),
    ...declareEdge(settings),
    bodyLimits: Object.freeze({
      bytes: required('MAX_REQUEST_BYTES', whole('Largest request body, in bytes', '1048576', 1024, 100_000_000)),
      jsonDepth: required('MAX_JSON_DEPTH', whole('Deepest nesting of a JSON body', '100', 5, 500)),
    }),
    documentLimits: Object.freeze(declareDocumentLimits(settings)),
    maxErrors: required(
      'MAX_ERRORS',
      whole('Most errors that an answer lists; of those beyond it only the number', '100', 1, 100_000),
    ),
    persisted: Object.freeze(declarePersisted(settings)),
    live: Object.freeze(declareLive(settings)),
    workspace: Object.freeze(declareWorkspace(settings)),
  };
}

/** Where it listens, how many processes serve, and what they call. */
function declareProcess({ required, optional, note }: SettingsReader) {
  const declared = {
    port: required('PORT', whole('Port of the gateway; 0 takes a free one', '4000', 0, 65_535)),
    metricsPort: optional(
      'METRICS_PORT',
      whole('Port of `/metrics`; unset: that of the gateway', undefined, 1, 65_535),
    ),
    adminTokenFile: optional(
      'ADMIN_TOKEN_FILE',
      text(
        'File with the token of operators, who may ask below `/admin/` on METRICS_PORT; unset: nobody may',
        undefined,
        'the path of a file with a token of 32 characters or more',
      ),
    ),
    host: required(
      'HOST',
      text('Address that the gateway listens on', '127.0.0.1', 'an address or a name of this machine'),
    ),
    workers: required('WORKERS', workerCount('Processes that serve, one for each core if it is auto', '1')),
    upstreamUrl: optional(
      'UPSTREAM_URL',
      baseUrl(
        'The REST API, with a path prefix if it has one; embedded is the embedded workspace; unset: the same, but none with NODE_ENV=production',
      ),
    ),
  };
  note(routeSettings);
  note(authSettings);
  return declared;
}

/** What is reported of operations. */
function declareOperations({ required, optional }: SettingsReader) {
  return {
    explain: optional(
      'EXPLAIN',
      onOff('Whether clients may see REST calls; unset: on with the embedded workspace', undefined),
    ),
    driftSampleRate: required(
      'DRIFT_SAMPLE_RATE',
      fraction(
        'Share of operations whose REST answers are compared with the OpenAPI document; 0 compares none',
        '0.01',
      ),
    ),
    driftKeyFile: optional(
      'DRIFT_KEY_FILE',
      text('File with the API key that the command drift reads with', undefined, 'a path'),
    ),
    cursorSecret: optional(
      'CURSOR_SECRET',
      text(
        'Secret that signs cursors; unset: derived from UPSTREAM_URL, so that replicas agree',
        undefined,
        'any text',
      ),
    ),
    logLevel: required('LOG_LEVEL', oneOf('How much is logged', 'info', logLevels)),
    logStyle: optional(
      'LOG_STYLE',
      oneOf('How lines of the log look; unset: text at a terminal, else JSON', undefined, logStyles),
    ),
  };
}

/** How much may be under way to the upstream. */
function declareUpstreamLimits({ required, note }: SettingsReader) {
  const declared = {
    upstreamConnections: required(
      'UPSTREAM_CONNECTIONS',
      whole('Most connections to the upstream, for each process', '512', 1, 10_000),
    ),
    maxUpstreamInFlight: required(
      'MAX_UPSTREAM_IN_FLIGHT',
      whole('Most calls to the upstream in flight, for each process; those beyond it wait', '512', 1, 10_000),
    ),
  };
  note(budgetSettings);
  return declared;
}

const logStyles = ['json', 'text'] as const;

/** `silent` writes nothing. */
const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** How subscriptions are polled, and how many there may be. */
function declareLive({ required }: SettingsReader) {
  const poll = whole('How often the upstream is asked what is new for a subscription, in seconds', '10', 2, 3600);
  return {
    isOn: required('LIVE', onOff('Whether clients may follow new events by subscriptions', 'off')),
    pollMs: required('LIVE_POLL_SECONDS', poll) * 1000,
    maxStreams: required('MAX_STREAMS', whole('Most streams of subscriptions, for each process', '1000', 1, 100_000)),
    maxStreamsPerCaller: required(
      'MAX_STREAMS_PER_CALLER',
      whole('Most of them that one key has, or one user of a tenant, for each process', '20', 1, 100_000),
    ),
  };
}

/** What an operation may cost. */
function declareCosts({ required }: SettingsReader) {
  return {
    operationDeadlineMs: required(
      'OPERATION_DEADLINE_MS',
      whole('Longest time of an operation, retries and waiting included, in milliseconds', '8000', 1, 600_000),
    ),
    maxPageSize: required(
      'MAX_PAGE_SIZE',
      whole('Largest `first` or `last`, and the most rows one REST call asks for', '100', 1, 1000),
    ),
    maxUpstreamCalls: required(
      'MAX_UPSTREAM_CALLS',
      whole('Most REST calls that an operation may make', '150', 1, 1_000_000),
    ),
    maxUpstreamRows: required(
      'MAX_UPSTREAM_ROWS',
      whole('Most rows that an operation may ask for', '10000', 1, 100_000_000),
    ),
    maxAnswerObjects: required(
      'MAX_ANSWER_OBJECTS',
      whole('Most JSON objects that an answer may have', '50000', 1, 10_000_000),
    ),
    maxAnswerBytes: required(
      'MAX_ANSWER_BYTES',
      whole('Most bytes that the data of an answer may have', '16777216', 1024, 100_000_000),
    ),
  };
}

/** What the edge serves beside operations, and to whom. */
function declareEdge({ required, optional }: SettingsReader) {
  return {
    graphiql: optional(
      'GRAPHIQL',
      onOff('Whether browsers get GraphiQL; unset: on, but off with NODE_ENV=production', undefined),
    ),
    corsOrigins: optional('CORS_ORIGINS', origins('Origins whose pages may call; unset: none')),
    corsHeaders: optional(
      'CORS_HEADERS',
      headerNames('Headers that such pages may send beside those of GraphQL clients and tracing'),
    ),
    incremental: required(
      'INCREMENTAL',
      onOff('Whether clients that ask for it get the answer in parts: what `@defer` marks comes later', 'on'),
    ),
    compression: required(
      'COMPRESSION',
      onOff('Whether answers above 1 KB are compressed for clients that ask for it; off leaves it to a proxy', 'on'),
    ),
    stopDelayMs: required(
      'STOP_DELAY_MS',
      whole('How long requests are still taken after SIGTERM, in milliseconds', '500', 0, 60_000),
    ),
    introspection: optional(
      'INTROSPECTION',
      onOff(
        'Whether clients may read the schema; unset: on, but off with NODE_ENV=production or PERSISTED_DOCUMENTS_MODE=only',
        undefined,
      ),
    ),
  };
}

function declareDocumentLimits({ required }: SettingsReader) {
  const most = (name: string, meaning: string, fallback: string, least: number, greatest: number): number =>
    required(name, whole(meaning, fallback, least, greatest));
  return {
    argumentBytes: most(
      'MAX_ARGUMENT_BYTES',
      'Most bytes of the arguments of one field, as JSON and in the query of a REST call; mutations apart',
      '16384',
      256,
      100_000_000,
    ),
    bytes: most('MAX_DOCUMENT_BYTES', 'Largest GraphQL document, in bytes', '131072', 1024, 100_000_000),
    tokens: most('MAX_TOKENS', 'Most tokens in a document', '2000', 10, 1_000_000),
    aliases: most('MAX_ALIASES', 'Most aliases in an operation', '30', 0, 10_000),
    rootFields: most('MAX_ROOT_FIELDS', 'Most fields at the root of an operation', '20', 1, 10_000),
    directives: most('MAX_DIRECTIVES', 'Most directives in an operation', '50', 0, 10_000),
    depth: most('MAX_DEPTH', 'Deepest nesting of fields', '14', 1, 1000),
    introspectionDepth: most(
      'MAX_INTROSPECTION_DEPTH',
      'Deepest nesting of fields below `__schema` and `__type`',
      '20',
      1,
      1000,
    ),
    fragments: most('MAX_FRAGMENTS', 'Most fragments in a document', '50', 0, 10_000),
    operations: most('MAX_OPERATIONS', 'Most operations in a document', '10', 1, 10_000),
  };
}

function declarePersisted({ required, optional }: SettingsReader) {
  return {
    files: optional(
      'PERSISTED_DOCUMENTS',
      text('Manifests of persisted documents', undefined, 'a path, or a glob such as manifests/*.json'),
    ),
    mode: required(
      'PERSISTED_DOCUMENTS_MODE',
      oneOf(
        'off ignores manifests, allow runs their documents beside any other, log reports what only would refuse, only runs nothing else and is the default with AUTH=jwt',
        'allow',
        documentModes,
      ),
    ),
    strict: required(
      'PERSISTED_DOCUMENTS_STRICT',
      onOff('Whether a listed document that is not valid is a start-up error', 'off'),
    ),
    getMaxAge: required(
      'PERSISTED_GET_MAX_AGE',
      whole('How long clients may cache the answer of a GET by id, in seconds', '0', 0, 31_536_000),
    ),
    automatic: optional(
      'APQ',
      onOff(
        'Whether clients may register documents by hash; unset: on, off with PERSISTED_DOCUMENTS_MODE=only',
        undefined,
      ),
    ),
    redisUrl: optional(
      'REDIS_URL',
      redisUrl('Redis in which gateways share documents, budgets and what is cached; unset: each keeps its own'),
    ),
    redisAuthorities: optional(
      'REDIS_CA',
      pemFile('PEM file of certificate authorities that are trusted for a rediss Redis, beside those of Node'),
    ),
    redisPasswordFile: optional(
      'REDIS_PASSWORD_FILE',
      passwordFile('File with the password of Redis, read again at each connect; not with a password in REDIS_URL'),
    ),
    redisSentinelPassword: optional(
      'REDIS_SENTINEL_PASSWORD',
      text('Password of the Sentinels that REDIS_URL names', undefined, 'a password'),
    ),
  };
}

/** The embedded workspace, and the faults that it can play for tests and demonstrations. */
function declareWorkspace(settings: SettingsReader) {
  const { required, optional } = settings;
  return {
    port: required(
      'WORKSPACE_PORT',
      whole(
        'Port of the embedded workspace, on this machine only whatever HOST says; 0 takes a free one',
        '4001',
        0,
        65_535,
      ),
    ),
    database: optional(
      'WORKSPACE_DB',
      text('File that keeps the embedded workspace; unset: in memory', undefined, 'a path'),
    ),
    latencyMs: required(
      'WORKSPACE_LATENCY_MS',
      whole('How long each answer of the workspace is held back, in milliseconds', '0', 0, 60_000),
    ),
    errorRate: required('WORKSPACE_ERROR_RATE', fraction('Share of requests that the workspace answers with 503', '0')),
    pageCap: optional(
      'WORKSPACE_PAGE_CAP',
      whole('Most rows in a page of the workspace, whatever was asked for', undefined, 1, 10_000),
    ),
    rates: optional(
      'WORKSPACE_RATES',
      windows('Requests of a key, by surface, before the workspace answers 429, as calls/seconds; unset: none'),
    ),
    eventsPerMinute: required(
      'WORKSPACE_EVENTS_PER_MINUTE',
      whole('Events that each example project captures by itself, in a minute; 0: none', '0', 0, 600),
    ),
    ...declareAnswers(settings),
  };
}

/** In which of the ways that are known the workspace answers. */
function declareAnswers({ required }: SettingsReader) {
  return {
    eventsNext: required(
      'WORKSPACE_EVENTS_NEXT',
      oneOf(
        'How the `next` of events goes on: offset as the contract says, before as the known deployment does',
        'offset',
        ['offset', 'before'] as const,
      ),
    ),
    dialect: required(
      'WORKSPACE_DIALECT',
      oneOf(
        'Whose answers the workspace gives: those of the OpenAPI document, or of the known deployment in a year',
        'document',
        ['document', '2024', '2026'] as const,
      ),
    ),
  };
}
