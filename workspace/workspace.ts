import fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { startCapturing } from './capture.ts';
import { ApiError, endpointNotFound, invalid } from './errors.ts';
import { operations } from './generated/operations.ts';
import { objectOf, parseJson } from './json.ts';
import { addRoutes } from './routes.ts';
import { demoKeys, memberKeys } from './seed/organizations.ts';
import { seedOnce } from './seed/seed.ts';
import { openStore } from './store.ts';
import type { Switches } from './switches.ts';

export { demoKeys, memberKeys };

/** The options of the workspace. */
export interface WorkspaceOptions extends Switches {
  /** 0 picks a free one. */
  readonly port: number;
  readonly host: string;
  /** SQLite file that keeps the data over a restart; in memory if absent. */
  readonly database?: string | undefined;
  /** Events that each example project captures by itself, in a minute: from 0, the default, to 600. */
  readonly eventsPerMinute?: number | undefined;
}

/** A running workspace. */
export interface Workspace {
  /** The base URL, without a slash at its end. */
  readonly url: string;
  /** A personal API key of a user of the first organization. */
  readonly demoKey: string;
  close(): Promise<void>;
}

/** Starts the REST API over its own database, with demonstration data if that is new. */
export async function startWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const store = openStore(options.database ?? ':memory:');
  // A file must hold all of the data at once, because it may outlive this process.
  seedOnce(store, { lateEvents: options.database === undefined });
  const app = createApp();
  app.addHook('onClose', async () => store.database.close());
  addRoutes(app, operations, store, options);
  const stopCapturing = startCapturing(store, options.eventsPerMinute ?? 0);
  app.addHook('preClose', async () => stopCapturing());
  const url = await app.listen({ port: options.port, host: options.host }).catch(async (error: unknown) => {
    await app.close();
    throw error;
  });
  return { url, demoKey: demoKeys[0], close: () => app.close() };
}

/** A server without routes. */
export function createApp(): FastifyInstance {
  const app = fastify({
    logger: { level: 'error', stream: process.stderr },
    // The last of several equal names counts.
    routerOptions: { querystringParser: (text) => Object.fromEntries(new URLSearchParams(text)) },
    // Else Fastify loads compilers of schemas at the start.
    schemaController: { compilersFactory: { buildValidator: unused, buildSerializer: unused } },
    frameworkErrors: (error, request, reply) => void sendError(error, request, reply),
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, async (_: FastifyRequest, text: string) =>
    parseBody(text),
  );
  app.setNotFoundHandler((request, reply) => sendError(endpointNotFound(), request, reply));
  app.setErrorHandler(sendError);
  return app;
}

function unused(): never {
  throw new Error('expected no schema that Fastify has to compile');
}

function parseBody(text: string): unknown {
  try {
    return text === '' ? {} : parseJson(text);
  } catch {
    throw invalid(undefined, 'JSON parse error.', 'parse_error');
  }
}

function sendError(error: FastifyError | ApiError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const failure = error instanceof ApiError ? error : failureOf(error);
  if (failure.status === 500) request.log.error(error);
  reply.code(failure.status).headers(failure.headers);
  // As in the known deployment: a client that asks for CSV is not told what went wrong.
  return objectOf(request.query).format === 'csv'
    ? reply.type('text/csv; charset=utf-8').send('')
    : reply.send(failure.toJSON());
}

function failureOf({ statusCode = 500, message }: FastifyError): ApiError {
  if (statusCode === 415) return new ApiError(415, 'unsupported_media_type', 'Unsupported media type in request.');
  if (statusCode < 500) return new ApiError(statusCode, 'invalid_input', message);
  return new ApiError(500, 'error', 'A server error occurred.');
}
