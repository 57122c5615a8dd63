import type { McpConfig } from '../mcp/mcp.ts';
import type { BudgetSettings } from '../rest/budget/settings.ts';
import type { Route } from '../rest/transport/connect.ts';
import { type AuthConfig, readAuth } from './auth-settings.ts';
import { readBudget } from './budget-settings.ts';
import { type CacheConfig, readCache } from './cache-settings.ts';
import { cursorSecret } from './cursor-secret.ts';
import { plainSettings, settings } from './declaration.ts';
import { readMcp } from './mcp-settings.ts';
import { findMisspelt } from './names.ts';
import { checkRedis, type PersistedConfig, readPersisted } from './persisted-settings.ts';
import { type EnvironmentFile, SettingsReader } from './reader.ts';
import { readRoute } from './route-settings.ts';
import type { Environment } from './settings.ts';
import type { TlsFiles } from './tls-settings.ts';
import { readTraces } from './trace-settings.ts';
import { embedded } from './urls.ts';

/** The values of the settings that depend on no other setting: all that commands need, except those that serve. */
export type PlainConfig = ReturnType<typeof readPlainSettings>;

/** The whole configuration, checked and frozen: each setting, and the values that follow from several. */
export interface Config extends Readonly<Omit<PlainConfig, 'live'>> {
  /** The settings of subscriptions; undefined if there are none. */
  readonly live: PlainConfig['live'] | undefined;
  /** Messages about settings that look like mistakes but may be intended. */
  readonly warnings: readonly string[];
  readonly upstreamRoute: Route;
  /** The files of the certificates and of the key of that route. */
  readonly upstreamTlsFiles: TlsFiles;
  /** The authentication of requests if the gateway holds the keys; undefined if callers send their own. */
  readonly auth: AuthConfig | undefined;
  readonly budget: BudgetSettings | undefined;
  readonly persisted: PersistedConfig;
  readonly cache: CacheConfig | undefined;
  readonly mcp: McpConfig | undefined;
  readonly explain: boolean;
  readonly introspection: boolean;
  readonly graphiql: boolean;
  readonly corsOrigins: readonly string[];
  readonly corsHeaders: readonly string[];
  /** True if OpenTelemetry's own variables ask for traces. */
  readonly traces: boolean;
}

/** Makes a reader of the settings in an environment, and in a file of the same form. */
export function createReader(environment: Environment, file?: EnvironmentFile): SettingsReader {
  // Kubernetes sets a variable with this setting's name for a service called `metrics`.
  const isLink = environment['METRICS_PORT']?.startsWith('tcp://') === true;
  const reader = new SettingsReader(isLink ? { ...environment, METRICS_PORT: undefined } : environment, file);
  findMisspelt(reader, settings);
  return reader;
}

/** Reads the settings that a command needs. Throws a ConfigError with all faults. */
export function readPlainConfig(reader: SettingsReader): PlainConfig {
  const config = readPlainSettings(reader);
  reader.finish();
  return config;
}

function readPlainSettings(reader: SettingsReader) {
  const { upstreamUrl: url, ...values } = reader.all(plainSettings);
  // Undefined for the embedded workspace.
  return { ...values, upstreamUrl: url === embedded ? undefined : url };
}

/** Reads all settings that serving needs. Throws a ConfigError with all faults. */
export function readConfig(environment: Environment, file?: EnvironmentFile): Config {
  const reader = createReader(environment, file);
  const plain = readPlainSettings(reader);
  const { upstreamUrl } = plain;
  requireUpstream(reader);
  const { adminTokenFile, metricsPort } = plainSettings;
  if (reader.isSet(adminTokenFile.name)) reader.need(metricsPort, `${adminTokenFile.name} is set`);
  const auth = readAuth(reader);
  const persisted = readPersisted(reader);
  checkRedis(reader);
  if (upstreamUrl !== undefined && !reader.isSet(cursorSecret.name))
    reader.warnings.push(
      `${cursorSecret.name}: expected ${cursorSecret.expected}, but it is not set, so cursors are signed with a secret that follows from UPSTREAM_URL`,
    );
  if (upstreamUrl !== undefined)
    reader.warnOfIgnored(
      Object.values(settings).filter(({ name }) => name.startsWith('WORKSPACE_')),
      'UPSTREAM_URL is set',
    );
  const config = Object.freeze({
    ...plain,
    ...readRoute(reader, upstreamUrl),
    auth,
    budget: readBudget(reader),
    cache: readCache(reader),
    mcp: readMcp(reader),
    live: plain.live.isOn ? plain.live : undefined,
    persisted,
    explain: plain.explain ?? upstreamUrl === undefined,
    introspection: plain.introspection ?? (!isProduction(reader.environment) && persisted.mode !== 'only'),
    graphiql: plain.graphiql ?? !isProduction(reader.environment),
    corsOrigins: plain.corsOrigins ?? [],
    corsHeaders: plain.corsHeaders ?? [],
    traces: readTraces(reader),
    warnings: reader.warnings,
  });
  reader.finish();
  return config;
}

/** True in production. Many programs read this variable for that. */
export function isProduction({ NODE_ENV: kind }: Environment): boolean {
  return kind === 'production';
}

/** Reports a fault if example data would be served in production without being asked for. */
function requireUpstream(reader: SettingsReader): void {
  if (!isProduction(reader.environment) || reader.isSet('UPSTREAM_URL')) return;
  const expected = `the URL of the REST API, or ${embedded} to serve example data`;
  reader.fault('UPSTREAM_URL', `expected ${expected}, but it is not set, and NODE_ENV is production`);
}
