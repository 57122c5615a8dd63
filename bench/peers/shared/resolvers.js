/** Resolvers of the shared schema over `context.get(path)`, which answers the parsed JSON of a GET. */
import { columnsOf, isDetailOnly, paths, rowTypes } from './schema.js';

/** A resolver for each column; those of the detail view read it if the row came from a list. */
function columnResolvers(type) {
  const entries = Object.entries(columnsOf(type)).map(([field, column]) => {
    if (type !== 'Project' || !isDetailOnly(column)) return [field, (row) => row[column]];
    const read = async (row, context) => (await context.get(paths.project(row.id)))[column];
    return [field, (row, _, context) => (column in row ? row[column] : read(row, context))];
  });
  return Object.fromEntries(entries);
}

async function primaryDashboard(row, _, context) {
  const { primary_dashboard } = 'primary_dashboard' in row ? row : await context.get(paths.project(row.id));
  return context.get(paths.dashboard(row.id, primary_dashboard));
}

/** Resolvers of every type. */
export const resolvers = {
  Query: {
    project: (_, { id }, context) => context.get(paths.project(id)),
    projects: (_, window, context) => context.get(paths.projects(window)),
    organizationPlugins: (_, { id, ...window }, context) => context.get(paths.plugins(id, window)),
  },
  ...Object.fromEntries(rowTypes.map((type) => [type, columnResolvers(type)])),
};

Object.assign(resolvers.Project, {
  primaryDashboard,
  dashboard: ({ id: projectId }, { id }, context) => context.get(paths.dashboard(projectId, id)),
  dashboards: ({ id }, window, context) => context.get(paths.dashboards(id, window)),
  events: ({ id }, window, context) => context.get(paths.events(id, window)),
  plugins: ({ organization }, window, context) => context.get(paths.plugins(organization, window)),
});
