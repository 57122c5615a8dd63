import type { DocumentLimits } from '../operation/document-limits.ts';
import { documentModes } from '../operation/persisted/policy.ts';
import { addressSettings, readAddresses } from './address-settings.ts';
import { authSettings, authWarnings, readAuth } from './auth-settings.ts';
import { type Config, eventsNexts, logLevels, type PersistedConfig, type WorkspaceConfig } from './config-types.ts';
import { weakSecretWarnings } from './cursor-secret.ts';
import { findMisspelt } from './misspelt.ts';
import { readRoute, routeSettings } from './route-settings.ts';
import {
  asksForTraces,
  type Environment,
  fraction,
  given,
  headerNames,
  oneOf,
  onOff,
  origins,
  redisUrl,
  required,
  text,
  url,
  whole,
  workerCount,
} from './settings.ts';
import { pemFile } from './tls-settings.ts';

/** Every environment variable, as docs/settings.md and `--help` show it. */
export const settings = {
  ...addressSettings,
  WORKERS: workerCount('Processes that serve, one for each core where it is auto', '1'),
  UPSTREAM_URL: url('The REST API, with a path prefix if it has one; unset: the embedded workspace'),
  ...routeSettings,
  ...authSettings,
  OPERATION_DEADLINE_MS: whole(
    'Longest time of an operation, retries and waiting included, in milliseconds',
    '8000',
    1,
    600_000,
  ),
  MAX_PAGE_SIZE: whole('Largest `first` or `last`, and the most rows one REST call asks for', '100', 1, 1000),
  MAX_UPSTREAM_CALLS: whole('Most REST calls that an operation may make', '150', 1, 1_000_000),
  MAX_UPSTREAM_ROWS: whole('Most rows that an operation may ask for', '10000', 1, 100_000_000),
  MAX_ANSWER_OBJECTS: whole('Most JSON objects that an answer may have', '50000', 1, 10_000_000),
  MAX_ANSWER_BYTES: whole('Most bytes that the data of an answer may have', '16777216', 1024, 100_000_000),
  EXPLAIN: onOff('Whether clients may see REST calls; unset: on with the embedded workspace', undefined),
  DRIFT_SAMPLE_RATE: fraction(
    'Share of operations whose REST answers are compared with the OpenAPI document; 0 compares none',
    '0.01',
  ),
  DRIFT_KEY_FILE: text('File with the API key that the command drift reads with', undefined, 'a path'),
  CURSOR_SECRET: text(
    'Secret that signs cursors; unset: derived from UPSTREAM_URL, so that replicas agree',
    undefined,
    'any text',
  ),
  LOG_LEVEL: oneOf('How much is logged', 'info', logLevels),
  UPSTREAM_CONNECTIONS: whole('Most connections to the upstream, for each process', '512', 1, 10_000),
  MAX_UPSTREAM_IN_FLIGHT: whole(
    'Most calls to the upstream in flight, for each process; those beyond it wait',
    '512',
    1,
    10_000,
  ),
  GRAPHIQL: onOff('Whether browsers get GraphiQL; unset: on, but off with NODE_ENV=production', undefined),
  CORS_ORIGINS: origins('Origins whose pages may call; unset: none'),
  CORS_HEADERS: headerNames('Headers that such pages may send beside those of GraphQL clients and tracing'),
  COMPRESSION: onOff(
    'Whether answers above 1 KB are compressed for clients that ask for it; off leaves it to a proxy',
    'on',
  ),
  STOP_DELAY_MS: whole('How long requests are still taken after SIGTERM, in milliseconds', '500', 0, 60_000),
  INTROSPECTION: onOff(
    'Whether clients may read the schema; unset: on, but off with NODE_ENV=production or PERSISTED_DOCUMENTS_MODE=only',
    undefined,
  ),
  MAX_REQUEST_BYTES: whole('Largest request body, in bytes', '1048576', 1024, 100_000_000),
  MAX_JSON_DEPTH: whole('Deepest nesting of a JSON body', '100', 5, 500),
  MAX_ARGUMENT_BYTES: whole(
    'Most bytes of the arguments of one field, as JSON and in the query of a REST call; mutations apart',
    '16384',
    256,
    100_000_000,
  ),
  MAX_DOCUMENT_BYTES: whole('Largest GraphQL document, in bytes', '131072', 1024, 100_000_000),
  MAX_TOKENS: whole('Most tokens in a document', '2000', 10, 1_000_000),
  MAX_ALIASES: whole('Most aliases in an operation', '30', 0, 10_000),
  MAX_ROOT_FIELDS: whole('Most fields at the root of an operation', '20', 1, 10_000),
  MAX_DIRECTIVES: whole('Most directives in an operation', '50', 0, 10_000),
  MAX_DEPTH: whole('Deepest nesting of fields', '14', 1, 1000),
  MAX_INTROSPECTION_DEPTH: whole('Deepest nesting of fields below `__schema` and `__type`', '20', 1, 1000),
  MAX_FRAGMENTS: whole('Most fragments in a document', '50', 0, 10_000),
  MAX_OPERATIONS: whole('Most operations in a document', '10', 1, 10_000),
  MAX_ERRORS: whole('Most errors that an answer tells; the number of those beyond it is told', '100', 1, 100_000),
  PERSISTED_DOCUMENTS: text(
    'Manifests of persisted documents',
    undefined,
    'a path, or a glob such as manifests/*.json',
  ),
  PERSISTED_DOCUMENTS_MODE: oneOf(
    'off ignores manifests, allow runs their documents beside any other, log reports what only would refuse, only runs nothing else and is the default with AUTH=jwt',
    'allow',
    documentModes,
  ),
  PERSISTED_DOCUMENTS_STRICT: onOff('Whether a listed document that is not valid is a start-up error', 'off'),
  PERSISTED_GET_MAX_AGE: whole('How long clients may cache the answer of a GET by id, in seconds', '0', 0, 31_536_000),
  APQ: onOff(
    'Whether clients may register documents by hash; unset: on, off with PERSISTED_DOCUMENTS_MODE=only',
    undefined,
  ),
  REDIS_URL: redisUrl('Redis in which gateways share registered documents; unset: each keeps its own in memory'),
  REDIS_CA: pemFile('PEM file of certificate authorities that are trusted for a rediss Redis, beside those of Node'),
  WORKSPACE_PORT: whole(
    'Port of the embedded workspace, on this machine only whatever HOST says; 0 takes a free one',
    '4001',
    0,
    65_535,
  ),
  WORKSPACE_DB: text('File that keeps the embedded workspace; unset: in memory', undefined, 'a path'),
  WORKSPACE_LATENCY_MS: whole('How long each answer of the workspace is held back, in milliseconds', '0', 0, 60_000),
  WORKSPACE_ERROR_RATE: fraction('Share of requests that the workspace answers with 503', '0'),
  WORKSPACE_PAGE_CAP: whole('Most rows in a page of the workspace, whatever was asked for', undefined, 1, 10_000),
  WORKSPACE_REQUESTS_PER_MINUTE: whole(
    'Requests a minute and key before the workspace answers 429',
    undefined,
    1,
    1_000_000,
  ),
  WORKSPACE_EVENTS_NEXT: oneOf(
    'How the `next` of events goes on: offset as the contract says, before as the known deployment does',
    'offset',
    eventsNexts,
  ),
} as const;

