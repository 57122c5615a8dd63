import { ApolloClient, ApolloLink, HttpLink, InMemoryCache } from '@apollo/client';
import { CombinedGraphQLErrors, ServerError } from '@apollo/client/errors';
import { Defer20220824Handler } from '@apollo/client/incremental';
import { RetryLink } from '@apollo/client/link/retry';
import { relayStylePagination } from '@apollo/client/utilities';
import { tap } from 'rxjs';
import { possibleTypes } from './possibleTypes.ts';
import { setReachable } from './reachable.ts';

/** Every object has a global `id`, so the cache needs no `keyFields`; each list needs to be told that it is read in pages. */
const cache = new InMemoryCache({
  possibleTypes,
  typePolicies: {
    Query: { fields: { projects: relayStylePagination() } },
    Project: { fields: { dashboards: relayStylePagination(), events: relayStylePagination(['filter']) } },
    Organization: { fields: { plugins: relayStylePagination() } },
  },
});

/** True if no answer of the gateway came. A proxy before it answers 5xx while it is away. */
export function isAway(error: unknown): boolean {
  return !CombinedGraphQLErrors.is(error) && (!ServerError.is(error) || error.statusCode >= 500);
}

/** Tries reads again until the gateway is back. It repeats failed ones itself, and a write may have had its effect. */
const retry = new RetryLink({
  delay: { initial: 500, max: 3000 },
  attempts: (_count, { operationType }, error) => {
    const goesOn = isAway(error) && operationType === 'query';
    if (goesOn) setReachable(false);
    return goesOn;
  },
});

const reached = new ApolloLink((operation, forward) => forward(operation).pipe(tap(() => setReachable(true))));

/** The name is the gateway's to log, and its CORS lets it pass. */
export const client = new ApolloClient({
  cache,
  // For `@defer`.
  incrementalHandler: new Defer20220824Handler(),
  clientAwareness: { name: 'apollo-example', version: '0.1.0' },
  link: ApolloLink.from([retry, reached, new HttpLink({ uri: '/graphql' })]),
});
