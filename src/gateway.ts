import type { IncomingMessage, ServerResponse } from 'node:http';
import type { GatewayContext } from './context.ts';
import { createCursorCodec } from './graphql/cursors.ts';
import { createCors } from './http/cors.ts';
import { graphiqlPage } from './http/graphiql.ts';
import { createLane } from './http/lane.ts';
import type { DocumentLimits } from './http/limits.ts';
import { createRunOperation, type RequestFacts } from './http/operations.ts';
import { createPrepare } from './http/prepare.ts';
import { createYogaHandler } from './http/yoga.ts';
import { createLoaders } from './loaders/loaders.ts';
import { createRestApi } from './rest/api.ts';
import { createUpstream, type UpstreamOptions } from './rest/client.ts';
import type { Lifetime } from './rest/lifetime.ts';
import { createCompilerSchema, createSchema } from './schema.ts';

/** What a gateway is made of. Times in milliseconds, sizes in rows or bytes. */
export interface GatewayOptions {
  /** Base URL of the REST API. */
  readonly upstreamUrl: string;
  readonly upstreamConnections: number;
  /** Largest response of the upstream, decoded. */
  readonly maxResponseBytes: number;
  /** Largest body of a client. */
  readonly maxRequestBytes: number;
  readonly operationDeadlineMs: number;
  readonly maxPageSize: number;
  readonly cursorSecret: string;
  readonly documentLimits: DocumentLimits;
  /** Whether clients may read the schema. */
  readonly introspection: boolean;
  /** Whether browsers get GraphiQL. */
  readonly graphiql: boolean;
  /** Origins whose pages may call. */
  readonly corsOrigins: readonly string[];
  /** The key that GraphiQL starts with; only the embedded workspace has one. */
  readonly demoKey?: string | undefined;
  /** Hears of errors that nobody expected. */
  readonly report: (error: unknown) => void;
}

/** A gateway without a socket of its own. */
export interface Gateway {
  /** Answers `/graphql`, for `node:http`. */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
  /** Closes the connections to the upstream; what is in flight fails. */
  readonly close: () => Promise<void>;
}

/** Memory that remembered operations may take. */
const preparedBytes = 64 * 2 ** 20;

/** Composes a gateway. Opens no socket until it is asked something. */
export function createGateway(options: GatewayOptions): Gateway {
  const { maxPageSize, maxRequestBytes, report } = options;
  const schema = createSchema();
  const upstream = createUpstream(upstreamOptionsOf(options));
  const cursors = createCursorCodec(options.cursorSecret);
  const createContext = ({ caller, trace }: RequestFacts, lifetime: Lifetime): GatewayContext => {
    const rest = createRestApi(upstream.clientFor(caller, lifetime, trace));
    return { rest, loaders: createLoaders(rest, maxPageSize), cursors, maxPageSize };
  };
  const run = createRunOperation({
    prepare: createPrepare({
      schemas: { schema, compilerSchema: createCompilerSchema() },
      cacheBytes: preparedBytes,
      limits: options.documentLimits,
      introspection: options.introspection,
    }),
    createContext,
    deadlineMs: options.operationDeadlineMs,
    report,
  });
  const cors = createCors(options.corsOrigins);
  const lane = createLane({ run, maxBodyBytes: maxRequestBytes, report });
  const yoga = createYogaHandler({
    schema,
    run,
    maxBodyBytes: maxRequestBytes,
    graphiql: options.graphiql ? graphiqlPage(options) : undefined,
    report,
  });
  return {
    handle: (request, response) => {
      if (cors(request, response)) return;
      if (!lane(request, response)) yoga(request, response);
    },
    close: () => upstream.close(),
  };
}

function upstreamOptionsOf(options: GatewayOptions): UpstreamOptions {
  return {
    url: options.upstreamUrl,
    connections: options.upstreamConnections,
    maxBodyBytes: options.maxResponseBytes,
  };
}
