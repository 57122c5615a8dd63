import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import errors from 'undici/lib/core/errors.js';
import type { Claim, MemoryRoom } from '../../memory.ts';
import { Chunks } from './chunks.ts';
import { type Call, Pools, type Route } from './pools.ts';

/** One HTTP response, its body complete and still encoded. The body has room taken for it until `release` is called. */
export interface RawResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly release: () => void;
}

/** Called with the end of a request. One of the two is called, once, and only after `send` has returned. */
export interface ResponseListener {
  readonly responded: (response: RawResponse) => void;
  readonly failed: (error: TransportError) => void;
}

/** The faults between sending a request and having its whole response. */
export type Fault =
  // The upstream closed a kept-alive socket before a byte of the response.
  | 'stale-socket'
  // Refused, unknown host, reset, or closed in the middle.
  | 'network'
  // Larger than allowed, or not HTTP.
  | 'invalid'
  // The process has no room for the body.
  | 'no-room'
  // Given up by the gateway.
  | 'aborted';

/** The error of a request without a response. */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly fault: Fault;

  constructor(fault: Fault, cause?: unknown) {
    super(`transport failed: ${fault}`, { cause });
    this.fault = fault;
  }
}

/** A request in flight. */
export interface SentRequest {
  /** True until a connection takes it. */
  readonly isWaiting: boolean;
  /** Gives the request up. The request fails, unless it has ended. */
  readonly abort: () => void;
}

/** Sends requests to one upstream. */
export interface Transport {
  send(call: Call, listener: ResponseListener): SentRequest;
  /** Sends later calls by this route, on new connections. Calls in flight end on the old ones. */
  reroute(route: Route): void;
  close(): Promise<void>;
}

/** Settings of the connection pool. Sizes in bytes, times in milliseconds. */
export interface TransportOptions {
  readonly origin: string;
  readonly route?: Route | undefined;
  readonly connections: number;
  readonly maxBodyBytes: number;
  readonly room: MemoryRoom;
}

/** An upstream behind undici's pools of HTTP/1.1 keep-alive connections. */
export function createTransport(options: TransportOptions): Transport {
  let pools = new Pools(options, options.route ?? {});
  return {
    send: (call, listener) => {
      const reader = new ResponseReader(options, pools, listener, call.method !== 'GET');
      pools.dispatch(call, reader);
      return reader;
    },
    reroute: (next) => {
      const previous = pools;
      pools = new Pools(options, next);
      previous.retire();
    },
    close: () => pools.destroy(),
  };
}

const noHeaders: IncomingHttpHeaders = {};
const emptyBody: Buffer = Buffer.alloc(0);

/** Collects one response, and becomes that response once it is complete. undici calls its methods. */
class ResponseReader implements Dispatcher.DispatchHandler, SentRequest, RawResponse {
  status = 0;
  headers = noHeaders;
  body = emptyBody;
  readonly #options: TransportOptions;
  readonly #pools: Pools;
  readonly #listener: ResponseListener;
  /** True if the response is read even without room for it: it shows the effect of a write. */
  readonly #isWrite: boolean;
  readonly #chunks = new Chunks();
  readonly #claim: Claim;
  #controller: Dispatcher.DispatchController | undefined;
  #settled = false;

  constructor(options: TransportOptions, pools: Pools, listener: ResponseListener, isWrite: boolean) {
    this.#options = options;
    this.#pools = pools;
    this.#listener = listener;
    this.#isWrite = isWrite;
    this.#claim = options.room.claim();
  }

  get isWaiting(): boolean {
    return this.#controller === undefined;
  }

  abort(): void {
    this.#fail(new TransportError('aborted'));
  }

  release(): void {
    this.#claim.release();
    this.#chunks.clear();
    this.body = emptyBody;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#settled) controller.abort(new TransportError('aborted'));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    this.status = status;
    this.headers = once(headers);
    if (Number(headers['content-length']) > this.#options.maxBodyBytes)
      this.#fail(new TransportError('invalid', 'body too large'));
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#settled) return;
    const bytes = this.#chunks.bytes + chunk.length;
    if (bytes > this.#options.maxBodyBytes) this.#fail(new TransportError('invalid', 'body too large'));
    else if (this.#hasRoom(bytes)) this.#chunks.add(chunk);
    else this.#fail(new TransportError('no-room'));
  }

  onResponseEnd(): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#pools.ended();
    this.body = this.#chunks.join();
    this.#listener.responded(this);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#fail(new TransportError(faultOf(error, this.status !== 0), error));
  }

  #hasRoom(bytes: number): boolean {
    if (!this.#isWrite) return this.#claim.resize(bytes);
    this.#claim.insist(bytes);
    return true;
  }

  #fail(error: TransportError): void {
    if (this.#settled) return;
    this.#settled = true;
    this.release();
    this.#controller?.abort(error);
    this.#pools.ended();
    // In the next tick: the caller may not have the result of `send` yet.
    process.nextTick(tellFailure, this.#listener, error);
  }
}

function tellFailure(listener: ResponseListener, error: TransportError): void {
  listener.failed(error);
}

/** The response headers that are read. */
const readHeaders = ['content-type', 'content-encoding', 'retry-after'] as const;

/**
 * Makes one value of headers that were sent more than once, which undici gives as lists. The first value counts; content
 * codings add up.
 */
function once(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const { 'content-type': type, 'content-encoding': coding, 'retry-after': delay } = headers;
  if (![type, coding, delay].some((value) => Array.isArray(value))) return headers;
  const single: IncomingHttpHeaders = { ...headers };
  for (const name of readHeaders) {
    const values = [headers[name] ?? []].flat();
    single[name] = name === 'content-encoding' ? values.join(', ') : values[0];
  }
  return single;
}

/**
 * The end of the message of undici's parser for a connection that ended or was reset within its last body. The error
 * has no code.
 */
const cutShort = '(Invalid EOF state)';

function faultOf(error: Error, answering: boolean): Fault {
  if (error instanceof errors.HTTPParserError && error.message.endsWith(cutShort)) return 'network';
  if (error instanceof errors.HTTPParserError || error instanceof errors.HeadersOverflowError) return 'invalid';
  if (!answering && error instanceof errors.SocketError && (error.socket?.bytesRead ?? 0) > 0) return 'stale-socket';
  if (!answering && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE')) return 'stale-socket';
  return 'network';
}
