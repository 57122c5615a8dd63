import { hash } from 'node:crypto';
import { type Log, LogThrottle } from '../log.ts';
import { memoize } from '../memoize.ts';
import { RecentMap } from '../recent-map.ts';
import type { Caller } from '../rest/caller.ts';
import { type Tenants, withRoles } from '../rest/tenants.ts';
import type { Route } from '../rest/transport/connect.ts';
import { fetchKeySet, KeySet } from './key-set.ts';
import { type TokenRules, type VerifiedToken, verifyToken } from './verify.ts';

/** The reason why a request is refused before its operation is looked at. */
export type AuthRefusal =
  | { readonly kind: 'no token' }
  // Malformed, expired, or not valid for another reason; clients do not learn which.
  | { readonly kind: 'invalid token' }
  // The token is valid, and names a tenant that `UPSTREAM_KEYS` does not have.
  | { readonly kind: 'unknown tenant' }
  // The token is valid, and names none of the roles that the entry of its tenant has.
  | { readonly kind: 'no role' }
  // The provider's keys cannot be read. `retryAfter` is in seconds.
  | { readonly kind: 'unavailable'; readonly retryAfter: number };

export type Authentication =
  | {
      readonly kind: 'accepted';
      readonly caller: Caller;
      /** The time until which the token is valid, in milliseconds of `Date.now()`. */
      readonly expiresAt: number;
    }
  | AuthRefusal;

/** The result of an authentication, for metrics. */
export type AuthResult = Authentication['kind'];

/** The endpoint that a token is sent to. */
export type Endpoint = 'graphql' | 'agents';

export interface AuthenticatorOptions {
  readonly rules: TokenRules;
  readonly keySet: KeySet;
  /** Returns the current tenants. */
  readonly tenants: () => Tenants;
  /** Receives a line for each reason why tokens are refused, at most once a minute. */
  readonly log: Log;
  /** The time of day in milliseconds, as of `Date.now`. */
  readonly now?: () => number;
}

/** An `Authorization` header (RFC 6750 §2.1) with a token in the compact form (RFC 7515 §7.1). */
const bearer = /^Bearer ([\w-]+\.[\w-]+\.[\w-]+)$/i;

const mostTokens = 10_000;

/** The most bytes of all remembered tokens. Without this limit, `mostTokens` tokens of 8 KiB each could take 80 MB. */
const mostBytes = 2 ** 25;

/** The bytes of memory that a role's name takes beside its characters. */
const bytesOfRole = 32;

/** The most characters of a tenant's name, and of a list of roles, that the log shows. */
const longestLogged = 200;

/**
 * Authenticates callers by the `Authorization` header. A token is verified once. The result is remembered until the
 * token expires or the provider withdraws a key. What the tenants allow the user is looked up again when they change.
 */