/** Reads the settings from an environment. Throws a ConfigError for a wrong value, or for a name that is nearly one. */
export function readConfig(environment: Environment): Config {
  const upstreamUrl = given(environment, 'UPSTREAM_URL', settings.UPSTREAM_URL);
  const cursorSecret = given(environment, 'CURSOR_SECRET', settings.CURSOR_SECRET);
  const persisted = readPersisted(environment);
  const isProduction = environment['NODE_ENV'] === 'production';
  return Object.freeze({
    warnings: [...warningsOf(environment), ...weakSecretWarnings(cursorSecret, upstreamUrl)],
    ...readAddresses(environment),
    workers: required(environment, 'WORKERS', settings.WORKERS),
    upstreamUrl,
    ...readRoute(environment, upstreamUrl),
    auth: readAuth(environment),
    ...readDrift(environment),
    operationDeadlineMs: required(environment, 'OPERATION_DEADLINE_MS', settings.OPERATION_DEADLINE_MS),
    ...readCosts(environment),
    explain: given(environment, 'EXPLAIN', settings.EXPLAIN) ?? upstreamUrl === undefined,
    cursorSecret,
    logLevel: required(environment, 'LOG_LEVEL', settings.LOG_LEVEL),
    upstreamConnections: required(environment, 'UPSTREAM_CONNECTIONS', settings.UPSTREAM_CONNECTIONS),
    maxUpstreamInFlight: required(environment, 'MAX_UPSTREAM_IN_FLIGHT', settings.MAX_UPSTREAM_IN_FLIGHT),
    bodyLimits: Object.freeze({
      bytes: required(environment, 'MAX_REQUEST_BYTES', settings.MAX_REQUEST_BYTES),
      jsonDepth: required(environment, 'MAX_JSON_DEPTH', settings.MAX_JSON_DEPTH),
    }),
    introspection:
      given(environment, 'INTROSPECTION', settings.INTROSPECTION) ?? (!isProduction && persisted.mode !== 'only'),
    graphiql: given(environment, 'GRAPHIQL', settings.GRAPHIQL) ?? !isProduction,
    corsOrigins: given(environment, 'CORS_ORIGINS', settings.CORS_ORIGINS) ?? [],
    corsHeaders: given(environment, 'CORS_HEADERS', settings.CORS_HEADERS) ?? [],
    compression: required(environment, 'COMPRESSION', settings.COMPRESSION),
    traces: asksForTraces(environment),
    stopDelayMs: required(environment, 'STOP_DELAY_MS', settings.STOP_DELAY_MS),
    documentLimits: readLimits(environment),
    maxErrors: required(environment, 'MAX_ERRORS', settings.MAX_ERRORS),
    persisted,
    workspace: readWorkspace(environment),
  });
}

