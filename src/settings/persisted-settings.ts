import { ManifestError, readFiles, readManifest, sourcesOf } from '../operation/persisted/manifest.ts';
import { type DocumentMode, documentModes } from '../operation/persisted/resolve.ts';
import { redisAddressOf } from '../redis-address.ts';
import type { Route } from '../rest/transport/connect.ts';
import { authSettings } from './auth-settings.ts';
import { optional, required, type SettingsReader, type Values } from './reader.ts';
import { routeTo } from './route-settings.ts';
import { pemFile, secretFile } from './setting-files.ts';
import { type Kind, nothing, oneOf, onOff, text, whole } from './settings.ts';
import { hasCredentials, redisUrl, safeUrlIn, shownUrls } from './urls.ts';

/** The Redis that gateways share. */
const redisSettings = {
  redisUrl: optional(
    'REDIS_URL',
    redisUrl('Redis in which gateways share budgets, the cache and registered documents. Default: none'),
  ),
  redisAuthorities: optional('REDIS_CA', pemFile('PEM file with more certificate authorities for Redis')),
  redisPasswordFile: optional(
    'REDIS_PASSWORD_FILE',
    secretFile(
      'File with the password of Redis. It is read for each new connection',
      'the path of a file with a password',
    ),
  ),
  redisSentinelPassword: optional('REDIS_SENTINEL_PASSWORD', {
    ...text('Password of the Sentinels', undefined, 'a password'),
    shown: nothing,
  }),
};

/**
 * Reports a fault if Redis has two passwords, and warns of settings that have no effect without Redis, without TLS to it,
 * or without Sentinels.
 */
export function checkRedis(reader: SettingsReader): void {
  const { redisUrl: address, redisAuthorities, redisPasswordFile, redisSentinelPassword } = redisSettings;
  if (!reader.isSet(address.name)) {
    const others = [redisAuthorities, redisPasswordFile, redisSentinelPassword];
    return reader.warnOfIgnored(others, `${address.name} is not set`);
  }
  const source = reader.read(address);
  if (source === undefined) return;
  const { kind, isSecure, members } = redisAddressOf(source);
  if (!isSecure) reader.warnOfIgnored([redisAuthorities], `${address.name} is not a rediss URL`);
  if (kind !== 'sentinel') reader.warnOfIgnored([redisSentinelPassword], `${address.name} names no Sentinels`);
  const url = URL.parse(members[0] ?? '');
  const hasPassword = url !== null && (url.password !== '' || url.searchParams.has('password'));
  if (hasPassword && reader.isSet(redisPasswordFile.name))
    reader.fault(redisPasswordFile.name, `expected a ${address.name} without a password, but it has one`);
}

/** Settings of persisted documents and of the store for those that clients register. */
export const persistedSettings = {
  files: optional('PERSISTED_DOCUMENTS', manifests('Manifests: files with GraphQL documents and their ids')),
  tokenFile: optional(
    'PERSISTED_DOCUMENTS_TOKEN_FILE',
    secretFile('File with the bearer token for the URLs of PERSISTED_DOCUMENTS', 'the path of a file with a token'),
  ),
  mode: optional(
    'PERSISTED_DOCUMENTS_MODE',
    oneOf(
      '`off` ignores manifests. `allow` runs all documents. `log` also logs those that no manifest has. `only` refuses those. Default: `only` with AUTH=jwt, else `allow`',
      undefined,
      documentModes,
    ),
  ),
  strict: required(
    'PERSISTED_DOCUMENTS_STRICT',
    onOff('Stops the start if a document in a manifest is not valid', 'off'),
  ),
  getMaxAge: required(
    'PERSISTED_GET_MAX_AGE',
    whole('Seconds for which browsers may keep the answer of a GET request with a document id', '0', 0, 31_536_000),
  ),
  automatic: optional(
    'APQ',
    onOff(
      'Lets clients register documents by hash (automatic persisted queries). Default: on, off with PERSISTED_DOCUMENTS_MODE=only',
      undefined,
    ),
  ),
  ...redisSettings,
};

/** The configuration of persisted documents, and the routes to those on servers. */
export interface PersistedConfig extends Values<typeof persistedSettings> {
  readonly mode: DocumentMode;
  readonly routes: Readonly<Record<string, Route>>;
}

/** Reads the settings of persisted documents. Reports a fault if their manifests are missing or cannot be read. */
export function readPersisted(reader: SettingsReader): PersistedConfig {
  const { mode: modeSetting, files } = persistedSettings;
  const values = reader.all(persistedSettings);
  const isJwt = reader.read(authSettings.auth) === 'jwt';
  const isGiven = reader.isSet(modeSetting.name);
  // A token identifies the caller, but only a list of documents restricts the operations.
  const mode: DocumentMode = values.mode ?? (isJwt ? 'only' : 'allow');
  if (isJwt && mode !== 'only')
    reader.warnings.push(
      `${modeSetting.name}: with AUTH=jwt expected only, but it is ${mode}: any user may run any document`,
    );
  const origin = isGiven ? `set in ${reader.placeOf(modeSetting.name)}` : 'its default with AUTH=jwt';
  if (mode === 'only' || mode === 'log') reader.need(files, `${modeSetting.name} is ${mode} (${origin})`);
  if (mode !== 'off' && values.files !== undefined) checkManifests(values.files, reader);
  const { urls } = sourcesOf(values.files ?? '');
  if (urls.length === 0) reader.warnOfIgnored([persistedSettings.tokenFile], `${files.name} names no URL`);
  const routes = Object.fromEntries(urls.map((url) => [url, routeTo(url, reader)]));
  return Object.freeze({ ...values, mode, routes });
}

function checkManifests(files: string, reader: SettingsReader): void {
  try {
    for (const { file, text: content } of sourcesOf(files).patterns.flatMap(readFiles)) readManifest(file, content);
  } catch (error) {
    if (!(error instanceof ManifestError)) throw error;
    reader.fault(persistedSettings.files.name, error.message);
  }
}

/** The locations of manifests. Messages show a URL without the parts that may hold a key. */
function manifests(meaning: string): Kind<string> {
  return {
    fallback: undefined,
    meaning,
    expected: 'paths of files or folders, globs, or https URLs (http on loopback only), separated by commas',
    shown: (source) => (/:\/\/|@/.test(source) ? shownUrls(source) : JSON.stringify(source)),
    read: (source) => {
      if (hasCredentials(source)) return undefined;
      const { patterns, urls } = sourcesOf(source);
      const isUsable = patterns.every((pattern) => !pattern.includes('://')) && urls.every((url) => safeUrlIn(url));
      return isUsable ? source : undefined;
    },
  };
}
