/**
 * Hive Gateway over the composed supergraph, with its compiler on; equal GETs of an operation are one. CACHE_MS turns its
 * response cache on, and the compiler off: how long answers are kept that hold rows of a noun, in milliseconds, as JSON.
 */
import { defineConfig } from '@graphql-hive/gateway';
import { useDeduplicateRequest } from '@graphql-hive/plugin-deduplicate-request';

const lifetimes = process.env.CACHE_MS === undefined ? undefined : JSON.parse(process.env.CACHE_MS);

/** Answers are kept for each key apart; one goes when a mutation answers an object that it holds. */
const responseCaching = lifetimes && {
  session: (request) => request.headers.get('authorization'),
  ttl: lifetimes.projects,
  ttlPerType: {
    Project: lifetimes.projects,
    Dashboard: lifetimes.dashboards,
    DashboardListItem: lifetimes.dashboards,
    Plugin: lifetimes.plugins,
    Event: lifetimes.events,
  },
};

export const gatewayConfig = defineConfig({
  supergraph: './supergraph.graphql',
  host: '127.0.0.1',
  port: Number(process.env.PORT),
  graphiql: false,
  landingPage: false,
  logging: 'error',
  polling: 0,
  // With it, the response cache does not hear what a mutation has answered.
  jit: lifetimes === undefined,
  ...(responseCaching && { responseCaching }),
  plugins: () => [useDeduplicateRequest()],
});
