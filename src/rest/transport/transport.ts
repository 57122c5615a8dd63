import type { IncomingHttpHeaders } from 'node:http';
import { type Dispatcher, errors } from 'undici';
import type { BodyRoom } from './body-room.ts';
import { Chunks } from './chunks.ts';
import { type Call, Pools, type Route } from './pools.ts';

/** One HTTP response, its body complete and still encoded. The body has room taken for it until `release` is called. */
export interface RawResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly release: () => void;
}

/** Called with how a request ended: one of the two, once, and not before `send` has returned. */
export interface ResponseListener {
  readonly responded: (response: RawResponse) => void;
  readonly failed: (error: TransportError) => void;
}

/** What can go wrong between sending a request and having its whole response. */
export type Fault =
  // A kept-alive socket that the upstream closed before a byte of the response: nothing was answered.
  | 'stale-socket'
  // Refused, unknown host, reset, closed in the middle.
  | 'network'
  // Larger than allowed, or not HTTP.
  | 'invalid'
  // The process has no room for the body.
  | 'no-room'
  // Given up by the gateway.
  | 'aborted';

/** A request that has no response. */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly fault: Fault;

  constructor(fault: Fault, cause?: unknown) {
    super(`transport failed: ${fault}`, { cause });
    this.fault = fault;
  }
}

/** A request under way. */
export interface SentRequest {
  /** Gives it up: it fails, unless it has ended. */
  readonly abort: () => void;
}

/** Sends requests to one upstream. */
export interface Transport {
  send(call: Call, listener: ResponseListener): SentRequest;
  /** From now on calls take this route, on connections of its own. Those in flight end as they began. */
  reroute(route: Route): void;
  close(): Promise<void>;
}

/** Settings of the connection pool. Sizes in bytes, times in milliseconds. */
export interface TransportOptions {
  readonly origin: string;
  readonly route?: Route | undefined;
  readonly connections: number;
  readonly maxBodyBytes: number;
  readonly room: BodyRoom;
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

/** Collects one response, and stands for it once it is complete; undici calls its methods. */
class ResponseReader implements Dispatcher.DispatchHandler, SentRequest, RawResponse {
  status = 0;
  headers = noHeaders;
  body = emptyBody;
  readonly #options: TransportOptions;
  readonly #pools: Pools;
  readonly #listener: ResponseListener;
  /** What a write has done is told whatever room there is. */
  readonly #isWrite: boolean;
  readonly #chunks = new Chunks();
  #controller: Dispatcher.DispatchController | undefined;
  #settled = false;

  constructor(options: TransportOptions, pools: Pools, listener: ResponseListener, isWrite: boolean) {
    this.#options = options;
    this.#pools = pools;
    this.#listener = listener;
    this.#isWrite = isWrite;
  }

  abort(): void {
    this.#fail(new TransportError('aborted'));
  }

  release(): void {
    this.#options.room.release(this.#chunks.bytes);
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
    else if (this.#hasRoom(chunk.length, bytes)) this.#chunks.add(chunk);
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

  #hasRoom(more: number, bytes: number): boolean {
    if (!this.#isWrite) return this.#options.room.reserve(more, bytes);
    this.#options.room.reserveWritten(more);
    return true;
  }

  #fail(error: TransportError): void {
    if (this.#settled) return;
    this.#settled = true;
    this.release();
    this.#controller?.abort(error);
    this.#pools.ended();
    // Next tick: the caller may not have what `send` returns yet.
    process.nextTick(tellFailure, this.#listener, error);
  }
}

function tellFailure(listener: ResponseListener, error: TransportError): void {
  listener.failed(error);
}

/** The headers that are read of a response. */
const readHeaders = ['content-type', 'content-encoding', 'retry-after'] as const;

/** Of a header that was sent twice, which undici gives as a list, the first counts; codings add up. */
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

/** How undici's parser says, in a message only, that a connection ended or was reset within the body of its last answer. */
const cutShort = '(Invalid EOF state)';

function faultOf(error: Error, answering: boolean): Fault {
  if (error instanceof errors.HTTPParserError && error.message.endsWith(cutShort)) return 'network';
  if (error instanceof errors.HTTPParserError || error instanceof errors.HeadersOverflowError) return 'invalid';
  if (!answering && error instanceof errors.SocketError && (error.socket?.bytesRead ?? 0) > 0) return 'stale-socket';
  if (!answering && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE')) return 'stale-socket';
  return 'network';
}
