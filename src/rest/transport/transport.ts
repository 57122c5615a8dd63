import type { Claim, MemoryRoom } from '../../memory.ts';
import { Chunks } from './chunks.ts';
import { ConnectionError, Connector, ProxyFailure, type Route } from './connect.ts';
import { ConnectionPool } from './connection-pool.ts';
import type { HttpRequest } from './request-heads.ts';
import { NotHttp, type ResponseHeaders } from './response-parser.ts';
import type { Exchange, UpstreamConnection } from './upstream-connection.ts';

/** A complete response. The body is still encoded, and takes up memory until `release` is called. */
export interface RawResponse {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly body: Buffer;
  readonly release: () => void;
}

/** One of the two functions is called, once, after `send` has returned. */
export interface ResponseListener {
  readonly responded: (response: RawResponse) => void;
  readonly failed: (error: TransportError) => void;
}

/** The faults between sending a request and having its whole response. */
export type Fault =
  // The upstream closed a used connection before it sent a byte of the response.
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
  /** Makes the request fail, unless it has ended. */
  readonly abort: () => void;
}

/** Sends requests to one upstream. */
export interface Transport {
  send(call: HttpRequest, listener: ResponseListener): SentRequest;
  /** Sends later calls by this route, on new connections. Calls in flight end on the old ones. */
  reroute(route: Route): void;
  close(): void;
}

/** Settings of a transport. */
export interface TransportOptions {
  readonly origin: string;
  readonly route?: Route | undefined;
  readonly connections: number;
  readonly maxBodyBytes: number;
  readonly room: MemoryRoom;
}

/**
 * Makes a transport over HTTP/1.1 connections that are kept open. Every REST call passes through this client, which
 * takes half the time of undici. Only the deadline of the operation limits the time of a call.
 */
export function createTransport(options: TransportOptions): Transport {
  const poolBy = (route: Route): ConnectionPool =>
    new ConnectionPool(new Connector(options.origin, route), options.connections);
  let pool = poolBy(options.route ?? {});
  let isClosed = false;
  return {
    send: (call, listener) => {
      const request = new Request(options, pool, call, listener);
      try {
        if (isClosed) throw new ConnectionError('CONNECTION_CLOSED');
        request.head = pool.heads.of(call);
      } catch (error) {
        request.onError(error, false);
        return request;
      }
      pool.send(request);
      return request;
    },
    reroute: (route) => {
      pool.retire();
      pool = poolBy(route);
    },
    close: () => {
      isClosed = true;
      pool.destroy();
    },
  };
}

/** Resolves to the response. Rejects with a TransportError, whose fault is `aborted` after `timeoutMs`. */
export function askOnce(transport: Transport, request: HttpRequest, timeoutMs: number): Promise<RawResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<RawResponse>();
  const sent = transport.send(request, { responded: resolve, failed: reject });
  const timer = setTimeout(() => sent.abort(), timeoutMs);
  return promise.finally(() => clearTimeout(timer));
}

const noHeaders: ResponseHeaders = {};
const emptyBody: Buffer = Buffer.alloc(0);

/** A request, which is also the response that its listener gets. */
class Request implements Exchange, SentRequest, RawResponse {
  head = '';
  status = 0;
  headers = noHeaders;
  body = emptyBody;
  readonly call: HttpRequest;
  readonly #options: TransportOptions;
  readonly #pool: ConnectionPool;
  readonly #listener: ResponseListener;
  readonly #chunks = new Chunks();
  readonly #claim: Claim;
  #connection: UpstreamConnection | undefined;
  #isSettled = false;

  constructor(options: TransportOptions, pool: ConnectionPool, call: HttpRequest, listener: ResponseListener) {
    this.#options = options;
    this.#pool = pool;
    this.call = call;
    this.#listener = listener;
    this.#claim = options.room.claim();
  }

  get isWaiting(): boolean {
    return this.#connection === undefined;
  }

  abort(): void {
    this.#fail(new TransportError('aborted'));
  }

  release(): void {
    this.#claim.release();
    this.body = emptyBody;
    // A thread may still be decoding an encoded body.
    if (this.headers['content-encoding'] === undefined) this.#chunks.free();
    else this.#chunks.clear();
  }

  onSent(connection: UpstreamConnection): void {
    this.#connection = connection;
  }

  onHead(status: number, headers: ResponseHeaders, length: number | undefined): void {
    this.status = status;
    this.headers = headers;
    if (status === 407 && this.#pool.isByProxy) this.onError(new ProxyFailure(undefined, status), false);
    else if (length !== undefined && length > this.#options.maxBodyBytes) this.#fail(tooLarge());
    else this.#chunks.expected = length;
  }

  onData(bytes: Buffer): void {
    if (this.#isSettled) return;
    const total = this.#chunks.bytes + bytes.length;
    if (total > this.#options.maxBodyBytes) this.#fail(tooLarge());
    else if (this.#hasRoom(total)) this.#chunks.addCopy(bytes);
    else this.#fail(new TransportError('no-room'));
  }

  onEnd(): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.body = this.#chunks.join();
    this.#listener.responded(this);
  }

  onError(error: unknown, isStale: boolean): void {
    const fault = error instanceof NotHttp ? 'invalid' : isStale ? 'stale-socket' : 'network';
    this.#fail(new TransportError(fault, error));
  }

  #hasRoom(bytes: number): boolean {
    if (!this.call.isWrite) return this.#claim.resize(bytes);
    this.#claim.insist(bytes);
    return true;
  }

  #fail(error: TransportError): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.release();
    if (this.#connection === undefined) this.#pool.withdraw(this);
    else this.#connection.close();
    // In the next tick, because `send` may not have returned yet.
    process.nextTick(tellFailure, this.#listener, error);
  }
}

function tooLarge(): TransportError {
  return new TransportError('invalid', 'body too large');
}

function tellFailure(listener: ResponseListener, error: TransportError): void {
  listener.failed(error);
}
