/** Hive Gateway over the composed supergraph, with its compiler on; equal GETs of an operation are one. */
import { defineConfig } from '@graphql-hive/gateway';
import { useDeduplicateRequest } from '@graphql-hive/plugin-deduplicate-request';

export const gatewayConfig = defineConfig({
  supergraph: './supergraph.graphql',
  host: '127.0.0.1',
  port: Number(process.env.PORT),
  graphiql: false,
  landingPage: false,
  logging: 'error',
  polling: 0,
  jit: true,
  plugins: () => [useDeduplicateRequest()],
});
