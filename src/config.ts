import { createHash } from 'node:crypto';
import { ConfigError, fraction, list, oneOf, onOff, type Setting, text, url, whole } from './settings.ts';

/** Everything that can be set from outside, checked and frozen. Times in milliseconds, sizes in rows or bytes. */
export interface Config {
  readonly port: number;
  readonly host: string;
  /** Undefined: the embedded workspace is started and used. */
  readonly upstreamUrl: string | undefined;
  readonly operationDeadlineMs: number;
  readonly maxPageSize: number;
  readonly cursorSecret: string | undefined;
  readonly logLevel: LogLevel;
  readonly upstreamConnections: number;
  readonly maxRequestBytes: number;
  readonly documentLimits: DocumentLimits;
  /** Whether clients may read the schema. */
  readonly introspection: boolean;
  readonly graphiql: boolean;
  readonly corsOrigins: readonly string[];
  /** How long requests are still taken after `/readyz` has begun to fail. */
  readonly stopDelayMs: number;
  readonly workspace: WorkspaceConfig;
}

/** What a document may hold at most; fragments count as often as they are spread. */
export interface DocumentLimits {
  readonly tokens: number;
  readonly aliases: number;
  readonly rootFields: number;
  readonly directives: number;
  readonly depth: number;
  readonly introspectionDepth: number;
  readonly fragments: number;
  readonly operations: number;
}

/** The embedded workspace, and the faults it can play for tests and demonstrations. */
export interface WorkspaceConfig {
  readonly port: number;
  readonly database: string | undefined;
  readonly latencyMs: number;
  readonly errorRate: number;
  readonly pageCap: number | undefined;
  readonly requestsPerMinute: number | undefined;
}

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** Every environment variable, as README and `--help` show it. */
export const settings = {
  PORT: whole('Port of the gateway; 0 takes a free one', '4000', 0, 65_535),
  HOST: text('Address that the gateway listens on', '127.0.0.1'),
  UPSTREAM_URL: url('The REST API, with a path prefix if it has one; unset: the embedded workspace'),
  OPERATION_DEADLINE_MS: whole(
    'Longest time of an operation, retries and waiting included, in milliseconds',
    '8000',
    1,
    600_000,
  ),
  MAX_PAGE_SIZE: whole('Largest `first` or `last`, and the most rows one REST call asks for', '100', 1, 1000),
  CURSOR_SECRET: text('Secret that signs cursors; unset: derived from UPSTREAM_URL, so that replicas agree', undefined),
  LOG_LEVEL: oneOf('How much is logged', 'info', logLevels),
  UPSTREAM_CONNECTIONS: whole('Most connections to the upstream', '512', 1, 10_000),
  GRAPHIQL: onOff('Whether browsers get GraphiQL; unset: on, but off with NODE_ENV=production', undefined),
  CORS_ORIGINS: list('Origins whose pages may call, separated by commas; unset: none'),
  STOP_DELAY_MS: whole('How long requests are still taken after SIGTERM, in milliseconds', '500', 0, 60_000),
  INTROSPECTION: onOff('Whether clients may read the schema; unset: on, but off with NODE_ENV=production', undefined),
  MAX_REQUEST_BYTES: whole('Largest request body, in bytes', '1048576', 1024, 100_000_000),
  MAX_TOKENS: whole('Most tokens in a document', '2000', 10, 1_000_000),
  MAX_ALIASES: whole('Most aliases in an operation', '30', 0, 10_000),
  MAX_ROOT_FIELDS: whole('Most fields at the root of an operation', '20', 1, 10_000),
  MAX_DIRECTIVES: whole('Most directives in an operation', '50', 0, 10_000),
  MAX_DEPTH: whole('Deepest nesting of fields', '14', 1, 1000),
  MAX_INTROSPECTION_DEPTH: whole('Deepest nesting of fields below `__schema` and `__type`', '20', 1, 1000),
  MAX_FRAGMENTS: whole('Most fragments in a document', '50', 0, 10_000),
  MAX_OPERATIONS: whole('Most operations in a document', '10', 1, 10_000),
  WORKSPACE_PORT: whole('Port of the embedded workspace; 0 takes a free one', '4001', 0, 65_535),
  WORKSPACE_DB: text('File that keeps the embedded workspace; unset: in memory', undefined),
  WORKSPACE_LATENCY_MS: whole('How long each answer of the workspace is held back, in milliseconds', '0', 0, 60_000),
  WORKSPACE_ERROR_RATE: fraction('Share of requests that the workspace answers with 503', '0'),
  WORKSPACE_PAGE_CAP: whole('Most rows in a page of the workspace, whatever was asked for', undefined, 1, 10_000),
  WORKSPACE_REQUESTS_PER_MINUTE: whole(
    'Requests a minute and key before the workspace answers 429',
    undefined,
    1,
    1_000_000,
  ),
} as const;