export class Authenticator {
  readonly #options: Required<AuthenticatorOptions>;
  /**
   * Keyed by the whole header value, so that the token need not be extracted. `withdrawals` is the `KeySet.withdrawals`
   * before the token was verified.
   */
  readonly #known = new RecentMap<string, { readonly token: VerifiedToken; readonly withdrawals: number }>({
    entries: mostTokens,
    size: mostBytes,
  });
  readonly #counts = new Map<AuthResult, number>();
  readonly #throttle = new LogThrottle();
  readonly #lookUpOnce = memoize((tenants: Tenants) => memoize((token: VerifiedToken) => this.#lookUp(token, tenants)));

  constructor(options: AuthenticatorOptions) {
    this.#options = { now: () => Date.now(), ...options };
  }

  get keySet(): KeySet {
    return this.#options.keySet;
  }

  get counts(): ReadonlyMap<AuthResult, number> {
    return this.#counts;
  }

  /**
   * Authenticates a value of `Authorization`. `count` is the number of such headers in the request. Returns a promise
   * only if the token has to be verified.
   */
  authenticate(
    value: string | undefined,
    count = 1,
    endpoint: Endpoint = 'graphql',
  ): Authentication | Promise<Authentication> {
    if (count > 1) return this.#counted(this.#invalid('there are several headers `Authorization`'));
    if (value === undefined || value === '') return this.#counted({ kind: 'no token' });
    const known = this.#known.get(value);
    if (known !== undefined) {
      const { keySet, now } = this.#options;
      const isValid = known.token.expiresAt > now() && known.withdrawals === keySet.withdrawals;
      if (isValid) return this.#counted(this.#answerAt(known.token, endpoint));
      this.#known.delete(value);
    }
    return this.#verify(value, endpoint).then((answer) => this.#counted(answer));
  }

  async #verify(value: string, endpoint: Endpoint): Promise<Authentication> {
    const { keySet, rules } = this.#options;
    const text = bearer.exec(value)?.[1];
    if (text === undefined) return this.#invalid('the header `Authorization` is not `Bearer <token>`');
    // Read before the verification: a key that is withdrawn meanwhile may be the key of this token.
    const { withdrawals } = keySet;
    const verdict = await verifyToken(text, keySet, rules);
    switch (verdict.kind) {
      case 'invalid':
        return this.#invalid(verdict.reason);
      case 'unverifiable':
        return { kind: 'unavailable', retryAfter: verdict.retryAfter };
      case 'verified': {
        const { token } = verdict;
        this.#known.set(value, { token, withdrawals }, { size: value.length + bytesOfRole * token.roles.length });
        return this.#answerAt(token, endpoint);
      }
    }
  }

  /** Refuses a token and logs the reason for the operator. A client that guesses tokens must not learn the reason. */
  #invalid(reason: string): Authentication {
    if (this.#throttle.mayLog(reason)) this.#options.log('info', 'a token was refused', { reason });
    return { kind: 'invalid token' };
  }

  #answerAt(token: VerifiedToken, endpoint: Endpoint): Authentication {
    if (endpoint === 'graphql' && token.isForAgentsOnly)
      return this.#invalid('its only `aud` is the URL of /mcp, but it was sent to /graphql');
    return this.#lookUpOnce(this.#options.tenants())(token);
  }

  /**
   * Looks up what the tenants allow the user. A refusal is logged with names from the token. Clients cannot invent them,
   * because tokens are signed.
   */
  #lookUp(token: VerifiedToken, tenants: Tenants): Authentication {
    const answer = authenticationOf(token, tenants);
    const tenant = token.tenant.slice(0, longestLogged);
    if (answer.kind === 'unknown tenant' && this.#throttle.mayLog(`tenant ${tenant}`))
      this.#options.log('info', 'a token names a tenant that UPSTREAM_KEYS does not have', { tenant });
    if (answer.kind === 'no role' && this.#throttle.mayLog(`roles ${tenant}`)) {
      const roles = token.roles.join(' ').slice(0, longestLogged);
      this.#options.log('info', 'a token names no role that the entry of its tenant has', { tenant, roles });
    }
    return answer;
  }

  #counted(answer: Authentication): Authentication {
    this.#counts.set(answer.kind, (this.#counts.get(answer.kind) ?? 0) + 1);
    return answer;
  }
}

function authenticationOf(
  { tenant: name, roles, subject, expiresAt }: VerifiedToken,
  tenants: Tenants,
): Authentication {
  const entry = tenants.get(name);
  if (entry === undefined) return { kind: 'unknown tenant' };
  const tenant = withRoles(entry, roles);
  if (tenant === undefined) return { kind: 'no role' };
  const { key, keyHash } = tenant;
  return {
    kind: 'accepted',
    expiresAt,
    caller: {
      key,
      sharingKey: keyHash,
      queueKey: name,
      tenant,
      subject: hash('sha256', subject, 'base64url'),
    },
  };
}

/**
 * Makes an authenticator, and begins to fetch the provider's keys from an https URL or from a file. `route` returns the
 * current route to the URL.
 */
export function createTokenAuth(
  from: string,
  route: () => Route,
  options: Omit<AuthenticatorOptions, 'keySet'>,
): Authenticator {
  const keySet = new KeySet({
    // The query of the URL may hold a secret.
    from: from.replace(/\?.*$/, ''),
    fetch: () => fetchKeySet(from, route),
    log: options.log,
  });
  void keySet.follow();
  return new Authenticator({ ...options, keySet });
}
