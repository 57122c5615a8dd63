import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client/core';
import { fetchExchange, subscriptionExchange, Client as UrqlClient } from '@urql/core';
import { type Client, createClient } from 'graphql-sse';
import type { RunningGateway } from '../support/gateways.ts';

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
  /**
   * Begins to follow, and tells each message; what is returned ends it. `onLoss` is called if the connection is lost: when
   * the client is about to connect again, or with the error that it ends with.
   */
  readonly follow: (gateway: RunningGateway, tell: (data: Tail) => void, onLoss: () => void) => () => void;
}

/** graphql-sse's own client, which connects again by itself. */
function createSseClient({ url, key }: RunningGateway, onLoss: () => void): Client {
  return createClient({
    url,
    headers: { authorization: `Bearer ${key}` },
    retryAttempts: 1,
    retry: () => {
      onLoss();
      return Promise.resolve();
    },
  });
}

/** graphql-sse's own client, in distinct connections mode. */
const graphqlSse: Follower = {
  name: 'graphql-sse',
  follow: (gateway, tell, onLoss) => {
    const client = createSseClient(gateway, onLoss);
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
  follow: ({ url, key }, tell, onLoss) => {
    const link = new HttpLink({ uri: url, headers: { authorization: `Bearer ${key}` } });
    const client = new ApolloClient({ link, cache: new InMemoryCache() });
    const query = gql(followed);
    const messages = client.subscribe<Tail>({ query, variables, fetchPolicy: 'no-cache' });
    const subscription = messages.subscribe(({ data, error }) => {
      if (data) tell(data);
      if (error) onLoss();
    });
    return () => subscription.unsubscribe();
  },
};

/** urql with nothing beside it: its own exchange speaks server-sent events. */
const urql: Follower = {
  name: 'urql',
  follow: ({ url, key }, tell, onLoss) => {
    const fetchOptions = { headers: { authorization: `Bearer ${key}` } };
    const client = new UrqlClient({ url, fetchOptions, fetchSubscriptions: true, exchanges: [fetchExchange] });
    return followWith(client, tell, onLoss);
  },
};

/** urql with graphql-sse's client for its subscriptions. */
const urqlWithSse: Follower = {
  name: 'urql with graphql-sse',
  follow: (gateway, tell, onLoss) => {
    const sse = createSseClient(gateway, onLoss);
    const forward = subscriptionExchange({
      forwardSubscription: ({ query = '', variables: given }) => ({
        subscribe: (sink) => ({ unsubscribe: sse.subscribe({ query, ...(given && { variables: given }) }, sink) }),
      }),
    });
    const client = new UrqlClient({ url: gateway.url, exchanges: [forward] });
    const leave = followWith(client, tell, () => undefined);
    return () => {
      leave();
      sse.dispose();
    };
  },
};

function followWith(client: UrqlClient, tell: (data: Tail) => void, onLoss: () => void): () => void {
  const subscription = client.subscription<Tail>(followed, variables).subscribe(({ data, error }) => {
    if (data) tell(data);
    if (error) onLoss();
  });
  return () => subscription.unsubscribe();
}

/** All that are tried. */
export const followers: readonly Follower[] = [graphqlSse, apollo, urql, urqlWithSse];
