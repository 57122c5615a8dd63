/** The questions in the schema that the hand-written peers share: pages by `limit` and `offset`. */
import { columns } from './columns.ts';
import { completeKnown } from './facts.ts';
import type { Questions } from './names.ts';

const nested = `project(id: $id) {
    name
    dashboards(limit: 20) { results { id name createdBy { email } } }
    events(limit: 20) { results { id event timestamp } }
  }`;

/** The questions for the peers that are servers written in JavaScript. */
export const listQuestions: Questions = {
  S1: {
    query:
      'query S1($id: ID!) { project(id: $id) { name timezone updatedAt sessionRecordingOptIn primaryDashboardId } }',
  },
  S2: { query: `query S2($id: ID!) { ${nested} }` },
  S3: {
    query: `query S3($offset: Int, $parents: Int) {
  projects(limit: $parents, offset: $offset) { results { name dashboards(limit: 5) { results { id name } } } }
}`,
  },
  S4: {
    query: `query S4($offset: Int) {
  projects(limit: 20, offset: $offset) { results { id plugins(limit: 5) { results { id name pluginType } } } }
}`,
  },
  S5: {
    query: `query S5($organization: ID!, $rows: Int) {
  plugins: organizationPlugins(id: $organization, limit: $rows) { results { ${columns.plugin} } }
}`,
  },
  S6: { query: 'query S6 { __typename }' },
  duplicates: {
    query: `query duplicates($offset: Int, $id: ID!, $organization: ID!) {
  projects(limit: 20, offset: $offset) { results { id name plugins(limit: 5) { results { id name } } } }
  project(id: $id) { name timezone }
  plugins: organizationPlugins(id: $organization, limit: 20) { results { id name pluginType } }
}`,
  },
  aliases: {
    query: `query aliases($id: ID!) {
  project(id: $id) {
    name
    few: dashboards(limit: 5) { results { id name } }
    more: dashboards(limit: 10) { results { id pinned } }
    many: dashboards(limit: 20) { results { id description } }
  }
}`,
  },
  totals: {
    query: `query totals($id: ID!) {
  project(id: $id) { total: dashboards(limit: 1) { count } some: dashboards(limit: 5) { results { id name } } }
}`,
  },
  views: {
    query: `query views($offset: Int) {
  projects(limit: 5, offset: $offset) {
    results {
      name
      timezone
      updatedAt
      sessionRecordingOptIn
      primaryDashboard { id name pinned }
      dashboards(limit: 5) { results { id name createdBy { email } } }
    }
  }
}`,
  },
  known: {
    query: `query known($id: ID!, $dashboard: ID!) {
  project(id: $id) {
    name
    timezone
    dashboards(limit: 20) { results { id name } }
    opened: dashboard(id: $dashboard) { id name pinned }
  }
}`,
    complete: completeKnown,
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
  ${columns.wideProject}
  dashboards(limit: 3) { results { ${columns.wideDashboard} createdBy { ${columns.wideUser} } } }
  events(limit: 3) { results { ${columns.wideEvent} } }
  plugins(limit: 3) { results { ${columns.widePlugin} } }
}`,
  },
};

const { persisted: _, ...withoutPersisted } = listQuestions;

/** Grafast's; its server registers no documents by hash. */
export const grafastQuestions: Questions = withoutPersisted;

/** Tailcall's, which knows no persisted documents: lists name their rows' detail view as a relation, because a type's columns all come with its row. */
export const tailcallQuestions: Questions = {
  ...withoutPersisted,
  views: {
    query: `query views($offset: Int) {
  projects(limit: 5, offset: $offset) {
    results {
      name
      timezone
      detail { updatedAt sessionRecordingOptIn primaryDashboard { id name pinned } }
      dashboards(limit: 5) { results { id name createdBy { email } } }
    }
  }
}`,
  },
};
