import { renderGraphiQL } from '@graphql-yoga/render-graphiql';

/** What GraphiQL opens with. */
export interface GraphiqlOptions {
  /** The key that the headers tab starts with; only for the embedded workspace, whose key is public. */
  readonly demoKey?: string | undefined;
}

/** The page of GraphiQL, everything it needs within it: it works without internet. */
export function graphiqlPage({ demoKey }: GraphiqlOptions): string {
  return renderGraphiQL({
    title: 'GraphiQL · workspace gateway',
    defaultQuery: exampleQuery,
    headers: JSON.stringify({ Authorization: `Bearer ${demoKey ?? '<your personal API key>'}` }, null, 2),
    shouldPersistHeaders: false,
  });
}

const exampleQuery = `# Two projects with their latest dashboards and events: 5 REST calls in 2 waves.
# The key is in the Headers tab below. Ctrl-Space completes, the book on the left documents every field.
query Overview {
  projects(first: 2) {
    nodes {
      name
      timezone
      dashboards(first: 3) {
        totalCount
        nodes { name pinned createdBy { firstName lastName } }
      }
      events(first: 3) {
        nodes { event timestamp distinctId }
      }
    }
  }
}
`;
