import { createHash } from 'node:crypto';
import { ApolloClient, ApolloLink, CombinedGraphQLErrors, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { relayStylePagination } from '@apollo/client/utilities';
import { generatePersistedQueryIdsFromManifest } from '@apollo/persisted-query-lists';
import { filter, firstValueFrom } from 'rxjs';
import library from '../node_modules/@apollo/client/package.json' with { type: 'json' };
import {
  type Client,
  type Connect,
  type Endpoint,
  namesOf,
  nextCursorOf,
  type Outcome,
  toOverview,
} from '../support/client.ts';
import { describe, overview, page } from './documents.ts';
import manifest from './generated/persisted-query-manifest.json' with { type: 'json' };

/** Apollo Client. `PersistedQueryLink` is what `createPersistedQueryLink` makes. */
export const apollo: Client = {
  name: `Apollo Client ${library.version}`,
  text: connect(() => []),
  automatic: {
    get: connect(() => [new PersistedQueryLink({ sha256, useGETForHashedQueries: true })]),
    post: connect(() => [new PersistedQueryLink({ sha256 })]),
    ask: async (endpoint, text, hash) => {
      const link = new PersistedQueryLink({ sha256: (printed) => hash ?? sha256(printed) });
      return outcomeOf(createClient(endpoint, [link]).query({ query: gql(text) }));
    },
  },
  listed: connect(() => [
    new PersistedQueryLink(generatePersistedQueryIdsFromManifest({ loadManifest: () => Promise.resolve(manifest) })),
  ]),
};

function connect(links: () => readonly ApolloLink[]): Connect {
  return (endpoint) => {
    const client = createClient(endpoint, links());
    return {
      overview: async (project) => toOverview(await dataOf(client.query({ query: overview, variables: { project } }))),
      twoPages: async (project) => {
        const dashboards = client.watchQuery({ query: page, variables: { project, first: 2 } });
        const shown = dashboards.pipe(filter((result) => result.dataState === 'complete'));
        const { data } = await firstValueFrom(shown);
        await dashboards.fetchMore({ variables: { after: nextCursorOf(data) ?? null } });
        return namesOf((await firstValueFrom(shown)).data);
      },
      describe: async (input) => {
        const { updateDashboard } = await dataOf(client.mutate({ mutation: describe, variables: { input } }));
        return updateDashboard?.dashboard?.description;
      },
    };
  };
}

function createClient({ url, authorization, fetch }: Endpoint, links: readonly ApolloLink[]): ApolloClient {
  return new ApolloClient({
    link: ApolloLink.from([...links, new HttpLink({ uri: url, headers: { authorization }, fetch })]),
    cache: new InMemoryCache({ typePolicies: { Project: { fields: { dashboards: relayStylePagination() } } } }),
  });
}

async function dataOf<Data>(result: Promise<{ readonly data?: Data | undefined }>): Promise<Data> {
  const { data } = await result;
  if (data === undefined) throw new Error('expected data');
  return data;
}

async function outcomeOf(result: Promise<{ readonly data?: unknown }>): Promise<Outcome> {
  try {
    return { data: (await result).data };
  } catch (error) {
    if (!CombinedGraphQLErrors.is(error)) throw error;
    return { code: error.errors[0]?.extensions?.['code'] };
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
