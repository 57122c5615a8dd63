import {
  commitMutation,
  createOperationDescriptor,
  Environment,
  fetchQuery,
  type GraphQLResponse,
  type GraphQLTaggedNode,
  getPaginationMetadata,
  getPaginationVariables,
  getRefetchMetadata,
  getSingularSelector,
  type MutationParameters,
  Network,
  type OperationType,
  type ReaderFragment,
  RecordSource,
  Store,
} from 'relay-runtime';
import manifest from '../node_modules/relay-runtime/package.json' with { type: 'json' };
import type { Client, Connect, Endpoint } from '../support/client.ts';
import { parsed } from '../support/traffic.ts';
import dashboardFragment, {
  type dashboards_dashboard$data,
  type dashboards_dashboard$key,
} from './generated/dashboards_dashboard.graphql.ts';
import projectFragment, { type dashboards_project$key } from './generated/dashboards_project.graphql.ts';
import describeMutation, { type dashboardsDescribeMutation } from './generated/dashboardsDescribeMutation.graphql.ts';
import overviewQuery, { type dashboardsOverviewQuery } from './generated/dashboardsOverviewQuery.graphql.ts';
import pageQuery, { type dashboardsPageQuery } from './generated/dashboardsPageQuery.graphql.ts';

/** A fragment as relay-compiler writes it. */
interface FragmentKey {
  readonly ' $data'?: unknown;
}

const connect: Connect = (endpoint) => {
  const environment = createEnvironment(endpoint);
  return {
    overview: async (project) => {
      const data = await read<dashboardsOverviewQuery>(environment, overviewQuery, { project });
      return { name: data?.project?.name, timezone: data?.project?.timezone };
    },
    twoPages: async (project) => twoPages(environment, project),
    describe: async (input) => {
      const { updateDashboard } = await commit<dashboardsDescribeMutation>(environment, describeMutation, { input });
      return updateDashboard?.dashboard.description;
    },
  };
};

/** Relay, as its guide to persisted queries sets it up: the network layer sends `doc_id`. */
export const relay: Client = {
  name: `Relay ${manifest.version}`,
  listed: connect,
};

/** Acts as `useRefetchableFragment`: describes a dashboard, then reads again the fields of a fragment on it. */
export async function describeAndRefetch(
  endpoint: Endpoint,
  description: string,
  meanwhile: () => Promise<unknown>,
): Promise<{ readonly before: dashboards_dashboard$data; readonly after: dashboards_dashboard$data }> {
  const environment = createEnvironment(endpoint);
  const input = { id: '1', projectId: '1', description };
  const { updateDashboard } = await commit<dashboardsDescribeMutation>(environment, describeMutation, { input });
  const dashboard = updateDashboard?.dashboard;
  if (dashboard === undefined) throw new Error('expected the dashboard');
  const look = () => lookUp<dashboards_dashboard$key>(environment, dashboardFragment, dashboard);
  const before = look();
  await meanwhile();
  const { refetchableRequest, identifierInfo } = getRefetchMetadata(dashboardFragment, 'Dashboard');
  await read(environment, refetchableRequest, { [identifierInfo?.identifierQueryVariableName ?? '']: dashboard.id });
  return { before, after: look() };
}

/** Acts as `usePaginationFragment` for a list and for a click on its `loadNext`. */
async function twoPages(environment: Environment, project: string): Promise<readonly (string | null | undefined)[]> {
  const first = createOperationDescriptor(pageQuery, { project, count: 2 });
  const retained = environment.retain(first);
  const data = await read<dashboardsPageQuery>(environment, pageQuery, { project, count: 2 });
  if (data?.project === null || data?.project === undefined) throw new Error('expected the project');
  const fragment: dashboards_project$key = data.project;
  const page = lookUp(environment, projectFragment, fragment);

  const { paginationRequest, paginationMetadata } = getPaginationMetadata(projectFragment, 'Dashboards');
  const { identifierInfo } = getRefetchMetadata(projectFragment, 'Dashboards');
  const cursor = page.dashboards?.pageInfo.endCursor;
  await read(environment, paginationRequest, {
    ...getPaginationVariables('forward', 2, cursor, {}, {}, paginationMetadata),
    [identifierInfo?.identifierQueryVariableName ?? '']: page.id,
  });
  const both = lookUp(environment, projectFragment, fragment);
  retained.dispose();
  return both.dashboards?.edges.map((edge) => edge.node?.name) ?? [];
}

function createEnvironment({ url, authorization, fetch }: Endpoint): Environment {
  const network = Network.create(async ({ id }, variables) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization },
      body: JSON.stringify({ doc_id: id, variables }),
    });
    return parsed<GraphQLResponse>(await response.text());
  });
  return new Environment({ network, store: new Store(new RecordSource()) });
}

function read<Query extends OperationType>(
  environment: Environment,
  query: GraphQLTaggedNode,
  variables: Query['variables'],
): Promise<Query['response'] | undefined> {
  return fetchQuery<Query>(environment, query, variables).toPromise();
}

function commit<Mutation extends MutationParameters>(
  environment: Environment,
  mutation: GraphQLTaggedNode,
  variables: Mutation['variables'],
): Promise<Mutation['response']> {
  return new Promise((onCompleted, onError) => {
    commitMutation<Mutation>(environment, { mutation, variables, onCompleted, onError });
  });
}

/** The data of a fragment, whose type relay-compiler hides in the type of its key. */
function lookUp<Key extends FragmentKey>(
  environment: Environment,
  fragment: ReaderFragment,
  key: Key,
): NonNullable<Key[' $data']> {
  return environment.lookup(getSingularSelector(fragment, key)).data;
}
