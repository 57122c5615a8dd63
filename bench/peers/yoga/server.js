/** GraphQL Yoga with a DataLoader an operation, and automatic persisted queries. */
import { createServer } from 'node:http';
import { useAPQ } from '@graphql-yoga/plugin-apq';
import DataLoader from 'dataloader';
import { createSchema, createYoga } from 'graphql-yoga';
import { Pool } from 'undici';
import { createClient } from '../shared/client.js';
import { resolvers } from '../shared/resolvers.js';
import { typeDefs } from '../shared/schema.js';

const get = createClient(Pool);

function createContext({ request }) {
  const authorization = request.headers.get('authorization');
  const loader = new DataLoader((paths) =>
    Promise.all(paths.map((path) => get(path, authorization).catch((error) => error))),
  );
  return { get: (path) => loader.load(path) };
}

const yoga = createYoga({
  schema: createSchema({ typeDefs, resolvers }),
  // Its own store forgets after 36 seconds.
  plugins: [useAPQ({ store: new Map() })],
  context: createContext,
  graphiql: false,
  landingPage: false,
  cors: false,
  logging: 'warn',
});
createServer(yoga).listen(Number(process.env.PORT), '127.0.0.1');
