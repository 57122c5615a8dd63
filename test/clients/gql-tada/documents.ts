/**
 * A document of an app on gql.tada: the compiler alone tells its types from its text, with the schema as types, which
 * `gql.tada generate output` writes.
 */
import { initGraphQLTada, type ResultOf, type VariablesOf } from 'gql.tada';
import type { introspection } from './generated/introspection.d.ts';

const graphql = initGraphQLTada<{
  introspection: introspection;
  scalars: { DateTime: string; JSON: unknown; TimeZone: string; UUID: string };
}>();

/** The first screen. */
export const overview = graphql(`
  query TadaOverview($project: ID!) {
    project(id: $project) {
      name
      dashboards(first: 2) {
        nodes {
          name
          creationMode
        }
      }
    }
  }
`);

/** The variables of the first screen. */
export const variables: VariablesOf<typeof overview> = { project: '1' };

type Project = NonNullable<ResultOf<typeof overview>['project']>;

/** The names on the first screen. */
export function namesOf({ name, dashboards }: Project): readonly (string | null)[] {
  return [name, ...(dashboards?.nodes ?? []).map((dashboard) => dashboard?.name ?? null)];
}

// @ts-expect-error -- the document does not select it
export type Unselected = Project['timezone'];