/** Any variable that the gateway reads. */
export type SettingName = keyof typeof settings;

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the settings from an environment. Throws a ConfigError for a wrong value, or for a name that is nearly one. */
export function readConfig(environment: Environment): Config {
  refuseMisspelt(environment);
  const isProduction = environment['NODE_ENV'] === 'production';
  return Object.freeze({
    port: required(environment, 'PORT', settings.PORT),
    host: required(environment, 'HOST', settings.HOST),
    upstreamUrl: given(environment, 'UPSTREAM_URL', settings.UPSTREAM_URL),
    operationDeadlineMs: required(environment, 'OPERATION_DEADLINE_MS', settings.OPERATION_DEADLINE_MS),
    maxPageSize: required(environment, 'MAX_PAGE_SIZE', settings.MAX_PAGE_SIZE),
    cursorSecret: given(environment, 'CURSOR_SECRET', settings.CURSOR_SECRET),
    logLevel: required(environment, 'LOG_LEVEL', settings.LOG_LEVEL),
    upstreamConnections: required(environment, 'UPSTREAM_CONNECTIONS', settings.UPSTREAM_CONNECTIONS),
    maxRequestBytes: required(environment, 'MAX_REQUEST_BYTES', settings.MAX_REQUEST_BYTES),
    introspection: given(environment, 'INTROSPECTION', settings.INTROSPECTION) ?? !isProduction,
    graphiql: given(environment, 'GRAPHIQL', settings.GRAPHIQL) ?? !isProduction,
    corsOrigins: given(environment, 'CORS_ORIGINS', settings.CORS_ORIGINS) ?? [],
    stopDelayMs: required(environment, 'STOP_DELAY_MS', settings.STOP_DELAY_MS),
    documentLimits: readLimits(environment),
    workspace: readWorkspace(environment),
  });
}

function readLimits(environment: Environment): DocumentLimits {
  return Object.freeze({
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

function readWorkspace(environment: Environment): WorkspaceConfig {
  return Object.freeze({
    port: required(environment, 'WORKSPACE_PORT', settings.WORKSPACE_PORT),
    database: given(environment, 'WORKSPACE_DB', settings.WORKSPACE_DB),
    latencyMs: required(environment, 'WORKSPACE_LATENCY_MS', settings.WORKSPACE_LATENCY_MS),
    errorRate: required(environment, 'WORKSPACE_ERROR_RATE', settings.WORKSPACE_ERROR_RATE),
    pageCap: given(environment, 'WORKSPACE_PAGE_CAP', settings.WORKSPACE_PAGE_CAP),
    requestsPerMinute: given(environment, 'WORKSPACE_REQUESTS_PER_MINUTE', settings.WORKSPACE_REQUESTS_PER_MINUTE),
  });
}

/** The value of a setting, its fallback where it is not set; undefined where it has none. */
function given<T>(environment: Environment, name: SettingName, setting: Setting<T>): T | undefined {
  const { fallback, expected, read } = setting;
  const value = environment[name];
  const source = value === undefined || value === '' ? fallback : value;
  if (source === undefined) return undefined;
  const result = read(source);
  if (result === undefined) throw new ConfigError(`${name}: expected ${expected}, but got ${JSON.stringify(source)}`);
  return result;
}

function required<T>(environment: Environment, name: SettingName, setting: Setting<T>): T {
  const value = given(environment, name, setting);
  if (value === undefined) throw new ConfigError(`${name}: expected ${setting.expected}, but it is not set`);
  return value;
}

/** The secret that cursors are signed with: replicas of the same upstream have the same. */
export function cursorSecretOf(secret: string | undefined, upstreamUrl: string): string {
  return secret ?? createHash('sha256').update(`cursors of ${upstreamUrl}`).digest('base64url');
}

/** Throws for a name that is nearly a setting's: it would be ignored silently. */
function refuseMisspelt(environment: Readonly<Record<string, unknown>>): void {
  const names = Object.keys(settings);
  for (const name of Object.keys(environment)) {
    if (names.includes(name)) continue;
    const meant = names.find((known) => known.length > 7 && isNear(name, known));
    if (meant !== undefined) throw new ConfigError(`${name}: there is no such setting; expected ${meant}`);
  }
}

/** Whether two names differ by at most two insertions, deletions or replacements of a letter. */
function isNear(name: string, known: string): boolean {
  if (Math.abs(name.length - known.length) > 2) return false;
  let distances = Array.from({ length: known.length + 1 }, (_, index) => index);
  for (const [row, letter] of name.split('').entries()) {
    const next = [row + 1];
    for (const [column, other] of known.split('').entries()) {
      const replaced = (distances[column] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (distances[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    distances = next;
  }
  return (distances[known.length] ?? 3) <= 2;
}
