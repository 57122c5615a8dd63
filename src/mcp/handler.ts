import type { IncomingMessage, ServerResponse } from 'node:http';
import { createCors } from '../http/cors.ts';
import type { EdgeOptions, Handle } from '../http/handle.ts';
import { requestIdOf } from '../http/identifying-headers.ts';
import { isLoopback } from '../http/loopback.ts';
import { negotiate, onlyJson } from '../http/negotiation.ts';
import { countIfRefused, readBody, refusalOf } from '../http/request.ts';
import { HttpRequestContext } from '../http/request-context.ts';
import { answerHeaders } from '../http/response.ts';
import { createSend } from '../http/send.ts';
import { toPublicError } from '../operation/public-errors.ts';
import { type RequestError, ruleOf } from '../operation/request-error.ts';
import { agents } from '../rest/caller.ts';
import {
  errorCodes,
  errorText,
  McpError,
  type Message,
  protocolHeaders,
  protocolOf,
  resultText,
  toMessage,
} from './message.ts';
import { answerMethod, type MethodOptions } from './methods.ts';
import { challengeOf, type ProtectedResource } from './protected-resource.ts';

/** Collaborators and settings of the endpoint for agents. */
export type McpOptions = EdgeOptions & Pick<MethodOptions, 'onCall'>;

interface McpHandlerOptions extends McpOptions, Pick<MethodOptions, 'tools'> {
  /** The protected resource that tokens are issued for; undefined if there is none. */
  readonly resource: ProtectedResource | undefined;
  /** The URL under which clients reach the gateway; undefined if they are on this machine. */
  readonly publicUrl: string | undefined;
}

/**
 * The streamable HTTP transport of the Model Context Protocol, without sessions. Each POST has one message and is
 * answered in JSON. There is no stream to GET, and no session to DELETE.
 */
export function createMcpHandler(options: McpHandlerOptions): Handle {
  const { authenticator, compression, corsOrigins: origins, corsHeaders, log } = options;
  const { bodyLimits, resource, report, countRefused } = options;
  const vary = `Authorization, Origin${compression ? ', Accept-Encoding' : ''}`;
  const cors = createCors({ origins, headers: [...corsHeaders, ...protocolHeaders], vary, log });
  const send = createSend({ compression, vary });
  const isAllowed = createOriginCheck(options);
  const methodOptions = { ...options, isPrivate: authenticator !== undefined };
  const answerRequest = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let context: HttpRequestContext | undefined;
    let id: Message['id'];
    let answer: Answer;
    try {
      checkRequest(request, isAllowed);
      context = new HttpRequestContext(request, response, onlyJson, 'agents', options);
      await context.identified;
      const { refusal, caller } = context;
      // All agents of a key share one account, whichever user they act for.
      context.caller = caller && { ...caller, chargedTo: agents };
      if (refusal !== undefined) answer = unauthorized(refusal, resource);
      else {
        const message = await readBody(request, bodyLimits, context.claim, toMessage);
        if (message === undefined) return;
        ({ id } = message);
        const protocol = protocolOf(message, request.headers);
        if (id === undefined) answer = { status: 202 };
        else {
          const result = await answerMethod({ message, protocol, context }, methodOptions);
          answer = { status: 200, body: resultText(id, result) };
        }
      }
    } catch (error) {
      countIfRefused(error, countRefused);
      const known = toMcpError(error, report);
      answer = { status: known.status, headers: known.headers, body: errorText(id, known) };
    } finally {
      context?.claim.release();
    }
    const { status, body } = answer;
    const headers = { ...answerHeaders, ...answer.headers, 'x-request-id': context?.requestId ?? requestIdOf(request) };
    if (body === undefined) response.writeHead(status, headers).end();
    else send(request, response, { status, headers: { 'content-type': 'application/json', ...headers }, body });
  };
  return (request, response) => {
    if (!cors(request, response)) void answerRequest(request, response);
  };
}

/** An answer over HTTP. The answer to a notification has no body. */
interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string;
}

/** Throws an McpError or a RequestError for a request that cannot come from an agent. */
function checkRequest(request: IncomingMessage, isAllowed: (origin: string) => boolean): void {
  const { origin, accept } = request.headers;
  if (origin !== undefined && !isAllowed(origin)) throw refusedWith(403, 'Expected no `Origin`, or one that may call.');
  if (request.method !== 'POST') throw refusedWith(405, 'Expected POST.', { allow: 'POST' });
  const refusal = refusalOf(request);
  if (refusal !== undefined) throw refusal;
  if (negotiate(accept).document === undefined) throw refusedWith(406, 'Expected `Accept` to have application/json.');
}

/**
 * Makes the check of the header `Origin`. Without the check, a page whose host name resolves to this machine could use
 * what only this machine may reach (DNS rebinding). An `Origin` that agrees with `Host` proves nothing, because both
 * then name the host of such a page.
 */
function createOriginCheck({ publicUrl, corsOrigins }: McpHandlerOptions): (origin: string) => boolean {
  const known = new Set(corsOrigins);
  if (publicUrl !== undefined) known.add(new URL(publicUrl).origin);
  return (origin) => known.has(origin) || (publicUrl === undefined && isLoopbackOrigin(origin));
}

function isLoopbackOrigin(origin: string): boolean {
  const url = URL.parse(origin);
  return url !== null && url.origin === origin && isLoopback(url);
}

function refusedWith(status: number, message: string, headers?: Readonly<Record<string, string>>): McpError {
  return new McpError(errorCodes.invalidRequest, message, { status, headers });
}

function toMcpError(error: unknown, report: (error: unknown) => void): McpError {
  if (error instanceof McpError) return error;
  const { message, extensions, refusal } = toPublicError(error, report);
  const isFault = extensions['code'] === 'INTERNAL_SERVER_ERROR';
  const status = refusal === undefined ? (isFault ? 500 : 400) : ruleOf(refusal.kind).status;
  const code = status >= 500 ? errorCodes.internal : errorCodes.invalidRequest;
  return new McpError(code, message, { status, headers: refusal?.headers });
}

/** The answer to a request whose token is refused, as OAuth requires it. */
function unauthorized({ kind, message, headers }: RequestError, resource: ProtectedResource | undefined): Answer {
  const { status, code } = ruleOf(kind);
  const isInvalid = headers['www-authenticate']?.includes('invalid_token') === true;
  const challenge = status === 401 &&
    resource !== undefined && { 'www-authenticate': challengeOf(resource, isInvalid) };
  const error = isInvalid ? 'invalid_token' : code.toLowerCase();
  return {
    status,
    headers: { ...headers, ...challenge },
    body: JSON.stringify({ error, error_description: message }),
  };
}
