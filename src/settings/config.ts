import { createHash } from 'node:crypto';
import { isKeySetUrl } from '../auth/key-set.ts';
import { readTenants, type TenantsSource } from '../auth/tenants-file.ts';
import type { McpConfig } from '../mcp/mcp.ts';
import { entriesIn, sourcesOf } from '../operation/persisted/manifest.ts';
import type { DocumentMode } from '../operation/persisted/resolve.ts';
import { redisAddressOf } from '../redis-address.ts';
import { mutationNames } from '../resolvers/resolvers.ts';
import type { BudgetSettings } from '../rest/budget/settings.ts';
import type { Tenants } from '../rest/tenants.ts';
import type { Route } from '../rest/transport/connect.ts';
import {
  authSettings,
  bodyLimits,
  budgetSettings,
  cacheSettings,
  documentLimits,
  liveSettings,
  mcpSettings,
  persistedSettings,
  plainSettings,
  redisSettings,
  settings,
  workspaceSettings,
} from './declaration.ts';
import { findMisspelt } from './names.ts';
import { readRoute, routeTo, tlsFilesOf } from './route.ts';
import { define, type Environment, type EnvironmentFile, SettingsReader } from './settings-reader.ts';
import { collectorUrl, embedded } from './urls.ts';

/** The values of the settings that depend on no other setting. Most commands that do not serve need no others. */
export type PlainConfig = ReturnType<typeof readPlainSettings>;

/** The whole configuration, checked and frozen. Some values follow from several settings. */
export type Config = ReturnType<typeof readAllSettings>;

/** Makes a reader of the settings in an environment, and in a file of the same form. */
export function createReader(environment: Environment, file?: EnvironmentFile): SettingsReader {
  // For a service called `metrics`, Kubernetes sets METRICS_PORT to a link. It is ignored, so that `.env` may set the
  // port.
  const isLink = (name: string): boolean => name.endsWith('_PORT') && environment[name]?.startsWith('tcp://') === true;
  const own = Object.fromEntries(Object.entries(environment).filter(([name]) => !isLink(name)));
  const reader = new SettingsReader(own, file);
  findMisspelt(reader, settings);
  return reader;
}

/** Reads the settings that a command needs. Throws a ConfigError with all faults. */
export function readPlainConfig(reader: SettingsReader): PlainConfig {
  const config = readPlainSettings(reader);
  reader.throwFaults();
  return config;
}

function readPlainSettings(reader: SettingsReader) {
  const { upstreamUrl: url, ...values } = reader.all(plainSettings);
  return {
    ...values,
    bodyLimits: reader.all(bodyLimits),
    documentLimits: reader.all(documentLimits),
    live: reader.all(liveSettings),
    workspace: reader.all(workspaceSettings),
    // Undefined for the embedded workspace.
    upstreamUrl: url === embedded ? undefined : url,
  };
}

/** Reads all settings that serving needs. Throws a ConfigError with all faults. */
export function readConfig(environment: Environment, file?: EnvironmentFile): Config {
  const reader = createReader(environment, file);
  const config = readAllSettings(reader);
  reader.throwFaults();
  return config;
}

function readAllSettings(reader: SettingsReader) {
  const plain = readPlainSettings(reader);
  const { upstreamUrl } = plain;
  const { adminTokenFile, cursorSecret, metricsPort, upstreamUrl: urlSetting } = plainSettings;
  const isInProduction = isProduction(reader.environment);
  if (isInProduction && !reader.isSet(urlSetting.name)) {
    const expected = `the URL of the REST API, or ${embedded} to serve example data`;
    reader.addFault(urlSetting.name, `expected ${expected}, but it is not set, and NODE_ENV is production`);
  }
  if (reader.isSet(adminTokenFile.name)) reader.need(metricsPort, `${adminTokenFile.name} is set`);
  const auth = readAuth(reader);
  const persisted = readPersisted(reader);
  checkRedis(reader);
  if (upstreamUrl !== undefined) {
    if (!reader.isSet(cursorSecret.name))
      reader.warnings.push(
        `${cursorSecret.name}: expected ${cursorSecret.expected}, but it is not set, so cursors are signed with a secret that is made from ${urlSetting.name}`,
      );
    reader.warnOfIgnored(Object.values(workspaceSettings), `${urlSetting.name} is set`);
  }
  return Object.freeze({
    ...plain,
    upstreamRoute: readRoute(reader, upstreamUrl),
    upstreamTlsFiles: tlsFilesOf(reader),
    // Undefined if callers send their own key.
    auth,
    budget: readBudget(reader),
    cache: readCache(reader),
    mcp: readMcp(reader),
    live: plain.live.isOn ? plain.live : undefined,
    persisted,
    explain: plain.explain ?? upstreamUrl === undefined,
    introspection: plain.introspection ?? (!isInProduction && persisted.mode !== 'only'),
    graphiql: plain.graphiql ?? !isInProduction,
    corsOrigins: plain.corsOrigins ?? [],
    corsHeaders: plain.corsHeaders ?? [],
    traces: readTraces(reader),
    warnings: reader.warnings,
  });
}

