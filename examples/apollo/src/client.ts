import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client';
import { RetryLink } from '@apollo/client/link/retry';
import { relayStylePagination } from '@apollo/client/utilities';
import { possibleTypes } from './possibleTypes.ts';

/** Every object has a global `id`, so the cache needs no `keyFields`; each list needs to be told that it is read in pages. */
const cache = new InMemoryCache({
  possibleTypes,
  typePolicies: {
    Query: { fields: { projects: relayStylePagination() } },
    Project: { fields: { dashboards: relayStylePagination(), events: relayStylePagination(['filter']) } },
    Organization: { fields: { plugins: relayStylePagination() } },
  },
});

/** Tries again only if no answer came: the gateway itself repeats reads, and a write may have had its effect. */
const retry = new RetryLink({
  delay: { initial: 500 },
  attempts: { max: 6, retryIf: (_error, { operationType }) => operationType === 'query' },
});

/** The name is the gateway's to log, and its CORS lets it pass. */
export const client = new ApolloClient({
  cache,
  clientAwareness: { name: 'apollo-example', version: '0.1.0' },
  link: retry.concat(new HttpLink({ uri: '/graphql' })),
});
