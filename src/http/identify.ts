import type { GraphQLError } from 'graphql';
import type { Authentication, Authenticator, AuthRefusal, Door } from '../auth/authenticator.ts';
import type { Identity } from '../operation/operation-run.ts';
import { requestError } from '../operation/request-error.ts';
import type { IdentifyingHeaders } from './identifying-headers.ts';

/** Identifies the caller of a request, as far as possible without waiting. */
export type Identify = (headers: IdentifyingHeaders) => Identity;

/** Identifies callers by their tokens. `door` is the part of the gateway that the tokens are meant for. */
export function createIdentify(authenticator: Authenticator, door: Door = 'graphql'): Identify {
  return ({ authorization, authorizations }) => {
    const found = authenticator.authenticate(authorization, authorizations, door);
    return found instanceof Promise ? { caller: undefined, identifying: found.then(identityOf) } : identityOf(found);
  };
}

function identityOf(found: Authentication): Identity {
  return found.kind === 'accepted' ? found : { caller: undefined, refusal: errorOf(found) };
}

/** The error for a refused token. For an invalid token, the reason is not disclosed. */
function errorOf(refusal: AuthRefusal): GraphQLError {
  switch (refusal.kind) {
    case 'no token':
      return requestError('noToken', 'The request needs a token: send the header `Authorization: Bearer <token>`.');
    case 'invalid token':
      return requestError('invalidToken', 'The token is not valid, or not any more.');
    case 'unknown tenant':
      return requestError('unknownTenant', 'The tenant of the token may not use this gateway.');
    case 'no role':
      return requestError('noRole', 'The token has no role that may use this gateway.');
    case 'unavailable': {
      const headers = { 'retry-after': String(refusal.retryAfter) };
      return requestError('tokenUnverifiable', 'Tokens cannot be verified at the moment; try again later.', {
        headers,
      });
    }
  }
}