/** True if `NODE_ENV` is `production`. Many programs read that variable to know that they run in production. */
export function isProduction({ NODE_ENV: kind }: Environment): boolean {
  return kind === 'production';
}

/** The secret that signs cursors. By default it follows from the upstream's URL, so that replicas have the same one. */
export function cursorSecretOf(secret: string | undefined, upstreamUrl: string): string {
  return secret ?? createHash('sha256').update(`cursors of ${upstreamUrl}`).digest('base64url');
}

/** Reads the settings of authentication; undefined if callers send their own key, or if a setting is wrong. */
function readAuth(reader: SettingsReader) {
  const { auth, tenants: tenantsSetting, ...token } = authSettings;
  if (reader.read(auth) === 'forward') {
    reader.warnOfIgnored([...Object.values(token), tenantsSetting], 'AUTH is not jwt');
    return undefined;
  }
  const because = 'AUTH is jwt';
  const keySet = reader.need(token.keySet, because);
  const issuer = reader.need(token.issuer, because);
  const audience = reader.need(token.audience, because);
  const tenantClaim = reader.read(token.tenantClaim);
  const tenantsPath = reader.need(tenantsSetting, because);
  const rolesClaim = reader.read(token.rolesClaim);
  // The file is read here only to report its faults. The process that follows the file reads it again.
  readTenantsSetting(reader, rolesClaim !== undefined);
  reader.need(plainSettings.cursorSecret, because);
  if (!(keySet && issuer && audience && tenantsPath)) return undefined;
  const route: Route = isKeySetUrl(keySet) ? routeTo(keySet, reader) : {};
  return Object.freeze({ rules: { issuer, audience, tenantClaim, rolesClaim }, keySet, route, tenantsPath });
}

/** The file of tenants that the settings of authentication name, with all that is needed to read it. */
export function tenantsSourceOf(
  { tenantsPath: path, rules }: NonNullable<Config['auth']>,
  environment: Environment,
): TenantsSource {
  return { path, environment, mutationNames, hasRoles: rules.rolesClaim !== undefined };
}

/**
 * The tenants in the file that UPSTREAM_KEYS names; undefined if the variable is not set, or if the file cannot be
 * used. Reports the faults of the file. `hasRoles` is true if entries may have roles.
 */
export function readTenantsSetting(reader: SettingsReader, hasRoles: boolean): Tenants | undefined {
  const path = reader.read(authSettings.tenants);
  if (path === undefined) return undefined;
  const { environment } = reader;
  return reader.collect(
    authSettings.tenants,
    () => readTenants({ path, environment, mutationNames, hasRoles }).tenants,
  );
}

/** Reads the budget of each key; undefined if calls are not limited. */
function readBudget(reader: SettingsReader): BudgetSettings | undefined {
  const { windows: setting, ...others } = budgetSettings;
  const windows = reader.read(setting);
  const { scope, share, agentShare, replicas = 1 } = reader.all(others);
  if (!reader.isSet(setting.name)) reader.warnOfIgnored(Object.values(others), `${setting.name} is not set`);
  if (windows === undefined) return undefined;
  if (reader.read(authSettings.auth) !== 'jwt')
    reader.warnOfIgnored([others.share], 'AUTH is not jwt, so the gateway does not know users');
  if (reader.isSet('REDIS_URL')) reader.need(others.replicas, `${setting.name} and REDIS_URL are set`);
  else reader.warnOfIgnored([others.replicas], 'REDIS_URL is not set, so each gateway has the whole budget');
  if (!reader.isSet('MCP_TOOLS')) reader.warnOfIgnored([others.agentShare], 'MCP_TOOLS is not set');
  return Object.freeze({ windows, scope, share, agentShare, replicas });
}

/** Reads the settings of the cache; undefined if nothing is cached. `ttls` and `staleSeconds` are in seconds. */
function readCache(reader: SettingsReader) {
  const { ttls: setting, ...others } = cacheSettings;
  const ttls = reader.read(setting);
  const { staleSeconds, mebibytes } = reader.all(others);
  if (!reader.isSet(setting.name)) reader.warnOfIgnored(Object.values(others), `${setting.name} is not set`);
  return ttls && Object.freeze({ ttls, staleSeconds, maxBytes: mebibytes * 2 ** 20 });
}

