/** Apollo Server with its REST data source, which asks for equal GETs once an operation. */
import { RESTDataSource } from '@apollo/datasource-rest';
import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { resolvers } from '../shared/resolvers.js';
import { typeDefs } from '../shared/schema.js';

class Api extends RESTDataSource {
  baseURL = process.env.UPSTREAM;

  constructor(authorization) {
    super({ cache: server.cache });
    this.authorization = authorization;
  }

  willSendRequest(_, request) {
    request.headers.authorization = this.authorization;
  }

  /** By default only GETs in flight together are one; so are all of one operation. */
  requestDeduplicationPolicyFor(url, request) {
    const policy = super.requestDeduplicationPolicyFor(url, request);
    return request.method === 'GET' ? { ...policy, policy: 'deduplicate-until-invalidated' } : policy;
  }

  read(path) {
    return this.get(path);
  }
}

const server = new ApolloServer({
  typeDefs,
  resolvers,
  introspection: false,
  includeStacktraceInErrorResponses: false,
});
await startStandaloneServer(server, {
  listen: { port: Number(process.env.PORT), host: '127.0.0.1' },
  context: async ({ req }) => {
    const api = new Api(req.headers.authorization);
    return { get: (path) => api.read(path) };
  },
});
