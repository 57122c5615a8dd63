/** Mercurius on Fastify: its loaders for relations, a DataLoader for rows by id, its compiler from the first run on. */
import DataLoader from 'dataloader';
import Fastify from 'fastify';
import mercurius from 'mercurius';
import { Pool } from 'undici';
import { createClient } from '../shared/client.js';
import { resolvers } from '../shared/resolvers.js';
import { paths, typeDefs } from '../shared/schema.js';

const get = createClient(Pool);
const { dashboards, events, plugins, ...columns } = resolvers.Project;

/** A loader of Mercurius: it has all objects of a level at once, and asks for equal paths once. */
function relation(pathOf) {
  const loader = (queries, { get: read }) => Promise.all(queries.map(({ obj, params }) => read(pathOf(obj, params))));
  return { loader, opts: { cache: false } };
}

function createContext({ headers: { authorization } }) {
  const loader = new DataLoader((all) =>
    Promise.all(all.map((path) => get(path, authorization).catch((error) => error))),
  );
  return { get: (path) => loader.load(path) };
}

const app = Fastify();
app.register(mercurius, {
  schema: typeDefs,
  resolvers: { ...resolvers, Project: columns },
  loaders: {
    Project: {
      dashboards: relation(({ id }, window) => paths.dashboards(id, window)),
      events: relation(({ id }, window) => paths.events(id, window)),
      plugins: relation(({ organization }, window) => paths.plugins(organization, window)),
    },
  },
  context: createContext,
  persistedQueryProvider: mercurius.persistedQueryDefaults.automatic(),
  jit: 1,
  graphiql: false,
});
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
