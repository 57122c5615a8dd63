import type { IncomingMessage, ServerResponse } from 'node:http';
import { GraphQLError, type GraphQLSchema } from 'graphql';
import type { Plugin, YogaServerInstance } from 'graphql-yoga';
import { type PublicError, toPublicError } from '../operation/errors.ts';
import type { RequestContext } from '../operation/operation-run.ts';
import type { GraphQLParams } from '../operation/params.ts';
import type { RunOperation } from '../operation/pipeline.ts';
import { requestError } from '../operation/request-error.ts';
import type { OperationResult } from '../operation/result.ts';
import { isObject } from '../rest/values.ts';
import type { BodyBudget, BodyClaim } from './body-budget.ts';
import { compressed } from './compression.ts';
import { type BodyLimits, contextOf, isJson, readParams } from './fast-path.ts';
import { negotiate } from './negotiation.ts';
import { answerHeaders, toAnswer } from './response.ts';

/** What Yoga needs to answer what the fast path leaves: streams, and requests that are no GraphQL. */
export interface YogaOptions {
  readonly schema: GraphQLSchema;
  readonly run: RunOperation;
  readonly bodyLimits: BodyLimits;
  readonly bodyBudget: BodyBudget;
  /** Whether answers are compressed for clients that ask for it. */
  readonly compression: boolean;
  /** The `Vary` header of every answer. */
  readonly vary: string;
  readonly report: (error: unknown) => void;
}

/** What Yoga knows of a request beside its WHATWG form. */
interface NodeContext {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly asked: RequestContext;
  /** What its body takes in memory. */
  readonly claim: BodyClaim;
}

/** Answers any request to the GraphQL endpoint. Operations take the same path as in the fast path. */
export function createYogaHandler(options: YogaOptions): (request: IncomingMessage, response: ServerResponse) => void {
  const { schema, run, bodyBudget, compression, vary, report } = options;
  const paramsOf: ParamsOf = new WeakMap();
  const results: Results = new WeakMap();
  const create = async (): Promise<YogaServerInstance<NodeContext, object>> => {
    const { createYoga } = await import('graphql-yoga');
    return createYoga<NodeContext>({
      schema,
      plugins: [
        useParams(paramsOf, options),
        useStreamHeaders(),
        useOperations(run, paramsOf, results),
        useAnswers(results, compression, report),
      ],
      maskedErrors: false,
      // Bodies are not read by Yoga.
      maxRequestBodySize: false,
      graphiql: false,
      cors: false,
      multipart: false,
      logging: false,
      landingPage: false,
    });
  };
  // Loaded with the first request that needs it: most gateways never get one, and all start sooner.
  let yoga: ReturnType<typeof create> | undefined;
  return (request, response) => {
    yoga ??= create();
    const claim = bodyBudget.claim();
    response.once('close', () => claim.release());
    const asked = contextOf(request, response, claim);
    response.setHeader('x-request-id', asked.requestId);
    response.setHeader('vary', vary);
    yoga.then((handle) => handle(request, response, { asked, claim }), report);
  };
}

/** Parameters by the request they came with: Yoga's own are less. */
type ParamsOf = WeakMap<Request, GraphQLParams>;

/** Results by the request that they answer. */
type Results = WeakMap<Request, OperationResult>;

/** Why a body is refused that is not declared as plain JSON: forms and text could be sent across sites without a preflight. */
function refusalOf(headers: Headers): GraphQLError | undefined {
  if (!isJson(headers.get('content-type')))
    return requestError('notJson', 'Expected a body of the content type application/json.');
  const coding = headers.get('content-encoding') ?? 'identity';
  return coding === 'identity' ? undefined : requestError('encodedBody', 'Expected a body without a content coding.');
}

/** Reads parameters as the fast path does, and refuses every body but JSON. */
function useParams(paramsOf: ParamsOf, { bodyLimits, report }: YogaOptions): Plugin<object, NodeContext> {
  return {
    onRequestParse: ({ request, setRequestParser, endResponse, fetchAPI, serverContext: { req, claim } }) => {
      if (request.method !== 'GET' && request.method !== 'POST')
        throw requestError('wrongMethod', `Expected GET or POST, but got ${request.method}.`);
      const refusal = request.method === 'POST' ? refusalOf(request.headers) : undefined;
      if (refusal !== undefined) {
        // Whatever the client accepts: it may be no GraphQL client at all.
        const { body, ...head } = toAnswer({ errors: [toPublicError(refusal, report)] }, 'application/json');
        endResponse(new fetchAPI.Response(body, head));
        return;
      }
      if (!isAcceptable(request.headers.get('accept') ?? undefined)) {
        endResponse(new fetchAPI.Response(null, { status: 406, headers: answerHeaders }));
        return;
      }
      setRequestParser(async () => {
        const params = await readParams(req, bodyLimits, claim);
        if (params !== undefined) paramsOf.set(request, params);
        // Yoga wants to see a query; `useOperations` takes the real ones.
        return { query: '' };
      });
    },
  };
}

/** Whether there is any form in which a client takes an answer. Without one nothing may run. */
function isAcceptable(accept: string | undefined): boolean {
  return negotiate(accept) !== undefined || /text\/event-stream|multipart\/mixed/i.test(accept ?? '');
}

/** Runs operations as the fast path does. */
function useOperations(run: RunOperation, paramsOf: ParamsOf, results: Results): Plugin<object, NodeContext> {
  return {
    onParams: async ({ request, setResult, context: { asked } }) => {
      const params = paramsOf.get(request);
      if (params === undefined) return;
      const result = await run(params, asked);
      results.set(request, result);
      // For streams, which Yoga writes itself.
      const { data, errors } = result;
      setResult({
        ...(isObject(data) && { data }),
        ...(errors !== undefined && { errors: errors.map(toGraphQLError) }),
      });
    },
  };
}

/**
 * Streams, which Yoga writes itself, get the headers of every answer. `none`, which it adds, is no content coding; whether
 * the connection stays open is for the server to say.
 */
function useStreamHeaders(): Plugin {
  return {
    onResponse: ({ response: { headers } }) => {
      if (headers.has('x-content-type-options')) return;
      for (const [name, value] of Object.entries(answerHeaders)) headers.set(name, value);
      if (headers.get('content-encoding') === 'none') headers.delete('content-encoding');
      headers.delete('connection');
    },
  };
}

/** Answers as the fast path does, where the client takes what the fast path answers. */
function useAnswers(
  results: Results,
  compression: boolean,
  report: (error: unknown) => void,
): Plugin<object, NodeContext> {
  return {
    onResultProcess: (payload) => {
      const mediaType = negotiate(payload.request.headers.get('accept') ?? undefined);
      if (mediaType === undefined) return;
      payload.setResultProcessor(async (result, fetchAPI) => {
        const answered = results.get(payload.request) ?? {
          errors: errorsOf(result).map((error) => toPublicError(error, report)),
        };
        const plain = toAnswer(answered, mediaType);
        const smaller = compression ? compressed(payload.serverContext.req, plain) : undefined;
        const { status, headers, body } = (await smaller) ?? plain;
        return new fetchAPI.Response(body, { status, headers });
      }, mediaType);
    },
  };
}

/** The errors of a request that never became an operation. */
function errorsOf(result: object): readonly unknown[] {
  return 'errors' in result && Array.isArray(result.errors) ? result.errors : [];
}

/** Yoga takes status and headers from `extensions.http`, and leaves it out of the answer. */
function toGraphQLError({ message, path, extensions, http }: PublicError): GraphQLError {
  return new GraphQLError(message, { path, extensions: { ...extensions, ...(http !== undefined && { http }) } });
}
