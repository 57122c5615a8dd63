import type { IncomingMessage, ServerResponse } from 'node:http';
import type { GraphQLError } from 'graphql';
import type { PartsFormat } from '../context.ts';
import type { Claim } from '../memory.ts';
import type { ClientName, Identity, RequestContext } from '../operation/operation-run.ts';
import type { CallSpans, TraceContext } from '../rest/call-spans.ts';
import type { Caller } from '../rest/caller.ts';
import { bytesOnceParsed } from '../rest/transport/json-weight.ts';
import type { JsonObject } from '../rest/values.ts';
import { largeBody } from './body.ts';
import type { Identify } from './identify.ts';
import { callerOf, clientNameOf, identifyingHeaders, requestIdFrom, traceContextOf } from './identifying-headers.ts';
import { negotiateMessages } from './negotiation.ts';
import { methodOf } from './request.ts';
import { stuckSince } from './unread.ts';

/** The context of an operation that came in a request of node's HTTP server. */
export class HttpRequestContext implements RequestContext {
  readonly method: string;
  readonly requestId: string;
  readonly parts: PartsFormat | undefined;
  caller: Caller | undefined;
  refusal: GraphQLError | undefined;
  expiresAt: number | undefined;
  identifying: Promise<Identity> | undefined;
  trace: TraceContext;
  spans: CallSpans | undefined;
  tool: string | undefined;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #claim: Claim;

  /**
   * `claim` is the memory that the body of the request takes. `identify` identifies the caller if a key does not. `parts`
   * is the format in which the client takes an answer in parts.
   */
  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    claim: Claim,
    identify: Identify | undefined,
    parts: PartsFormat | undefined,
  ) {
    const headers = identifyingHeaders(request.rawHeaders);
    this.method = methodOf(request);
    this.requestId = requestIdFrom(headers.requestId);
    this.parts = parts;
    if (identify === undefined) this.caller = callerOf(headers);
    else Object.assign(this, identify(headers));
    this.trace = traceContextOf(headers);
    this.#request = request;
    this.#response = response;
    this.#claim = claim;
  }

  get cacheControl(): string | undefined {
    return this.#request.headers['cache-control'];
  }

  get takesMessages(): boolean {
    return negotiateMessages(this.#request.headers.accept) !== undefined;
  }

  get client(): ClientName {
    return clientNameOf(this.#request.headers);
  }

  get stuckSince(): number | undefined {
    return stuckSince(this.#request.socket);
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

  cut(): void {
    this.#response.destroy();
  }

  /** Joins the trace that a message names, unless the headers of the request name one. */
  follow({ traceparent, tracestate = '' }: JsonObject): void {
    if (this.trace['traceparent'] !== undefined || typeof traceparent !== 'string') return;
    this.trace = traceContextOf({ traceparent, tracestate: typeof tracestate === 'string' ? tracestate : '' });
  }

  onKept(query: string, variablesText: string): void {
    const { bytes } = this.#claim;
    if (bytes > largeBody) this.#claim.resize(Math.min(bytes, query.length + bytesOnceParsed(variablesText)));
  }
}
