import { isKeySetUrl, toKeySet } from '../auth/key-set.ts';
import { readTenants } from '../auth/read-tenants.ts';
import { TenantsError } from '../auth/tenants-error.ts';
import type { TokenAuthOptions } from '../auth/token-auth.ts';
import { messageOf } from '../error-text.ts';
import { mutationNames } from '../resolvers/resolvers.ts';
import type { Tenants } from '../rest/tenants.ts';
import { cursorSecret } from './cursor-secret.ts';
import { optional, required, type SettingsReader } from './reader.ts';
import { routeTo } from './route-settings.ts';
import { jsonIn, secretFile } from './setting-files.ts';
import { Fault, type Kind, oneOf, text } from './settings.ts';
import { safeUrlIn, shownUrl } from './urls.ts';

/** Settings of the authentication of requests. */
export const authSettings = {
  auth: required(
    'AUTH',
    oneOf('What clients send: an API key of their own (forward), or a token of an identity provider (jwt)', 'forward', [
      'forward',
      'jwt',
    ]),
  ),
  keySet: optional('JWT_JWKS', keySet('Public keys of the identity provider, which verify tokens')),
  issuer: optional('JWT_ISSUER', text('Issuer of the tokens', undefined, 'the `iss` of the tokens, to the letter')),
  audience: optional('JWT_AUDIENCE', text('Audience of the tokens', undefined, 'a value in the `aud` of every token')),
  tenantClaim: required(
    'JWT_TENANT_CLAIM',
    text('Claim that names the tenant of a user', 'tenant', 'the name of a claim'),
  ),
  rolesClaim: optional(
    'JWT_ROLES_CLAIM',
    text(
      'Claim that names the roles of a user. Required if UPSTREAM_KEYS has roles',
      undefined,
      'the name of a claim, or a path such as realm_access.roles',
    ),
  ),
  tenants: optional(
    'UPSTREAM_KEYS',
    secretFile('JSON file with the API key and the rights of each tenant', 'the path of a JSON file', jsonIn),
  ),
};

/** The authentication of requests, and the source of the tenants' keys. */
export interface AuthConfig extends TokenAuthOptions {
  /** The path of the file with the keys of tenants. */
  readonly tenantsPath: string;
}

/** Reads the settings of authentication; undefined if callers send their own key, or if a setting is wrong. */
export function readAuth(reader: SettingsReader): AuthConfig | undefined {
  const { auth, tenants: tenantsSetting, ...token } = authSettings;
  if (reader.read(auth) === 'forward') {
    reader.warnOfIgnored([...Object.values(token), tenantsSetting], 'AUTH is not jwt');
    return undefined;
  }
  const because = 'AUTH is jwt';
  const from = reader.need(token.keySet, because);
  const issuer = reader.need(token.issuer, because);
  const audience = reader.need(token.audience, because);
  const tenantClaim = reader.read(token.tenantClaim);
  const tenantsPath = reader.need(tenantsSetting, because);
  const rolesClaim = reader.read(token.rolesClaim);
  const tenants = readTenantsSetting(reader, rolesClaim !== undefined);
  reader.need(cursorSecret, because);
  if (!(from && issuer && audience && tenantsPath && tenants)) return undefined;
  const route = isKeySetUrl(from) ? routeTo(from, reader) : {};
  return Object.freeze({
    rules: { issuer, audience, tenantClaim, rolesClaim },
    keySet: from,
    route,
    tenants,
    tenantsPath,
  });
}

/**
 * The tenants in the file that UPSTREAM_KEYS names; undefined if it is not set, or if the file cannot be used. `hasRoles` is
 * true if entries may have roles.
 */
export function readTenantsSetting(reader: SettingsReader, hasRoles: boolean): Tenants | undefined {
  const { name } = authSettings.tenants;
  const path = reader.read(authSettings.tenants);
  if (path === undefined) return undefined;
  try {
    return readTenants({ path, environment: reader.environment, mutationNames, hasRoles }).tenants;
  } catch (error) {
    if (!(error instanceof TenantsError)) throw error;
    for (const fault of error.faults) reader.fault(name, fault);
    return undefined;
  }
}

/** The location of a key set. A file is read at once to check it. */
function keySet(meaning: string): Kind<string> {
  return {
    fallback: undefined,
    meaning,
    expected: 'an https URL (http on loopback only), or the path of a JSON Web Key Set',
    // A value that is not a URL may be a secret that tokens are signed with.
    shown: (source) => (isUrl(source) ? shownUrl(source) : undefined),
    read: (source) => (isUrl(source) ? safeUrlIn(source)?.href : keySetFile(source)),
  };
}

function isUrl(source: string): boolean {
  return /^\s*[a-z][a-z\d+.-]+:/i.test(source) || /:\/\/|@/.test(source);
}

function keySetFile(path: string): string {
  const content = jsonIn(path);
  try {
    toKeySet(content, 'the file');
    return path;
  } catch (error) {
    throw new Fault(messageOf(error));
  }
}
