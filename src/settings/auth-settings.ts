import { readFileSync } from 'node:fs';
import { isKeySetUrl, toKeySet } from '../auth/key-set-source.ts';
import { readTenants } from '../auth/read-tenants.ts';
import type { TokenAuthOptions } from '../auth/token-auth.ts';
import { messageOf } from '../error-text.ts';
import { mutationNames } from '../resolvers/resolvers.ts';
import { readRoute } from './route-settings.ts';
import { ConfigError, type Environment, given, isSet, oneOf, required, type Setting, text } from './settings.ts';
import { shownPath } from './tls-settings.ts';
import { safeUrlIn, shownUrl } from './urls.ts';

/** How requests are authenticated. */
export const authSettings = {
  AUTH: oneOf('Whether callers bring their own key (forward), or a token of an identity provider (jwt)', 'forward', [
    'forward',
    'jwt',
  ]),
  JWT_JWKS: keySet('Where the keys are that tokens are verified with'),
  JWT_ISSUER: text('The `iss` of every token', undefined, 'a text'),
  JWT_AUDIENCE: text('What the `aud` of every token is, or has among others', undefined, 'a text'),
  JWT_TENANT_CLAIM: text('The claim of a token that names its tenant', 'tenant', 'the name of a claim'),
  UPSTREAM_KEYS: text(
    'JSON file with the keys of tenants, and what these may reach',
    undefined,
    'the path of a JSON file',
  ),
} as const;

/** How requests are authenticated, and where the keys of tenants come from. */
export interface AuthConfig extends TokenAuthOptions {
  /** The path of the file with the keys of tenants. */
  readonly tenantsPath: string;
}

/** Reads how requests are authenticated; undefined if callers bring their own key. */
export function readAuth(environment: Environment): AuthConfig | undefined {
  if (required(environment, 'AUTH', authSettings.AUTH) === 'forward') return undefined;
  const from = neededForTokens(environment, 'JWT_JWKS');
  const tenantsPath = neededForTokens(environment, 'UPSTREAM_KEYS');
  const rules = {
    issuer: neededForTokens(environment, 'JWT_ISSUER'),
    audience: neededForTokens(environment, 'JWT_AUDIENCE'),
    tenantClaim: required(environment, 'JWT_TENANT_CLAIM', authSettings.JWT_TENANT_CLAIM),
  };
  neededForTokens(environment, 'CURSOR_SECRET');
  const route = isKeySetUrl(from) ? routeTo(environment, from) : {};
  const { tenants } = readTenantsOf(tenantsPath, environment);
  return Object.freeze({ rules, keySet: from, route, tenants, tenantsPath });
}

/** What to say of settings that mean nothing, or open what tokens are meant to close. */
export function authWarnings(environment: Environment): readonly string[] {
  const names = ['JWT_JWKS', 'JWT_ISSUER', 'JWT_AUDIENCE', 'JWT_TENANT_CLAIM', 'UPSTREAM_KEYS'] as const;
  if (environment['AUTH'] !== 'jwt') {
    const idle = names.filter((name) => isSet(environment, name));
    return idle.map((name) => `${name}: it is ignored, because AUTH is not jwt`);
  }
  const mode = environment['PERSISTED_DOCUMENTS_MODE'] ?? '';
  if (mode === '' || mode === 'only') return [];
  return [`PERSISTED_DOCUMENTS_MODE: with AUTH=jwt expected only, but it is ${mode}: any user may run any document`];
}

/** The tenants in a file. Throws a ConfigError if it cannot be used. */
function readTenantsOf(path: string, environment: Environment): ReturnType<typeof readTenants> {
  try {
    return readTenants({ path, environment, mutationNames });
  } catch (error) {
    throw new ConfigError(`UPSTREAM_KEYS: ${messageOf(error)}`);
  }
}

function neededForTokens(
  environment: Environment,
  name: 'JWT_JWKS' | 'JWT_ISSUER' | 'JWT_AUDIENCE' | 'UPSTREAM_KEYS' | 'CURSOR_SECRET',
): string {
  const setting =
    name === 'CURSOR_SECRET' ? text('', undefined, 'a secret that cannot be guessed') : authSettings[name];
  const value = given(environment, name, setting);
  if (value !== undefined) return value;
  throw new ConfigError(`${name}: expected ${setting.expected}, because AUTH is jwt, but it is not set`);
}

/** The way to the identity provider: a client certificate is for the upstream alone. */
function routeTo(environment: Environment, url: string): AuthConfig['route'] {
  const { proxy, authorities } = readRoute(environment, url).upstreamRoute;
  return { ...(proxy !== undefined && { proxy }), ...(authorities !== undefined && { authorities }) };
}

/** Where a key set is; a file is looked into at once. */
function keySet(meaning: string): Setting<string> {
  return {
    fallback: undefined,
    meaning,
    expected: 'an https URL (http on loopback only), or the path of a JSON Web Key Set with public keys',
    shown: (source) => (isUrl(source) ? shownUrl(source) : shownPath(source)),
    read: (source) => (isUrl(source) ? safeUrlIn(source)?.href : keySetFile(source)),
  };
}

function isUrl(source: string): boolean {
  return /^\s*[a-z][a-z\d+.-]+:/i.test(source) || /:\/\/|@/.test(source);
}

function keySetFile(path: string): string | undefined {
  try {
    toKeySet(readFileSync(path, 'utf8'));
    return path;
  } catch {
    return undefined;
  }
}
