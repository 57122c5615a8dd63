import type { JWTPayload, JWTVerifyOptions } from 'jose';
import { latePackage } from '../late-packages.ts';
import { isList, isObject } from '../rest/values.ts';
import type { KeySet } from './key-set.ts';

export interface TokenRules {
  readonly issuer: string;
  /** The value that the `aud` of a token must be or contain, unless the token is for agents alone. */
  readonly audience: string;
  /** The audience of tokens that are for agents alone; undefined if there are none. */
  readonly agentAudience?: string | undefined;
  readonly tenantClaim: string;
  /** The claim that names the roles, or a dotted path to it; undefined if no claim names roles. */
  readonly rolesClaim?: string | undefined;
}

/** The facts from a verified token. */
export interface VerifiedToken {
  readonly tenant: string;
  /** The `sub`: a user of the identity provider. */
  readonly subject: string;
  /** The roles that the token names. The tenant's entry may have none of them. */
  readonly roles: readonly string[];
  /** True if the token is for the endpoint of agents alone. */
  readonly isForAgentsOnly: boolean;
  /** The time at which the token expires, tolerance included, in milliseconds of `Date.now()`. */
  readonly expiresAt: number;
}

export type Verification =
  | { readonly kind: 'verified'; readonly token: VerifiedToken }
  // Malformed, of another provider, expired, or signed with a key that the provider does not have; `reason` says which.
  | { readonly kind: 'invalid'; readonly reason: string }
  // It cannot be verified now, because the provider's keys cannot be read. `retryAfter` is in seconds.
  | { readonly kind: 'unverifiable'; readonly retryAfter: number };

/** The longest token, in characters. */
const longest = 8192;

/** The tolerated difference between the clocks of the provider and of the gateway, in seconds. */
const toleranceSeconds = 30;

/**
 * The accepted algorithms, all with public keys. With a shared key, each party that verifies tokens could also sign
 * them.
 */
const algorithms = ['RS256', 'PS256', 'ES256', 'EdDSA'];

/**
 * Verifies a token (RFC 7519) with the provider's keys alone. Keys that the token itself names (`jwk`, `jku`, `x5u`)
 * are never used.
 */
export async function verifyToken(token: string, keySet: KeySet, rules: TokenRules): Promise<Verification> {
  if (token.length > longest) return invalid(`it has more than ${longest} characters`);
  // Outside the `try`: a package that cannot be loaded says nothing about the token.
  const { errors, jwtVerify } = latePackage('jose');
  try {
    // jose asks for the key only if the token's header can be read and names an accepted algorithm.
    const { payload } = await jwtVerify(token, (header, jws) => keySet.findKey(header, jws), optionsOf(rules));
    return verificationOf(payload, rules);
  } catch (error) {
    // Any other error is about the token, or about a key of the provider that cannot be used.
    if (!(error instanceof errors.JWKSNoMatchingKey)) return invalid(faultOf(error));
    const { isFailing, retryAfter } = keySet;
    return isFailing
      ? { kind: 'unverifiable', retryAfter }
      : invalid('the provider has no key with its `kid` and `alg`');
  }
}

function optionsOf({ issuer, audience, agentAudience, tenantClaim }: TokenRules): JWTVerifyOptions {
  const requiredClaims = ['exp', 'sub', tenantClaim];
  const audiences = agentAudience === undefined ? audience : [audience, agentAudience];
  return { algorithms, issuer, audience: audiences, requiredClaims, clockTolerance: toleranceSeconds };
}

function verificationOf(payload: JWTPayload, { audience, tenantClaim, rolesClaim }: TokenRules): Verification {
  const { sub: subject, exp = 0, aud = [] } = payload;
  const tenant = Object.hasOwn(payload, tenantClaim) ? payload[tenantClaim] : undefined;
  if (!isText(subject)) return invalid(unusable('sub'));
  if (!isText(tenant)) return invalid(unusable(tenantClaim));
  const isForAgentsOnly = typeof aud === 'string' ? aud !== audience : !aud.includes(audience);
  const roles = rolesClaim === undefined ? [] : rolesIn(payload, rolesClaim);
  const expiresAt = (exp + toleranceSeconds) * 1000;
  return { kind: 'verified', token: { tenant, subject, roles, isForAgentsOnly, expiresAt } };
}

/**
 * The roles that a claim names: a text of words, like `scope` (RFC 8693 §4.2), or an array of texts. Any other value
 * names none. The name of a claim may have dots, as URLs do, so it is read as a path only if no claim has that name.
 */
function rolesIn(payload: JWTPayload, claim: string): readonly string[] {
  const path = Object.hasOwn(payload, claim) ? [claim] : claim.split('.');
  const value = path.reduce<unknown>(
    (parent, name) => (isObject(parent) && Object.hasOwn(parent, name) ? parent[name] : undefined),
    payload,
  );
  if (typeof value === 'string') return value.split(' ');
  return isList(value) ? value.filter((role) => typeof role === 'string') : [];
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function invalid(reason: string): Verification {
  return { kind: 'invalid', reason };
}

/** Messages for claims that do not match a setting or the clock. */
const unfit: Readonly<Record<string, string>> = {
  iss: '`iss` is not JWT_ISSUER',
  aud: '`aud` does not name JWT_AUDIENCE',
  exp: '`exp` has passed',
  nbf: '`nbf` is in the future',
};

/**
 * The reason why a token is not valid, from the error of its verification. It is for the log, and contains only the
 * names of claims.
 */
function faultOf(error: unknown): string {
  const { errors } = latePackage('jose');
  if (error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired) {
    const { claim, reason } = error;
    if (reason === 'missing') return `it has no \`${claim}\``;
    return reason === 'check_failed' ? (unfit[claim] ?? unusable(claim)) : unusable(claim);
  }
  if (error instanceof errors.JOSEAlgNotAllowed)
    return `it has no header whose \`alg\` is one of ${algorithms.join(', ')}`;
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'its signature does not fit the key that it names';
  return 'it is malformed, or the key that it names cannot be used';
}

/** The reason why a token is not valid if a claim has the wrong type or is empty. */
function unusable(claim: string): string {
  return `its \`${claim}\` has the wrong type, or is empty`;
}
