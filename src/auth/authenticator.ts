import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type Log, LogThrottle } from '../log.ts';
import type { Caller } from '../rest/caller.ts';
import type { Tenants } from '../rest/tenants.ts';
import type { KeySet } from './key-set.ts';
import { type TokenRules, type VerifiedToken, verifyToken } from './verify.ts';

/** Why a request is refused before its operation is looked at. */
export type AuthRefusal =
  | { readonly kind: 'no token' }
  // Malformed, expired, or not valid for another reason; clients do not learn which.
  | { readonly kind: 'invalid token' }
  // The token is valid, and names a tenant that `UPSTREAM_KEYS` does not have.
  | { readonly kind: 'unknown tenant' }
  // The provider's keys cannot be read. `retryAfter` is in seconds.
  | { readonly kind: 'unavailable'; readonly retryAfter: number };

/** Who asks, or why the request is refused. */
export type Authentication =
  | {
      readonly kind: 'accepted';
      readonly caller: Caller;
      /** Until when the token is good, in milliseconds of `Date.now()`. */
      readonly expiresAt: number;
    }
  | { readonly kind: 'refused'; readonly refusal: AuthRefusal };

/** How requests were authenticated, for metrics. */
export type AuthResult = AuthRefusal['kind'] | 'accepted';

/** What of the gateway a token is shown to. */
export type Door = 'graphql' | 'agents';

/** Settings of the authenticator. */
export interface AuthenticatorOptions {
  readonly rules: TokenRules;
  readonly keySet: KeySet;
  readonly tenants: Tenants;
  /** Gets a line about why tokens are refused, for each reason once a minute at most. */
  readonly log: Log;
  /** The time of day in milliseconds, as of `Date.now`. */
  readonly now?: () => number;
}

/** RFC 6750 §2.1 with a token in the compact form of RFC 7515 §7.1. */
const bearer = /^Bearer ([\w-]+\.[\w-]+\.[\w-]+)$/i;

/** Tokens that are remembered, and characters of all of them together: a token may have 8 KiB. */
const mostTokens = 10_000;
const mostCharacters = 2 ** 25;

/** Longest name of a tenant in the log, in characters. */
const longestLogged = 200;

/** A token that was verified. */
interface Remembered {
  readonly token: VerifiedToken;
  /** The tenants of which `answer` was made. */
  tenants: Tenants;
  answer: Authentication;
}

/** Tells who asks from the `Authorization` header. A token is verified once, and then remembered until it expires. */
export class Authenticator {
  readonly #options: Required<AuthenticatorOptions>;
  /** By the whole header value, so that nothing has to be cut out of it. */
  readonly #known = new LRUCache<string, Remembered>({ max: mostTokens, maxSize: mostCharacters });
  readonly #counts = new Map<AuthResult, number>();
  readonly #throttle = new LogThrottle();
  #tenants: Tenants;

  constructor(options: AuthenticatorOptions) {
    this.#options = { now: () => Date.now(), ...options };
    this.#tenants = options.tenants;
  }

  /** How often requests came to each result so far. */
  get counts(): ReadonlyMap<AuthResult, number> {
    return this.#counts;
  }

  /** From now on requests are those of these tenants; operations under way keep the entry that they began with. */
  takeTenants(tenants: Tenants): void {
    this.#tenants = tenants;
  }

  /** Nothing that was verified is known to be valid any more: the provider's keys have changed. */
  forget(): void {
    this.#known.clear();
  }

  /** Who sends a value of `Authorization`, and how many there are. A promise only for a token that is not known yet. */
  authenticate(value: string | undefined, count = 1, door: Door = 'graphql'): Authentication | Promise<Authentication> {
    if (count > 1) return this.#counted(this.#invalid('there are several headers `Authorization`'));
    if (value === undefined || value === '') return this.#counted(noToken);
    const known = this.#known.get(value);
    if (known !== undefined) {
      if (known.token.expiresAt > this.#options.now()) return this.#counted(this.#answerAt(door, known));
      this.#known.delete(value);
    }
    return this.#verify(value, door).then((answer) => this.#counted(answer));
  }

  async #verify(value: string, door: Door): Promise<Authentication> {
    const { keySet, rules } = this.#options;
    const text = bearer.exec(value)?.[1];
    if (text === undefined) return this.#invalid('the header `Authorization` is not `Bearer <token>`');
    const { keys } = keySet;
    const verdict = await verifyToken(text, keySet, rules);
    switch (verdict.kind) {
      case 'invalid':
        return this.#invalid(verdict.reason);
      case 'unverifiable':
        return refused({ kind: 'unavailable', retryAfter: verdict.retryAfter });
      case 'verified': {
        const tenants = this.#tenants;
        const known = { token: verdict.token, tenants, answer: answerFor(verdict.token, tenants) };
        if (known.answer === unknownTenant) this.#logUnknown(verdict.token.tenant);
        // Keys that have come meanwhile may have left out the one of this token.
        if (keySet.keys === keys) this.#known.set(value, known, { size: value.length });
        return this.#answerAt(door, known);
      }
    }
  }

  /** The reason is for the operator who sets the provider up: a client that guesses tokens must not learn it. */
  #invalid(reason: string): Authentication {
    if (this.#throttle.takes(reason)) this.#options.log('info', 'a token was refused', { reason });
    return invalidToken;
  }

  /** The provider has signed the name, so that no client can make up others. */
  #logUnknown(name: string): void {
    const tenant = name.slice(0, longestLogged);
    if (this.#throttle.takes(`tenant ${tenant}`))
      this.#options.log('info', 'a token names a tenant that UPSTREAM_KEYS does not have', { tenant });
  }

  #answerAt(door: Door, known: Remembered): Authentication {
    if (door === 'graphql' && known.token.isForAgentsOnly) return this.#invalid('its only `aud` is that of agents');
    return this.#answerOf(known);
  }

  #answerOf(known: Remembered): Authentication {
    if (known.tenants === this.#tenants) return known.answer;
    known.tenants = this.#tenants;
    known.answer = answerFor(known.token, this.#tenants);
    return known.answer;
  }

  #counted(answer: Authentication): Authentication {
    const result = answer.kind === 'accepted' ? answer.kind : answer.refusal.kind;
    this.#counts.set(result, (this.#counts.get(result) ?? 0) + 1);
    return answer;
  }
}

function refused(refusal: AuthRefusal): Authentication {
  return { kind: 'refused', refusal };
}

const noToken = refused({ kind: 'no token' });
const invalidToken = refused({ kind: 'invalid token' });
const unknownTenant = refused({ kind: 'unknown tenant' });

function answerFor({ tenant: name, subject, expiresAt }: VerifiedToken, tenants: Tenants): Authentication {
  const tenant = tenants.get(name);
  if (tenant === undefined) return unknownTenant;
  const { key, keyHash } = tenant;
  return {
    kind: 'accepted',
    expiresAt,
    caller: {
      key,
      hash: keyHash,
      sharingKey: keyHash,
      queueKey: name,
      tenant,
      subject: hash('sha256', subject, 'base64url'),
    },
  };
}
