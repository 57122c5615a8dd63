/** Grafast: a plan of steps for each operation, served by grafserv; equal GETs of an operation are one by its loader. */
import { createServer } from 'node:http';
import { context, get, lambda, loadOne, makeGrafastSchema } from 'grafast';
import { grafserv } from 'grafserv/node';
import { Pool } from 'undici';
import { createClient, createRead } from '../shared/client.js';
import { columnsOf, isDetailOnly, paths, rowTypes, typeDefs } from '../shared/schema.js';

const fetchJson = createClient(Pool);
/** Steps of one plan load each for itself; what they read is remembered for the operation. */
const loader = {
  shared: () => context().get('read'),
  load: (targets, { shared: read }) => targets.map((target) => (target === null ? null : read(target))),
};

/** The step that reads the path which `pathOf` makes of the values of `steps`. */
function load(steps, pathOf) {
  return loadOne(
    lambda(steps, (values) => pathOf(...values), true),
    loader,
  );
}

/** Columns of the detail view cost a read by id if the row came from a list. */
function detailColumn(column) {
  return ($project) => {
    const $detail = load([$project], (row) => (column in row ? null : paths.project(row.id)));
    return lambda([$project, $detail], ([row, detail]) => (detail ?? row)[column], true);
  };
}

function plansOf(type) {
  const entries = Object.entries(columnsOf(type)).map(([field, column]) => {
    if (type === 'Project' && isDetailOnly(column)) return [field, detailColumn(column)];
    return [field, ($row) => get($row, column)];
  });
  return Object.fromEntries(entries);
}

function relation(column, pathOf) {
  return ($row, { $limit, $offset }) =>
    load([get($row, column), $limit, $offset], (key, limit, offset) => pathOf(key, { limit, offset }));
}

const objects = Object.fromEntries(rowTypes.map((type) => [type, { plans: plansOf(type) }]));
Object.assign(objects.Project.plans, {
  primaryDashboard: ($project) =>
    load([get($project, 'id'), detailColumn('primary_dashboard')($project)], (id, dashboard) =>
      paths.dashboard(id, dashboard),
    ),
  dashboard: ($project, { $id }) => load([get($project, 'id'), $id], paths.dashboard),
  dashboards: relation('id', paths.dashboards),
  events: relation('id', paths.events),
  plugins: relation('organization', paths.plugins),
});
objects.Query = {
  plans: {
    project: (_, { $id }) => load([$id], paths.project),
    projects: (_, { $limit, $offset }) => load([$limit, $offset], (limit, offset) => paths.projects({ limit, offset })),
    organizationPlugins: (_, { $id, $limit, $offset }) =>
      load([$id, $limit, $offset], (id, limit, offset) => paths.plugins(id, { limit, offset })),
  },
};

const server = createServer();
const instance = grafserv({
  schema: makeGrafastSchema({ typeDefs, objects }),
  preset: {
    grafserv: { graphqlPath: '/graphql', graphiql: false, watch: false },
    grafast: {
      context: ({ node }) => ({ read: createRead(fetchJson, node?.req.headers.authorization) }),
      explain: false,
    },
  },
});
await instance.addTo(server);
server.listen(Number(process.env.PORT), '127.0.0.1');
