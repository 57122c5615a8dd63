/** A tab that GraphiQL opens with. */
interface Example {
  readonly query: string;
  readonly variables?: string;
  readonly headers?: string;
}

/** Operations that show the features of the gateway. They run on the embedded workspace without changes. */
export const examples: readonly Example[] = [
  {
    query: `# Run this with the button
# or Ctrl-Enter. Ctrl-Space
# completes a name, and the
# book lists all fields.
query Overview {
  projects(first: 2) {
    nodes {
      name
      timezone
      dashboards(first: 3) {
        totalCount
        nodes {
          name
          createdBy { firstName lastName }
        }
      }
      events(first: 3) {
        nodes { event timestamp distinctId }
      }
    }
  }
}
`,
  },
  {
    query: `# Next page: give \`endCursor\`
# to \`after\`.
query Dashboards($project: ID!, $after: String) {
  project(id: $project) {
    name
    dashboards(first: 5, after: $after) {
      totalCount
      nodes { id upstreamId name }
      pageInfo { hasNextPage endCursor }
    }
  }
}
`,
    variables: '{ "project": "1", "after": null }',
  },
  {
    query: `# A mutation answers with
# what it has changed.
mutation CreateDashboard($input: CreateDashboardInput!) {
  createDashboard(input: $input) {
    dashboard {
      id
      name
      tags
      createdAt
    }
  }
}
`,
    variables: `{
  "input": {
    "projectId": "1",
    "name": "Weekly numbers",
    "tags": ["kpi"]
  }
}`,
  },
];

/** The tab that follows events, if there are subscriptions. */
export const tailExample: Example = {
  query: `# New events as they come.
# The same button stops it.
subscription Tail($project: ID!) {
  eventsAdded(projectId: $project) {
    nodes { event timestamp distinctId }
    cursor
    gap
  }
}
`,
  variables: '{ "project": "1" }',
};

/** The tab that shows the cost of an operation, if clients may see it. */
export const explainExample: Example = {
  query: `# What would this cost? The
# panel "REST calls" says so
# while you type. For JSON,
# see Headers below: "plan"
# runs nothing, "trace" runs
# it and lists its calls.
#
# \`tiles\` costs a call for
# each dashboard: take it out
# to see what is saved.
query Explain {
  projects(first: 3) {
    nodes {
      name
      dashboards(first: 5) {
        nodes { name tiles }
      }
    }
  }
}
`,
  headers: '{ "explain": "plan" }',
};
