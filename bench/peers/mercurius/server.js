/** Mercurius on Fastify: its loaders for relations, its compiler; an operation remembers what it has read. */
import Fastify from 'fastify';
import mercurius from 'mercurius';
import { Pool } from 'undici';
import { createClient, createRead } from '../shared/client.js';
import { resolvers } from '../shared/resolvers.js';
import { paths, typeDefs } from '../shared/schema.js';

const get = createClient(Pool);
const { dashboards, events, plugins, ...columns } = resolvers.Project;

/** A loader of Mercurius: it has all objects of a level at once, and asks for equal paths once. */
function relation(pathOf) {
  const loader = (queries, { get: read }) => Promise.all(queries.map(({ obj, params }) => read(pathOf(obj, params))));
  return { loader, opts: { cache: false } };
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
  context: ({ headers }) => ({ get: createRead(get, headers.authorization) }),
  persistedQueryProvider: mercurius.persistedQueryDefaults.automatic(),
  jit: 1,
  graphiql: false,
});
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
