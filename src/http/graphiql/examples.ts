/** A tab that GraphiQL opens with. */
interface Example {
  readonly query: string;
  readonly variables?: string;
  readonly headers?: string;
}

/** Queries that show what the gateway is for. They run on the embedded workspace as they stand. */
export const examples: readonly Example[] = [
  {
    query: `# 5 REST calls in 2 waves. The key at the top is
# sent with it. Ctrl-Space completes, and the
# book on the left documents every field.
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
    query: `# Pages: give \`endCursor\` to \`after\` for the
# next one.
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
    query: `# Changes answer what they changed.
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
  query: `# New events as they come. The same button ends it.
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

/** The tab that shows what an operation costs, if clients may see it. */
export const explainExample: Example = {
  query: `# What would this cost? The panel "REST calls", the
# bars at the left, shows it while you type. For the
# same as JSON, the Headers tab below has
# "explain": "plan": nothing is executed. With "trace"
# it runs, and its calls are listed. Headers are never
# kept: a reload takes them away.
#
# \`tiles\` is only in a dashboard's own row:
# take it out, and 15 calls less are left.
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
