import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Authentication, Authenticator, AuthRefusal, Endpoint } from '../auth/authenticator.ts';
import type { PartsFormat } from '../context.ts';
import type { Claim, MemoryRoom } from '../memory.ts';
import type { ClientName, OperationSpan, RequestContext } from '../operation/operation-run.ts';
import { RequestError } from '../operation/request-error.ts';
import { reuseOf } from '../rest/cache/freshness.ts';
import type { Caller } from '../rest/caller.ts';
import type { Reuse } from '../rest/read-your-writes.ts';
import type { TraceContext } from '../rest/rest-run.ts';
import { bytesOnceParsed } from '../rest/transport/json-weight.ts';
import type { JsonObject } from '../rest/values.ts';
import {
  callerOf,
  clientNameOf,
  type IdentifyingHeaders,
  identifyingHeaders,
  requestIdFrom,
  traceContextOf,
} from './identifying-headers.ts';
import type { Accepted } from './negotiation.ts';
import { largeBody, methodOf } from './request.ts';
import { pausesUntil, stuckSince } from './slow-readers.ts';

/** The request header that limits which kept answers the client takes. */
export const reuseHeader = 'cache-control';

interface ContextOptions {
  readonly authenticator: Authenticator | undefined;
  /** The memory for the bodies of all requests. */
  readonly bodyRoom: MemoryRoom;
}

/** The context of an operation that came in a request of node's HTTP server. */
export class HttpRequestContext implements RequestContext {
  readonly method: string;
  readonly requestId: string;
  readonly accepted: Accepted;
  caller: Caller | undefined;
  refusal: RequestError | undefined;
  expiresAt: number | undefined;
  readonly identified: Promise<void> | undefined;
  trace: TraceContext;
  span: OperationSpan | undefined;
  tool: string | undefined;
  /** The memory that the body of the request takes. */
  readonly claim: Claim;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;

  /**
   * `accepted` has the forms of answers that the client accepts. `authenticator` identifies callers by tokens that are
   * sent to `endpoint`; undefined if callers send API keys.
   */
  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    accepted: Accepted,
    endpoint: Endpoint,
    { authenticator, bodyRoom }: ContextOptions,
  ) {
    const headers = identifyingHeaders(request.rawHeaders);
    this.method = methodOf(request);
    this.requestId = requestIdFrom(headers.requestId);
    this.accepted = accepted;
    if (authenticator === undefined) this.caller = callerOf(headers);
    else {
      this.identified = this.#authenticate(authenticator, headers, endpoint);
      // The promise may reject before the operation waits for it, or after the client has left. Such a rejection must
      // not count as unhandled.
      this.identified?.catch(() => undefined);
    }
    this.trace = traceContextOf(headers);
    this.#request = request;
    this.#response = response;
    this.claim = bodyRoom.claim();
  }

  get reuse(): Reuse {
    return reuseOf(this.#request.headers[reuseHeader]);
  }

  get parts(): PartsFormat | undefined {
    return this.accepted.parts;
  }

  get takesMessages(): boolean {
    return this.accepted.messages !== undefined;
  }

  get client(): ClientName {
    return clientNameOf(this.#request.headers);
  }

  get stuckSince(): number | undefined {
    return stuckSince(this.#request.socket);
  }

  get pausesUntil(): number {
    return pausesUntil(this.#request.socket);
  }

  hasLeft(): boolean {
    return this.#response.closed && !this.#response.writableFinished;
  }

  onLeave(listener: () => void): void {
    const response = this.#response;
    if (response.closed) return listener();
    response.once('close', () => {
      if (!response.writableFinished) listener();
    });
  }

  onClose(listener: () => void): void {
    if (this.#response.closed) listener();
    else this.#response.once('close', listener);
  }

  disconnect(): void {
    this.#response.destroy();
  }

  /** Joins the trace that a message names, unless the headers of the request name one. */
  joinTrace({ traceparent, tracestate = '' }: JsonObject): void {
    if (this.trace['traceparent'] !== undefined || typeof traceparent !== 'string') return;
    this.trace = traceContextOf({ traceparent, tracestate: typeof tracestate === 'string' ? tracestate : '' });
  }

  onKept(query: string, variablesText: string): void {
    const { bytes } = this.claim;
    if (bytes > largeBody) this.claim.resize(Math.min(bytes, query.length + bytesOnceParsed(variablesText)));
  }

  /** Identifies the caller by its token. Returns undefined if the caller is known at once. */
  #authenticate(
    authenticator: Authenticator,
    { authorization, authorizations }: IdentifyingHeaders,
    endpoint: Endpoint,
  ): Promise<void> | undefined {
    const found = authenticator.authenticate(authorization, authorizations, endpoint);
    if (found instanceof Promise) return found.then((later) => this.#note(later));
    this.#note(found);
    return undefined;
  }

  #note(found: Authentication): void {
    if (found.kind !== 'accepted') {
      this.refusal = errorOf(found);
      return;
    }
    this.caller = found.caller;
    this.expiresAt = found.expiresAt;
  }
}

/** The error for a refused token. For an invalid token, the reason is not disclosed. */
function errorOf(refusal: AuthRefusal): RequestError {
  switch (refusal.kind) {
    case 'no token':
      return new RequestError('noToken', 'The request needs a token: send the header `Authorization: Bearer <token>`.');
    case 'invalid token':
      return new RequestError('invalidToken', 'The token is not valid, or not any more.');
    case 'unknown tenant':
      return new RequestError('unknownTenant', 'The tenant of the token may not use this gateway.');
    case 'no role':
      return new RequestError('noRole', 'The token has no role that may use this gateway.');
    case 'unavailable': {
      const headers = { 'retry-after': String(refusal.retryAfter) };
      return new RequestError('tokenUnverifiable', 'Tokens cannot be verified at the moment; try again later.', {
        headers,
      });
    }
  }
}
