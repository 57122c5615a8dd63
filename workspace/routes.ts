import type { FastifyInstance, FastifyRequest } from 'fastify';
import { createAuthenticator, keyOf } from './auth.ts';
import type { Answer, Call, Handler, User } from './call.ts';
import { transact } from './database.ts';
import { inDialect } from './dialects.ts';
import { handlers } from './handlers.ts';
import { objectOf } from './json.ts';
import type { Store } from './store.ts';
import { createFaults, type Switches } from './switches.ts';
import { surfaceOf } from './throttle.ts';
import { decode, type Operation, validate } from './validation.ts';

/** Who is asking, known before anything else is looked at. */
type Identify = (request: FastifyRequest, operation: Operation) => Promise<User>;

/** Gives every operation a route. Throws for an operation that has no handler. */
export function addRoutes(
  app: FastifyInstance,
  operations: readonly Operation[],
  store: Store,
  switches: Switches,
): void {
  const users = new WeakMap<FastifyRequest, User>();
  const identify = createIdentify(store, switches);
  const {
    pageCap = Number.POSITIVE_INFINITY,
    searchTimeMs = 2000,
    eventsNext = 'offset',
    dialect = 'document',
  } = switches;
  for (const operation of operations) {
    const handler = handlers[operation.id];
    if (handler === undefined) throw new Error(`${operation.id} has no handler`);
    app.route({
      method: operation.method,
      url: operation.path.replaceAll(/\{(\w+)\}/g, ':$1'),
      onRequest: async (request) => void users.set(request, await identify(request, operation)),
      preValidation: async (request) => prepare(operation, request),
      handler: async (request, reply) => {
        const user = users.get(request);
        if (user === undefined) throw new Error('expected an authenticated request');
        const answer = answerWith(handler, operation, {
          ...partsOf(request),
          store,
          user,
          pageCap,
          searchTimeMs,
          eventsNext,
        });
        if (typeof answer.body === 'string') reply.type('text/csv; charset=utf-8');
        return reply.code(answer.status).send(inDialect(dialect, operation.id, answer.body));
      },
    });
  }
}

function createIdentify(store: Store, switches: Switches): Identify {
  const authenticate = createAuthenticator(store);
  const { strike, throttle } = createFaults(switches);
  return async ({ headers }, { path }) => {
    await strike();
    const key = keyOf(headers.authorization);
    const user = authenticate(key);
    throttle(key, surfaceOf(path));
    return user;
  };
}

/** Leaves what the document knows of the request, in the form that it describes, and refuses what it does not allow. */
async function prepare(operation: Operation, request: FastifyRequest): Promise<void> {
  request.params = decode(operation, 'path', objectOf(request.params));
  request.query = decode(operation, 'query', objectOf(request.query));
  // A missing body is an empty one.
  if (operation.validators.body !== undefined && request.body === undefined) request.body = {};
  validate(operation, request);
}

function partsOf(request: FastifyRequest): Pick<Call, 'url' | 'params' | 'query' | 'body'> {
  return {
    url: URL.parse(request.url, `${request.protocol}://${request.host}`) ?? new URL(request.url, 'http://localhost'),
    params: objectOf(request.params),
    query: objectOf(request.query),
    body: objectOf(request.body),
  };
}

function answerWith(handler: Handler, { method }: Operation, call: Call): Answer {
  return method === 'GET' ? handler(call) : transact(call.store.database, () => handler(call));
}
