import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client/core';
import { fetchExchange, subscriptionExchange, Client as UrqlClient } from '@urql/core';
import { createClient } from 'graphql-sse';
import type { RunningGateway } from '../support/gateways.ts';

/** What every client follows. */
const followed = 'subscription Tail($project: ID!) { eventsAdded(projectId: $project) { nodes { event } cursor gap } }';

const variables = { project: '1' };

/** A message as it is in the data. */
export interface Tail {
  readonly eventsAdded: { readonly nodes: readonly { readonly event: string | null }[] };
}

/** A client library that follows events. */
export interface Follower {
  /** Its name, as docs/incremental.md has it. */
  readonly name: string;
  /** Begins to follow, and tells each message; what is returned ends it. */
  readonly follow: (gateway: RunningGateway, tell: (data: Tail) => void, onRetry: () => void) => () => void;
}

/** graphql-sse's own client, in distinct connections mode. */
const graphqlSse: Follower = {
  name: 'graphql-sse',
  follow: ({ url, key }, tell, onRetry) => {
    const client = createClient({
      url,
      headers: { authorization: `Bearer ${key}` },
      retryAttempts: 1,
      retry: () => {
        onRetry();
        return Promise.resolve();
      },
    });
    const next = ({ data }: { data?: Tail | null }): void => {
      if (data) tell(data);
    };
    const sink = { next, error: () => undefined, complete: () => undefined };
    client.subscribe<Tail>({ query: followed, variables }, sink);
    return () => client.dispose();
  },
};

/** Apollo Client, over multipart. */
const apollo: Follower = {
  name: 'Apollo Client',
  follow: ({ url, key }, tell) => {
    const link = new HttpLink({ uri: url, headers: { authorization: `Bearer ${key}` } });
    const client = new ApolloClient({ link, cache: new InMemoryCache() });
    const query = gql(followed);
    const subscription = client.subscribe<Tail>({ query, variables, fetchPolicy: 'no-cache' }).subscribe(({ data }) => {
      if (data) tell(data);
    });
    return () => subscription.unsubscribe();
  },
};

/** urql with nothing beside it: its own exchange speaks server-sent events. */
const urql: Follower = {
  name: 'urql',
  follow: ({ url, key }, tell) => {
    const fetchOptions = { headers: { authorization: `Bearer ${key}` } };
    const client = new UrqlClient({ url, fetchOptions, fetchSubscriptions: true, exchanges: [fetchExchange] });
    return followWith(client, tell);
  },
};

/** urql with graphql-sse's client for its subscriptions. */
const urqlWithSse: Follower = {
  name: 'urql with graphql-sse',
  follow: ({ url, key }, tell) => {
    const sse = createClient({ url, headers: { authorization: `Bearer ${key}` }, retryAttempts: 0 });
    const forward = subscriptionExchange({
      forwardSubscription: ({ query = '', variables: given }) => ({
        subscribe: (sink) => ({ unsubscribe: sse.subscribe({ query, ...(given && { variables: given }) }, sink) }),
      }),
    });
    const client = new UrqlClient({ url, exchanges: [forward] });
    const leave = followWith(client, tell);
    return () => {
      leave();
      sse.dispose();
    };
  },
};

function followWith(client: UrqlClient, tell: (data: Tail) => void): () => void {
  const subscription = client.subscription<Tail>(followed, variables).subscribe(({ data }) => {
    if (data) tell(data);
  });
  return () => subscription.unsubscribe();
}

/** All that are tried. */
export const followers: readonly Follower[] = [graphqlSse, apollo, urql, urqlWithSse];
