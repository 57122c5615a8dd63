/** The questions in this gateway's schema: connections, opaque cursors, REST's own ids as `upstreamId`. */
import { columns, spelt } from './columns.ts';
import type { Questions } from './names.ts';

const own = (names: string): string => spelt(names, (name) => (name === 'id' ? 'id: upstreamId' : name));

const nested = `project(id: $id) {
    name
    dashboards(first: 20) { nodes { id: upstreamId name createdBy { email } } }
    events(first: 20) { nodes { id: upstreamId event timestamp } }
  }`;

/** The questions for this gateway. */
export const ourQuestions: Questions = {
  S1: {
    query:
      'query S1($id: ID!) { project(id: $id) { name timezone updatedAt sessionRecordingOptIn primaryDashboardId } }',
  },
  S2: { query: `query S2($id: ID!) { ${nested} }` },
  S3: {
    query: `query S3($after: String, $parents: Int) {
  projects(first: $parents, after: $after) { nodes { name dashboards(first: 5) { nodes { id: upstreamId name } } } }
}`,
  },
  S4: {
    query: `query S4($after: String) {
  projects(first: 20, after: $after) {
    nodes { id: upstreamId organization { plugins(first: 5) { nodes { id: upstreamId name pluginType } } } }
  }
}`,
  },
  S5: {
    query: `query S5($organization: ID!, $rows: Int) {
  organization(id: $organization) { plugins(first: $rows) { nodes { ${own(columns.plugin)} } } }
}`,
  },
  S6: { query: 'query S6 { __typename }' },
  duplicates: {
    query: `query duplicates($after: String, $id: ID!, $organization: ID!) {
  projects(first: 20, after: $after) {
    nodes { id: upstreamId name organization { plugins(first: 5) { nodes { id: upstreamId name } } } }
  }
  project(id: $id) { name timezone }
  organization(id: $organization) { plugins(first: 20) { nodes { id: upstreamId name pluginType } } }
}`,
  },
  aliases: {
    query: `query aliases($id: ID!) {
  project(id: $id) {
    name
    few: dashboards(first: 5) { nodes { id: upstreamId name } }
    more: dashboards(first: 10) { nodes { id: upstreamId pinned } }
    many: dashboards(first: 20) { nodes { id: upstreamId description } }
  }
}`,
  },
  totals: {
    query: `query totals($id: ID!) {
  project(id: $id) { total: dashboards { totalCount } some: dashboards(first: 5) { nodes { id: upstreamId name } } }
}`,
  },
  views: {
    query: `query views($after: String) {
  projects(first: 5, after: $after) {
    nodes {
      name
      timezone
      updatedAt
      sessionRecordingOptIn
      primaryDashboard { id: upstreamId name pinned }
      dashboards(first: 5) { nodes { id: upstreamId name createdBy { email } } }
    }
  }
}`,
  },
  known: {
    query: `query known($id: ID!, $dashboard: ID!) {
  project(id: $id) {
    name
    timezone
    dashboards(first: 20) { nodes { id: upstreamId name } }
    opened: dashboard(id: $dashboard) { id: upstreamId name pinned project { name timezone } }
  }
}`,
  },
  keys: {
    query: `query keys($a: ID!, $b: ID!, $c: ID!, $d: ID!, $e: ID!) {
  a: project(id: $a) { name timezone }
  b: project(id: $b) { name timezone }
  c: project(id: $c) { name timezone }
  d: project(id: $d) { name timezone }
  e: project(id: $e) { name timezone }
}`,
  },
  persisted: { query: `query persisted($id: ID!) { ${nested} }` },
  wide: {
    query: `query wide($a: ID!, $b: ID!, $c: ID!, $d: ID!, $e: ID!) {
  a: project(id: $a) { ...all }
  b: project(id: $b) { ...all }
  c: project(id: $c) { ...all }
  d: project(id: $d) { ...all }
  e: project(id: $e) { ...all }
}
fragment all on Project {
  ${own(columns.wideProject)}
  dashboards(first: 3) { nodes { ${own(columns.wideDashboard)} createdBy { ${own(columns.wideUser)} } } }
  events(first: 3) { nodes { ${own(columns.wideEvent)} } }
  organization { plugins(first: 3) { nodes { ${own(columns.widePlugin)} } } }
}`,
  },
};
