import { createAuthenticator, keyOf } from './auth.ts';
import type { Answer, Call, Handler, User } from './call.ts';
import { transact } from './database.ts';
import { inDialect } from './dialects.ts';
import { type Operation, operationsOf } from './document.ts';
import { endpointNotFound, invalid } from './errors.ts';
import { handlers } from './handlers.ts';
import { type Answering, readJson, targetOf } from './http.ts';
import { type JsonObject, objectOf } from './json.ts';
import type { Store } from './store.ts';
import { createFaults, type Switches } from './switches.ts';
import { surfaceOf } from './throttle.ts';
import { decode, validate } from './validation.ts';

/** An operation of the document, with the pattern of its path. */
interface Route {
  readonly operation: Operation;
  readonly pattern: RegExp;
  readonly handler: Handler;
}

/** A route that was asked for, and the parameters in its path, not decoded. */
interface Found extends Route {
  readonly texts: Readonly<Record<string, string>>;
}

/** Answers requests for the operations of the document. Throws for an operation that has no handler. */
export function createAnswering(document: JsonObject, store: Store, switches: Switches): Answering {
  const routes = routesOf(document);
  const identify = createIdentify(store, switches);
  const {
    pageCap = Number.POSITIVE_INFINITY,
    searchTimeMs = 2000,
    eventsNext = 'offset',
    dialect = 'document',
  } = switches;
  return async (request) => {
    const { url: target, path, query: texts } = targetOf(request);
    const found = find(routes, request.method, path);
    if (found === undefined) throw endpointNotFound();
    const { operation, handler } = found;
    const pathTexts = decoded(found.texts);
    const user = await identify(request.headers.authorization, operation);
    const body = operation.body === undefined ? undefined : await readJson(request);
    const params = decode(operation, 'path', pathTexts);
    const query = decode(operation, 'query', texts);
    validate(operation, { params, query, body });
    const url = URL.parse(target, `http://${request.headers.host ?? ''}`) ?? new URL(target, 'http://localhost');
    const call = { url, params, query, body: objectOf(body), store, user, pageCap, searchTimeMs, eventsNext };
    const answer = answerWith(handler, operation, call);
    return { ...answer, body: inDialect(dialect, operation.id, answer.body) };
  };
}

/** The routes of all operations, those with the fewest parameters first: `events/values/` is no event. */
function routesOf(document: JsonObject): Route[] {
  const routes = operationsOf(document).map((operation) => {
    const handler = handlers[operation.id];
    if (handler === undefined) throw new Error(`${operation.id} has no handler`);
    return { operation, handler, pattern: new RegExp(`^${operation.path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`) };
  });
  return routes.toSorted((one, other) => one.operation.path.split('{').length - other.operation.path.split('{').length);
}

function find(routes: readonly Route[], method: string | undefined, path: string): Found | undefined {
  // Node sends no body in answer to HEAD.
  const asked = method === 'HEAD' ? 'GET' : method;
  for (const route of routes) {
    const match = route.operation.method === asked ? route.pattern.exec(path) : null;
    if (match !== null) return { ...route, texts: match.groups ?? {} };
  }
  return undefined;
}

function decoded(texts: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  try {
    return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, decodeURIComponent(text)]));
  } catch {
    throw invalid(undefined, 'The path cannot be decoded.');
  }
}

/** Tells who is asking, before anything else is looked at. */
type Identify = (authorization: string | undefined, operation: Operation) => Promise<User>;

function createIdentify(store: Store, switches: Switches): Identify {
  const authenticate = createAuthenticator(store);
  const { strike, throttle } = createFaults(switches);
  return async (authorization, { path }) => {
    await strike();
    const key = keyOf(authorization);
    const user = authenticate(key);
    throttle(key, surfaceOf(path));
    return user;
  };
}

function answerWith(handler: Handler, { method }: Operation, call: Call): Answer {
  return method === 'GET' ? handler(call) : transact(call.store.database, () => handler(call));
}
