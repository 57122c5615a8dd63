import type { IncomingMessage, ServerResponse } from 'node:http';
import { createYoga } from 'graphql-yoga';
import type { GatewayContext } from './context.ts';
import { createCursorCodec } from './graphql/cursors.ts';
import { callerOf, traceContextOf } from './http/caller.ts';
import { toPublicError } from './http/errors.ts';
import { useExecution } from './http/execution.ts';
import { graphiqlPage } from './http/graphiql.ts';
import { useJsonBodies } from './http/requests.ts';
import { createLoaders } from './loaders/loaders.ts';
import { createRestApi } from './rest/api.ts';
import { createUpstream } from './rest/client.ts';
import { Lifetime } from './rest/lifetime.ts';
import { createSchema } from './schema.ts';

/** What a gateway is made of. Times in milliseconds, sizes in rows or bytes. */
export interface GatewayOptions {
  /** Base URL of the REST API. */
  readonly upstreamUrl: string;
  readonly upstreamConnections: number;
  readonly maxBodyBytes: number;
  readonly operationDeadlineMs: number;
  readonly maxPageSize: number;
  readonly cursorSecret: string;
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

/** What the HTTP server knows of a request beside its WHATWG form. */
interface NodeContext {
  readonly req: IncomingMessage;
}

/** Composes a gateway. Opens no socket until it is asked something. */
export function createGateway(options: GatewayOptions): Gateway {
  const upstream = createUpstream({
    url: options.upstreamUrl,
    connections: options.upstreamConnections,
    maxBodyBytes: options.maxBodyBytes,
  });
  const cursors = createCursorCodec(options.cursorSecret);
  const page = graphiqlPage(options);

  const contextOf = ({ req, request }: NodeContext & { request: Request }): GatewayContext & { lifetime: Lifetime } => {
    const lifetime = new Lifetime(options.operationDeadlineMs);
    request.signal.addEventListener('abort', () => lifetime.end('left'), { once: true });
    const headers = (name: string): readonly string[] => req.headersDistinct[name] ?? [];
    const rest = createRestApi(upstream.clientFor(callerOf(headers), lifetime, traceContextOf(headers)));
    const { maxPageSize } = options;
    return { rest, loaders: createLoaders(rest, maxPageSize), cursors, maxPageSize, lifetime };
  };

  const yoga = createYoga<NodeContext, GatewayContext>({
    schema: createSchema(),
    context: contextOf,
    plugins: [useJsonBodies(), useExecution()],
    maskedErrors: { maskError: (error) => toPublicError(error, options.report) },
    renderGraphiQL: () => page,
    cors: false,
    multipart: false,
    logging: false,
    landingPage: false,
  });
  return {
    handle: (request, response) => void yoga(request, response),
    close: () => upstream.close(),
  };
}
