import type { Claim, MemoryRoom } from '../../memory.ts';
import { Chunks } from './chunks.ts';
import { ConnectionError, Connector, ProxyFailure, type Route } from './connect.ts';
import type { HttpRequest } from './request-heads.ts';
import { NotHttp, type ResponseHeaders } from './response-parser.ts';
import { type Exchange, UpstreamConnection } from './upstream-connection.ts';

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

/** Settings of a transport. */
export interface TransportOptions {
  readonly origin: string;
  readonly route?: Route | undefined;
  readonly connections: number;
  readonly maxBodyBytes: number;
  readonly room: MemoryRoom;
}

/** The interval at which connections that were idle for too long are closed, in milliseconds. */
const sweepMs = 1000;

/**
 * Sends requests to one upstream over HTTP/1.1 connections that are kept open. Every REST call passes through this
 * client, which takes half the time of undici. Only the deadline of the operation limits the time of a call.
 *
 * A request takes the idle connection that was used last, or waits for the first one that is opened or becomes free.
 * For each request that waits, a connection is opened, up to the maximum number of connections.
 */
export class Transport {
  readonly #options: TransportOptions;
  #connector: Connector;
  readonly #idle: UpstreamConnection[] = [];
  readonly #waiting: Request[] = [];
  /**
   * Connections being opened, each with its request if the request needs a new one. Any other connection takes the
   * request that has waited longest once it is open.
   */
  readonly #opening = new Map<UpstreamConnection, Request | undefined>();
  readonly #open = new Set<UpstreamConnection>();
  #sweep: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#connector = new Connector(options.origin, options.route ?? {});
  }

  /** A request that needs a new connection gets one even beyond the maximum number of connections. */
  send(call: HttpRequest, listener: ResponseListener): SentRequest {
    const request = new Request(this.#options, this, this.#connector, call, listener);
    if (this.#isClosed) {
      request.onError(new ConnectionError('CONNECTION_CLOSED'), false);
      return request;
    }
    if (call.needsNewConnection === true) {
      this.#openFor(request);
      return request;
    }
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      if (idle.idleUntil > performance.now()) {
        idle.write(request);
        return request;
      }
      idle.close();
    }
    this.#waiting.push(request);
    this.#openMore();
    return request;
  }

  /**
   * Sends later calls by this route. Certificates belong to connections, so the route needs new ones. Calls in flight
   * end on the old ones.
   */
  reroute(route: Route): void {
    this.#connector = new Connector(this.#options.origin, route);
    for (const connection of [...this.#idle]) connection.close();
  }

  /** Closes all connections. Requests that are on them, or wait for one, fail. */
  close(): void {
    this.#isClosed = true;
    for (const request of this.#waiting.splice(0)) request.onError(new ConnectionError('CONNECTION_CLOSED'), false);
    for (const connection of [...this.#opening.keys(), ...this.#open]) connection.close();
  }

  withdraw(request: Request): void {
    for (const [connection, own] of this.#opening) if (own === request) connection.close();
    const at = this.#waiting.indexOf(request);
    if (at !== -1) this.#waiting.splice(at, 1);
  }

  opened(connection: UpstreamConnection): void {
    const own = this.#opening.get(connection);
    this.#opening.delete(connection);
    this.#open.add(connection);
    if (own === undefined) this.freed(connection);
    else connection.write(own);
  }

  freed(connection: UpstreamConnection): void {
    const next = this.#nextFor(connection);
    if (next !== undefined) return connection.write(next);
    if (connection.connector !== this.#connector) return connection.close();
    connection.idleUntil = performance.now() + connection.idleMs;
    this.#idle.push(connection);
    this.#sweep ??= setInterval(() => this.#closeOld(), sweepMs).unref();
  }

  closed(connection: UpstreamConnection, error: unknown): void {
    if (this.#opening.has(connection)) {
      const request = this.#opening.get(connection) ?? this.#nextFor(connection);
      request?.onError(error, false);
    }
    this.#opening.delete(connection);
    this.#open.delete(connection);
    const at = this.#idle.indexOf(connection);
    if (at !== -1) this.#idle.splice(at, 1);
    this.#openMore();
  }

  /**
   * Takes the request that has waited longest. A connection by an earlier route is only for requests that were sent
   * while this was the route.
   */
  #nextFor({ connector }: UpstreamConnection): Request | undefined {
    if (this.#waiting.length === 0 || connector === this.#connector) return this.#waiting.shift();
    const at = this.#waiting.findIndex((request) => request.connector === connector);
    return at === -1 ? undefined : this.#waiting.splice(at, 1)[0];
  }

  #closeOld(): void {
    const now = performance.now();
    for (const connection of this.#idle.filter(({ idleUntil }) => idleUntil <= now)) connection.close();
    if (this.#idle.length > 0) return;
    clearInterval(this.#sweep);
    this.#sweep = undefined;
  }

  #openMore(): void {
    const opening = [...this.#opening].filter(([{ connector }]) => connector === this.#connector);
    const shared = opening.filter(([, own]) => own === undefined).length;
    const free = this.#options.connections - this.#open.size - this.#opening.size;
    for (let left = Math.min(this.#waiting.length - shared, free); left > 0; left -= 1) this.#openFor(undefined);
  }

  #openFor(own: Request | undefined): void {
    this.#opening.set(new UpstreamConnection(this.#connector, this), own);
  }
}

/** Resolves to the response. Rejects with a TransportError, whose fault is `aborted` after `timeoutMs`. */
export function askOnce(
  transport: Pick<Transport, 'send'>,
  request: HttpRequest,
  timeoutMs: number,
): Promise<RawResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<RawResponse>();
  const sent = transport.send(request, { responded: resolve, failed: reject });
  const timer = setTimeout(() => sent.abort(), timeoutMs);
  return promise.finally(() => clearTimeout(timer));
}

const noHeaders: ResponseHeaders = {};
const emptyBody: Buffer = Buffer.alloc(0);

/** A request, which is also the response that its listener gets. */
class Request implements Exchange, SentRequest, RawResponse {
  connection: UpstreamConnection | undefined;
  status = 0;
  headers = noHeaders;
  body = emptyBody;
  readonly call: HttpRequest;
  /** The route by which it was sent. */
  readonly connector: Connector;
  readonly #options: TransportOptions;
  readonly #transport: Transport;
  readonly #listener: ResponseListener;
  readonly #chunks = new Chunks();
  readonly #claim: Claim;
  #isSettled = false;

  constructor(
    options: TransportOptions,
    transport: Transport,
    connector: Connector,
    call: HttpRequest,
    listener: ResponseListener,
  ) {
    this.#options = options;
    this.#transport = transport;
    this.connector = connector;
    this.call = call;
    this.#listener = listener;
    this.#claim = options.room.claim();
  }

  get isWaiting(): boolean {
    return this.connection === undefined;
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

  onHead(status: number, headers: ResponseHeaders, length: number | undefined): void {
    this.status = status;
    this.headers = headers;
    if (status === 407 && this.connection?.connector.isByProxy === true)
      this.onError(new ProxyFailure(undefined, status), false);
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
    if (this.connection === undefined) this.#transport.withdraw(this);
    else this.connection.close();
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
