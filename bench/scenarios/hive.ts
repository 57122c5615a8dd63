/** The questions in the schema that Mesh makes of the OpenAPI document: REST's names, relations added to them. */
import { columns, spelt, underRestName } from './columns.ts';
import { completeKnown } from './facts.ts';
import type { Questions } from './names.ts';

const rest = (names: string): string => spelt(names, underRestName);

const plugins = 'plugins: listPlugins(parent_lookup_organization_id: $organization';

/** The questions for Hive Gateway. */
export const hiveQuestions: Questions = {
  S1: {
    query: `query S1($id: JSON!) {
  project: getProject(id: $id) { ${rest('name timezone updatedAt sessionRecordingOptIn')} primaryDashboardId: primary_dashboard }
}`,
  },
  S2: {
    query: `query S2($id: JSON!) {
  project: getProject(id: $id) {
    name
    dashboards(limit: 20) { results { id name createdBy: created_by { email } } }
    events(limit: 20) { results { id event timestamp } }
  }
}`,
  },
  S3: {
    query: `query S3($offset: Int, $parents: Int) {
  projects: listProjects(limit: $parents, offset: $offset) {
    results { name dashboards(limit: 5) { results { id name } } }
  }
}`,
  },
  S4: {
    query: `query S4($offset: Int) {
  projects: listProjects(limit: 20, offset: $offset) {
    results { id plugins(limit: 5) { results { ${rest('id name pluginType')} } } }
  }
}`,
  },
  S5: {
    query: `query S5($organization: String!, $rows: Int) {
  ${plugins}, limit: $rows) { results { ${rest(columns.plugin)} } }
}`,
  },
  S6: { query: 'query S6 { __typename }' },
  duplicates: {
    query: `query duplicates($offset: Int, $id: JSON!, $organization: String!) {
  projects: listProjects(limit: 20, offset: $offset) { results { id name plugins(limit: 5) { results { id name } } } }
  project: getProject(id: $id) { name timezone }
  ${plugins}, limit: 20) { results { ${rest('id name pluginType')} } }
}`,
  },
  aliases: {
    query: `query aliases($id: JSON!) {
  project: getProject(id: $id) {
    name
    few: dashboards(limit: 5) { results { id name } }
    more: dashboards(limit: 10) { results { id pinned } }
    many: dashboards(limit: 20) { results { id description } }
  }
}`,
  },
  totals: {
    query: `query totals($id: JSON!) {
  project: getProject(id: $id) {
    total: dashboards(limit: 1) { count }
    some: dashboards(limit: 5) { results { id name } }
  }
}`,
  },
  views: {
    query: `query views($offset: Int) {
  projects: listProjects(limit: 5, offset: $offset) {
    results {
      name
      timezone
      detail { ${rest('updatedAt sessionRecordingOptIn')} primaryDashboard { id name pinned } }
      dashboards(limit: 5) { results { id name createdBy: created_by { email } } }
    }
  }
}`,
  },
  known: {
    query: `query known($id: JSON!, $dashboard: Int!) {
  project: getProject(id: $id) {
    name
    timezone
    dashboards(limit: 20) { results { id name } }
    opened: dashboard(id: $dashboard) { id name pinned }
  }
}`,
    complete: completeKnown,
  },
  keys: {
    query: `query keys($a: JSON!, $b: JSON!, $c: JSON!, $d: JSON!, $e: JSON!) {
  a: getProject(id: $a) { name timezone }
  b: getProject(id: $b) { name timezone }
  c: getProject(id: $c) { name timezone }
  d: getProject(id: $d) { name timezone }
  e: getProject(id: $e) { name timezone }
}`,
  },
  wide: {
    query: `query wide($a: JSON!, $b: JSON!, $c: JSON!, $d: JSON!, $e: JSON!) {
  a: getProject(id: $a) { ...all }
  b: getProject(id: $b) { ...all }
  c: getProject(id: $c) { ...all }
  d: getProject(id: $d) { ...all }
  e: getProject(id: $e) { ...all }
}
fragment all on Project {
  ${rest(columns.wideProject)}
  dashboards(limit: 3) {
    results { ${rest(columns.wideDashboard)} createdBy: created_by { ${rest(columns.wideUser)} } }
  }
  events(limit: 3) { results { ${rest(columns.wideEvent)} } }
  plugins(limit: 3) { results { ${rest(columns.widePlugin)} } }
}`,
  },
};
