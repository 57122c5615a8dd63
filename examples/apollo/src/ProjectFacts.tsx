import { gql, type TypedDocumentNode } from '@apollo/client';
import { useQuery } from '@apollo/client/react';

interface Data {
  readonly project: {
    readonly name: string | null;
    // Not there until the deferred part has come.
    readonly organization?: { readonly name: string | null } | null;
  } | null;
}

const projectFacts: TypedDocumentNode<Data, { readonly id: string }> = gql`
  query ProjectFacts($id: ID!) {
    project(id: $id) {
      id
      name
      ... @defer {
        organization {
          name
        }
      }
    }
  }
`;

/** The name of a project at once, and its organization, which costs a further REST call, as soon as it is there. */
export function ProjectFacts({ id }: { readonly id: string }) {
  const { data, dataState } = useQuery(projectFacts, { variables: { id } });
  if (data?.project == null) return null;
  const { name, organization } = data.project;
  return (
    <p>
      {name} of {organization?.name ?? (dataState === 'complete' ? 'no organization' : '…')}
    </p>
  );
}