/** Reads the settings of the endpoint for agents; undefined if there is none. */
function readMcp(reader: SettingsReader): McpConfig | undefined {
  const { tools: setting, publicUrl: urlSetting } = mcpSettings;
  const tools = reader.read(setting);
  const publicUrl = reader.read(urlSetting);
  if (!reader.isSet(setting.name)) {
    reader.warnOfIgnored([urlSetting], `${setting.name} is not set`);
    return undefined;
  }
  const { files, mode } = persistedSettings;
  reader.need(files, `${setting.name} is set`);
  if (reader.read(mode) === 'off')
    reader.addFault(mode.name, `expected allow, log or only, because ${setting.name} is set, but it is off`);
  if (reader.read(authSettings.auth) === 'jwt') reader.need(urlSetting, `${setting.name} is set and AUTH is jwt`);
  return tools && Object.freeze({ tools, publicUrl });
}

/**
 * Reads the settings of persisted documents and of Redis. Reports a fault if manifests are missing or cannot be read.
 * `routes` has the route to each manifest that is on a server. The key is the URL of the manifest.
 */
function readPersisted(reader: SettingsReader) {
  const { mode: modeSetting, files, tokenFile } = persistedSettings;
  const values = reader.all({ ...persistedSettings, ...redisSettings });
  const isJwt = reader.read(authSettings.auth) === 'jwt';
  // A token identifies the caller, but only a list of documents restricts the operations.
  const mode: DocumentMode = values.mode ?? (isJwt ? 'only' : 'allow');
  if (isJwt && mode !== 'only')
    reader.warnings.push(
      `${modeSetting.name}: expected the mode "only" with AUTH=jwt, but it is ${mode}: any user may run any document`,
    );
  const origin = reader.isSet(modeSetting.name)
    ? `set in ${reader.placeOf(modeSetting.name)}`
    : 'its default with AUTH=jwt';
  if (mode === 'only' || mode === 'log') reader.need(files, `${modeSetting.name} is ${mode} (${origin})`);
  const { patterns, urls } = sourcesOf(values.files ?? '');
  if (mode !== 'off') reader.collect(files, () => entriesIn(patterns));
  if (urls.length === 0) reader.warnOfIgnored([tokenFile], `${files.name} names no URL`);
  return Object.freeze({ ...values, mode, routes: Object.fromEntries(urls.map((url) => [url, routeTo(url, reader)])) });
}

/**
 * Reports a fault if two passwords of Redis are set. Warns of settings that have no effect without Redis, without TLS
 * to it, or without Sentinels.
 */
function checkRedis(reader: SettingsReader): void {
  const { redisUrl: address, ...others } = redisSettings;
  const { redisAuthorities, redisPasswordFile, redisSentinelPassword } = others;
  if (!reader.isSet(address.name)) reader.warnOfIgnored(Object.values(others), `${address.name} is not set`);
  const source = reader.read(address);
  if (source === undefined) return;
  const { kind, isSecure, members } = redisAddressOf(source);
  if (!isSecure) reader.warnOfIgnored([redisAuthorities], `${address.name} is not a rediss URL`);
  if (kind !== 'sentinel') reader.warnOfIgnored([redisSentinelPassword], `${address.name} names no Sentinels`);
  const url = URL.parse(members[0] ?? '');
  const hasPassword = url !== null && (url.password !== '' || url.searchParams.has('password'));
  if (hasPassword && reader.isSet(redisPasswordFile.name))
    reader.addFault(redisPasswordFile.name, `expected ${address.name} to have no password, but it has one`);
}

/**
 * True if OpenTelemetry's own variables ask for traces. Its SDK sends traces by default, but the gateway sends them
 * only if an endpoint, an exporter or a configuration file is set. Reports faults in the URLs of collectors, because
 * the SDK prints a wrong URL in full, and then uses another host.
 */
function readTraces(reader: SettingsReader): boolean {
  const { environment } = reader;
  const value = (name: string): string => environment[name]?.trim().toLowerCase() ?? '';
  if (value('OTEL_SDK_DISABLED') === 'true') return false;
  const exporter = value('OTEL_TRACES_EXPORTER');
  const hasEndpoint = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'].some(
    (name) => value(name) !== '',
  );
  const isAskedFor = value('OTEL_CONFIG_FILE') !== '' || (exporter === '' ? hasEndpoint : exporter !== 'none');
  if (!isAskedFor) return false;
  for (const signal of ['', 'TRACES_', 'METRICS_', 'LOGS_']) {
    const protocol = environment[`OTEL_EXPORTER_OTLP_${signal}PROTOCOL`] ?? environment['OTEL_EXPORTER_OTLP_PROTOCOL'];
    // Over gRPC a host without a scheme is an endpoint, too.
    if (protocol?.startsWith('grpc') !== true)
      reader.read(define(`OTEL_EXPORTER_OTLP_${signal}ENDPOINT`, collectorUrl, 'Where spans are sent'));
  }
  return true;
}
