import { createHash } from 'node:crypto';

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
  readonly workspace: WorkspaceConfig;
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

/** A setting that cannot be used. The message names the variable, what is wrong with it and what is expected. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** One environment variable. */
interface Setting<T> {
  readonly fallback: string | undefined;
  readonly meaning: string;
  readonly expected: string;
  /** The value; undefined where the text is none. */
  readonly read: (text: string) => T | undefined;
}

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

/** Reads the settings from an environment. Throws a ConfigError for a wrong value, or for a name that is nearly one. */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  refuseMisspelt(environment);
  const given = <T>(name: SettingName, { fallback, expected, read }: Setting<T>): T | undefined => {
    const value = environment[name];
    const source = value === undefined || value === '' ? fallback : value;
    if (source === undefined) return undefined;
    const result = read(source);
    if (result === undefined) throw new ConfigError(`${name}: expected ${expected}, but got ${JSON.stringify(source)}`);
    return result;
  };
  const required = <T>(name: SettingName, setting: Setting<T>): T => {
    const value = given(name, setting);
    if (value === undefined) throw new ConfigError(`${name}: expected ${setting.expected}, but it is not set`);
    return value;
  };
  return Object.freeze({
    port: required('PORT', settings.PORT),
    host: required('HOST', settings.HOST),
    upstreamUrl: given('UPSTREAM_URL', settings.UPSTREAM_URL),
    operationDeadlineMs: required('OPERATION_DEADLINE_MS', settings.OPERATION_DEADLINE_MS),
    maxPageSize: required('MAX_PAGE_SIZE', settings.MAX_PAGE_SIZE),
    cursorSecret: given('CURSOR_SECRET', settings.CURSOR_SECRET),
    logLevel: required('LOG_LEVEL', settings.LOG_LEVEL),
    upstreamConnections: required('UPSTREAM_CONNECTIONS', settings.UPSTREAM_CONNECTIONS),
    workspace: Object.freeze({
      port: required('WORKSPACE_PORT', settings.WORKSPACE_PORT),
      database: given('WORKSPACE_DB', settings.WORKSPACE_DB),
      latencyMs: required('WORKSPACE_LATENCY_MS', settings.WORKSPACE_LATENCY_MS),
      errorRate: required('WORKSPACE_ERROR_RATE', settings.WORKSPACE_ERROR_RATE),
      pageCap: given('WORKSPACE_PAGE_CAP', settings.WORKSPACE_PAGE_CAP),
      requestsPerMinute: given('WORKSPACE_REQUESTS_PER_MINUTE', settings.WORKSPACE_REQUESTS_PER_MINUTE),
    }),
  });
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

function whole(meaning: string, fallback: string | undefined, minimum: number, maximum: number): Setting<number> {
  return {
    fallback,
    meaning,
    expected: `a whole number from ${minimum} to ${maximum}`,
    read: (source) => {
      const value = /^\d{1,10}$/.test(source) ? Number(source) : Number.NaN;
      return value >= minimum && value <= maximum ? value : undefined;
    },
  };
}

function fraction(meaning: string, fallback: string): Setting<number> {
  return {
    fallback,
    meaning,
    expected: 'a number from 0 to 1',
    read: (source) => (/^(0(\.\d+)?|1(\.0+)?)$/.test(source) ? Number(source) : undefined),
  };
}

function text(meaning: string, fallback: string | undefined): Setting<string> {
  return { fallback, meaning, expected: 'text', read: (source) => source };
}

function oneOf<T extends string>(meaning: string, fallback: T, values: readonly T[]): Setting<T> {
  return {
    fallback,
    meaning,
    expected: `one of ${values.join(', ')}`,
    read: (source) => values.find((value) => value === source),
  };
}

function url(meaning: string): Setting<string> {
  return {
    fallback: undefined,
    meaning,
    expected: 'an absolute http or https URL without user, query or fragment',
    read: (source) => {
      const parsed = URL.parse(source);
      const plain = parsed !== null && /^https?:$/.test(parsed.protocol);
      return plain && `${parsed.username}${parsed.password}${parsed.search}${parsed.hash}` === '' ? source : undefined;
    },
  };
}
