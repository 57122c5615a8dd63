import type { BudgetSettings } from '../rest/budget/settings.ts';
import type { Route } from '../rest/transport/pools.ts';
import { type AuthConfig, authWarnings, readAuth } from './auth-settings.ts';
import { budgetWarnings, readBudget } from './budget-settings.ts';
import { cacheWarnings } from './cache-settings.ts';
import { weakSecretWarnings } from './cursor-secret.ts';
import { declare } from './declaration.ts';
import { findMisspelt } from './misspelt.ts';
import { createSettingsReader } from './reader.ts';
import { checkRedis, redisWarnings } from './redis-settings.ts';
import { readRoute } from './route-settings.ts';
import { asksForTraces, ConfigError, type Environment, isSet, type Setting } from './settings.ts';
import type { TlsFiles } from './tls-settings.ts';
import { embedded } from './urls.ts';

/** Everything that can be set from outside, checked and frozen: each setting, and what follows from several. */
export interface Config extends Readonly<Omit<ReturnType<typeof declare>, 'live'>> {
  /** Subscriptions; undefined: there are none. */
  readonly live: Pick<ReturnType<typeof declare>['live'], 'pollMs' | 'maxStreams' | 'maxStreamsPerCaller'> | undefined;
  /** Undefined for the embedded workspace. */
  readonly upstreamUrl: string | undefined;
  /** What looks like a mistake, but need not be one. */
  readonly warnings: readonly string[];
  readonly upstreamRoute: Route;
  /** Where the certificates and the key of that route come from. */
  readonly upstreamTlsFiles: TlsFiles;
  /** How requests are authenticated if the gateway holds the keys; undefined: callers bring their own. */
  readonly auth: AuthConfig | undefined;
  /** What each upstream key may call; undefined: as much as it likes. */
  readonly budget: BudgetSettings | undefined;
  readonly explain: boolean;
  readonly introspection: boolean;
  readonly graphiql: boolean;
  readonly corsOrigins: readonly string[];
  readonly corsHeaders: readonly string[];
  /** Whether OpenTelemetry's own variables ask for traces. */
  readonly traces: boolean;
}

/** Every environment variable, as docs/settings.md and `--help` show it. */
export const settings = allSettings();

function allSettings(): Readonly<Record<string, Setting<unknown>>> {
  const reader = createSettingsReader({});
  declare(reader);
  return reader.settings;
}

/** Reads the settings from an environment. Throws a ConfigError for a wrong value, or for a name that is nearly one. */
export function readConfig(environment: Environment): Config {
  const declared = declare(createSettingsReader(withoutServiceLinks(environment)));
  const { cursorSecret } = declared;
  const upstreamUrl = declared.upstreamUrl === embedded ? undefined : declared.upstreamUrl;
  checkRedis(environment);
  checkAdmin(declared);
  const auth = readAuth(environment);
  const persisted = Object.freeze({ ...declared.persisted, mode: documentModeOf(environment, declared, auth) });
  return Object.freeze({
    ...declared,
    upstreamUrl,
    ...readRoute(environment, upstreamUrl),
    auth,
    budget: readBudget(environment),
    live: declared.live.isOn ? declared.live : undefined,
    persisted,
    explain: declared.explain ?? upstreamUrl === undefined,
    introspection: declared.introspection ?? (!isProduction(environment) && persisted.mode !== 'only'),
    graphiql: declared.graphiql ?? !isProduction(environment),
    corsOrigins: declared.corsOrigins ?? [],
    corsHeaders: declared.corsHeaders ?? [],
    traces: asksForTraces(environment),
    warnings: [
      ...findMisspelt(environment, settings),
      ...authWarnings(environment),
      ...budgetWarnings(environment),
      ...cacheWarnings(environment),
      ...redisWarnings(environment),
      ...workspaceWarnings(environment, upstreamUrl),
      ...weakSecretWarnings(cursorSecret, upstreamUrl),
    ],
  });
}

/** True if the gateway serves others: many programs are told so by this variable. */
export function isProduction({ NODE_ENV: kind }: Environment): boolean {
  return kind === 'production';
}

/** Throws a ConfigError if example data would be served in production without a word that asks for it. */
export function requireUpstream(environment: Environment): void {
  if (!isProduction(environment) || isSet(environment, 'UPSTREAM_URL')) return;
  throw new ConfigError(
    `UPSTREAM_URL: expected the URL of the REST API, or ${embedded} to serve example data, but it is not set, and NODE_ENV is production`,
  );
}

/** A token says who asks; which documents may be asked, only their list does. */
function documentModeOf(
  { PERSISTED_DOCUMENTS_MODE: given = '' }: Environment,
  { persisted }: Pick<Config, 'persisted'>,
  auth: AuthConfig | undefined,
): Config['persisted']['mode'] {
  return given === '' && auth !== undefined ? 'only' : persisted.mode;
}

/** Throws a ConfigError if operators would have to ask where everyone may. */
function checkAdmin({ adminTokenFile, metricsPort }: ReturnType<typeof declare>): void {
  if (adminTokenFile === undefined || metricsPort !== undefined) return;
  throw new ConfigError('ADMIN_TOKEN_FILE: expected METRICS_PORT beside it, the port of `/admin/`');
}

/** For a service called `metrics` Kubernetes gives containers a variable of the same name as a setting. */
function withoutServiceLinks(environment: Environment): Environment {
  const isLink = environment['METRICS_PORT']?.startsWith('tcp://') === true;
  return isLink ? { ...environment, METRICS_PORT: undefined } : environment;
}

/** What to say of settings of the embedded workspace if the gateway has another upstream. */
function workspaceWarnings(environment: Environment, upstreamUrl: string | undefined): readonly string[] {
  if (upstreamUrl === undefined) return [];
  const idle = Object.keys(settings).filter((name) => name.startsWith('WORKSPACE_') && isSet(environment, name));
  return idle.map((name) => `${name}: it is ignored, because UPSTREAM_URL is set`);
}