function warningsOf(environment: Environment): readonly string[] {
  return [...findMisspelt(environment, settings), ...authWarnings(environment)];
}

function readCosts(environment: Environment): Costs {
  return {
    maxPageSize: required(environment, 'MAX_PAGE_SIZE', settings.MAX_PAGE_SIZE),
    maxUpstreamCalls: required(environment, 'MAX_UPSTREAM_CALLS', settings.MAX_UPSTREAM_CALLS),
    maxUpstreamRows: required(environment, 'MAX_UPSTREAM_ROWS', settings.MAX_UPSTREAM_ROWS),
    maxAnswerObjects: required(environment, 'MAX_ANSWER_OBJECTS', settings.MAX_ANSWER_OBJECTS),
    maxAnswerBytes: required(environment, 'MAX_ANSWER_BYTES', settings.MAX_ANSWER_BYTES),
  };
}

type Costs = Pick<
  Config,
  'maxPageSize' | 'maxUpstreamCalls' | 'maxUpstreamRows' | 'maxAnswerObjects' | 'maxAnswerBytes'
>;

function readDrift(environment: Environment): Pick<Config, 'driftSampleRate' | 'driftKeyFile'> {
  return {
    driftSampleRate: required(environment, 'DRIFT_SAMPLE_RATE', settings.DRIFT_SAMPLE_RATE),
    driftKeyFile: given(environment, 'DRIFT_KEY_FILE', settings.DRIFT_KEY_FILE),
  };
}

function readLimits(environment: Environment): DocumentLimits {
  return Object.freeze({
    bytes: required(environment, 'MAX_DOCUMENT_BYTES', settings.MAX_DOCUMENT_BYTES),
    argumentBytes: required(environment, 'MAX_ARGUMENT_BYTES', settings.MAX_ARGUMENT_BYTES),
    tokens: required(environment, 'MAX_TOKENS', settings.MAX_TOKENS),
    aliases: required(environment, 'MAX_ALIASES', settings.MAX_ALIASES),
    rootFields: required(environment, 'MAX_ROOT_FIELDS', settings.MAX_ROOT_FIELDS),
    directives: required(environment, 'MAX_DIRECTIVES', settings.MAX_DIRECTIVES),
    depth: required(environment, 'MAX_DEPTH', settings.MAX_DEPTH),
    introspectionDepth: required(environment, 'MAX_INTROSPECTION_DEPTH', settings.MAX_INTROSPECTION_DEPTH),
    fragments: required(environment, 'MAX_FRAGMENTS', settings.MAX_FRAGMENTS),
    operations: required(environment, 'MAX_OPERATIONS', settings.MAX_OPERATIONS),
  });
}

function readPersisted(environment: Environment): PersistedConfig {
  return Object.freeze({
    files: given(environment, 'PERSISTED_DOCUMENTS', settings.PERSISTED_DOCUMENTS),
    mode: documentModeOf(environment),
    strict: required(environment, 'PERSISTED_DOCUMENTS_STRICT', settings.PERSISTED_DOCUMENTS_STRICT),
    automatic: given(environment, 'APQ', settings.APQ),
    redisUrl: given(environment, 'REDIS_URL', settings.REDIS_URL),
    redisAuthorities: given(environment, 'REDIS_CA', settings.REDIS_CA),
    getMaxAge: required(environment, 'PERSISTED_GET_MAX_AGE', settings.PERSISTED_GET_MAX_AGE),
  });
}

/** A token says who asks; which documents may be asked, only their list does. */
function documentModeOf(environment: Environment): PersistedConfig['mode'] {
  const isGiven = (environment['PERSISTED_DOCUMENTS_MODE'] ?? '') !== '';
  if (!isGiven && required(environment, 'AUTH', settings.AUTH) === 'jwt') return 'only';
  return required(environment, 'PERSISTED_DOCUMENTS_MODE', settings.PERSISTED_DOCUMENTS_MODE);
}

function readWorkspace(environment: Environment): WorkspaceConfig {
  return Object.freeze({
    port: required(environment, 'WORKSPACE_PORT', settings.WORKSPACE_PORT),
    database: given(environment, 'WORKSPACE_DB', settings.WORKSPACE_DB),
    latencyMs: required(environment, 'WORKSPACE_LATENCY_MS', settings.WORKSPACE_LATENCY_MS),
    errorRate: required(environment, 'WORKSPACE_ERROR_RATE', settings.WORKSPACE_ERROR_RATE),
    pageCap: given(environment, 'WORKSPACE_PAGE_CAP', settings.WORKSPACE_PAGE_CAP),
    requestsPerMinute: given(environment, 'WORKSPACE_REQUESTS_PER_MINUTE', settings.WORKSPACE_REQUESTS_PER_MINUTE),
    eventsNext: required(environment, 'WORKSPACE_EVENTS_NEXT', settings.WORKSPACE_EVENTS_NEXT),
  });
}
