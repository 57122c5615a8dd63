import {
  type CombinedError,
  type DocumentInput,
  type Exchange,
  fetchExchange,
  gql,
  Client as UrqlClient,
} from '@urql/core';
import { persistedExchange } from '@urql/exchange-persisted';
import { hashOf } from '../codegen/codegen.ts';
import * as documents from '../codegen/documents.ts';
import library from '../node_modules/@urql/core/package.json' with { type: 'json' };
import {
  type Client,
  type Connect,
  type DashboardDescription,
  type DescribeData,
  type Endpoint,
  namesOf,
  nextCursorOf,
  type OverviewData,
  type PageData,
  toOverview,
} from '../support/client.ts';

/** The documents of an app, by what they are for. */
interface Documents {
  readonly overview: DocumentInput<OverviewData, { project: string }>;
  readonly page: DocumentInput<PageData, { project: string; first: number; after?: string }>;
  readonly describe: DocumentInput<DescribeData, { input: DashboardDescription }>;
}

const tagged: Documents = {
  overview: gql`
    query UrqlOverview($project: ID!) {
      project(id: $project) {
        name
        timezone
      }
    }
  `,
  page: gql`
    query UrqlPage($project: ID!, $first: Int!, $after: String) {
      project(id: $project) {
        dashboards(first: $first, after: $after) {
          edges {
            node {
              name
            }
          }
          pageInfo {
            hasNextPage
            endCursor
          }
        }
      }
    }
  `,
  describe: gql`
    mutation UrqlDescribe($input: UpdateDashboardInput!) {
      updateDashboard(input: $input) {
        dashboard {
          description
        }
      }
    }
  `,
};

/** urql. With a manifest, its documents are those of graphql-codegen, as its documentation has it. */
export const urql: Client = {
  name: `urql (@urql/core ${library.version})`,
  text: connect(tagged, []),
  automatic: {
    get: connect(tagged, [persistedExchange({ enableForMutation: true, preferGetForPersistedQueries: true })]),
    post: connect(tagged, [persistedExchange({ enableForMutation: true, preferGetForPersistedQueries: false })]),
    ask: async (endpoint, text, hash) => {
      const chosen = hash === undefined ? {} : { generateHash: () => Promise.resolve(hash) };
      const client = createClient(endpoint, [persistedExchange(chosen)]);
      const { data, error } = await client.query<unknown>(text, {});
      return error === undefined ? { data } : { code: codeOf(error) };
    },
  },
  listed: connect(documents, [
    persistedExchange({
      enableForMutation: true,
      enforcePersistedQueries: true,
      generateHash: (_text, document) => Promise.resolve(hashOf(document)),
    }),
  ]),
};

function connect({ overview, page, describe }: Documents, exchanges: readonly Exchange[]): Connect {
  return (endpoint) => {
    const client = createClient(endpoint, exchanges);
    return {
      overview: async (project) => toOverview(await dataOf(client.query(overview, { project }))),
      twoPages: async (project) => {
        const first = await dataOf(client.query(page, { project, first: 2 }));
        const after = nextCursorOf(first);
        const second = await dataOf(client.query(page, { project, first: 2, ...(after !== undefined && { after }) }));
        return [...namesOf(first), ...namesOf(second)];
      },
      describe: async (input) => {
        const { updateDashboard } = await dataOf(client.mutation(describe, { input }));
        return updateDashboard?.dashboard?.description;
      },
    };
  };
}

function createClient({ url, authorization, fetch }: Endpoint, exchanges: readonly Exchange[]): UrqlClient {
  const fetchOptions = { headers: { authorization } };
  return new UrqlClient({ url, fetch, fetchOptions, exchanges: [...exchanges, fetchExchange] });
}

async function dataOf<Data>(
  result: PromiseLike<{ data?: Data | undefined; error?: CombinedError | undefined }>,
): Promise<Data> {
  const { data, error } = await result;
  if (data === undefined) throw error ?? new Error('expected data');
  return data;
}

function codeOf({ graphQLErrors, networkError }: CombinedError): unknown {
  return graphQLErrors[0]?.extensions['code'] ?? networkError;
}
