import type { Reloads } from '../follow-files.ts';
import type { Log } from '../log.ts';
import type { Tenants } from '../rest/tenants.ts';
import type { Route } from '../rest/transport/connect.ts';
import { Authenticator } from './authenticator.ts';
import { createKeySetSource, KeySet } from './key-set.ts';
import type { TokenRules } from './verify.ts';

/** Settings of the authentication by tokens. */
export interface TokenAuthOptions {
  readonly rules: TokenRules;
  /** The location of the provider's key set: an https URL, or the path of a file. */
  readonly keySet: string;
  /** The route to that URL at the start. */
  readonly route: Route;
  readonly tenants: Tenants;
}

/** Collaborators of token authentication. */
export interface TokenAuthParts {
  readonly route: () => Route;
  readonly log: Log;
}

/** Authentication by tokens of one identity provider. */
export interface TokenAuth {
  readonly authenticator: Authenticator;
  readonly reloads: Readonly<Reloads>;
  /** Reads the key set again, unless the last attempt was a moment ago. */
  readonly reload: () => Promise<void>;
  readonly close: () => void;
}

/** Begins to fetch the provider's keys. */
export function createTokenAuth(
  { rules, keySet: from, tenants }: Omit<TokenAuthOptions, 'route'>,
  { route, log }: TokenAuthParts,
): TokenAuth {
  const keySet: KeySet = new KeySet({
    // A query may hold a secret.
    from: from.replace(/\?.*$/, ''),
    fetch: createKeySetSource({ from, route }),
    onChange: () => authenticator.forget(),
    log,
  });
  const authenticator = new Authenticator({ rules, keySet, tenants, log });
  void keySet.follow();
  return {
    authenticator,
    reloads: keySet.reloads,
    reload: () => keySet.renew(),
    close: () => keySet.close(),
  };
}
