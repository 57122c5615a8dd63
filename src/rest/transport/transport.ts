import type { IncomingHttpHeaders } from 'node:http';
import { type Dispatcher, errors } from 'undici';
import type { BodyRoom } from './body-room.ts';
import { Chunks } from './chunks.ts';
import { Pools, type Route } from './pools.ts';

/** One HTTP request to the upstream: `target` is path and query, byte for byte. */
export interface Call {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly target: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
  /** On a connection that nothing was sent on before. */
  readonly fresh?: boolean;
}

/** One HTTP response, its body complete and still encoded. The body has room taken for it until `release` is called. */
export interface RawResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly release: () => void;
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
  // Given up by us.
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

/** Gives up one request. */
export type Abort = () => void;

/** Sends requests to one upstream. */
export interface Transport {
  /** Calls back exactly once, never before it returned. */
  send(call: Call, done: (error: TransportError | undefined, answer: RawResponse | undefined) => void): Abort;
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
export function createTransport({ route = {}, maxBodyBytes, room, ...options }: TransportOptions): Transport {
  let pools = new Pools(options, route);
  return {
    send: (call, done) => {
      const { target: path, method, headers, body = null, fresh = false } = call;
      const reader = new ResponseReader(done, { maxBodyBytes, room, isWrite: method !== 'GET' }, pools);
      pools.dispatch({ path, method, headers, body }, fresh, reader);
      return () => reader.abort();
    },
    reroute: (next) => {
      const previous = pools;
      pools = new Pools(options, next);
      previous.retire();
    },
    close: () => pools.destroy(),
  };
}

/** Collects one response; undici calls its methods. */
class ResponseReader implements Dispatcher.DispatchHandler {
  readonly #done: (error: TransportError | undefined, answer: RawResponse | undefined) => void;
  readonly #maxBytes: number;
  readonly #room: BodyRoom;
  /** What a write has done is told whatever room there is. */
  readonly #isWrite: boolean;
  readonly #pools: Pools;
  readonly #chunks = new Chunks();
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #controller: Dispatcher.DispatchController | undefined;
  #settled = false;

  constructor(
    done: (error: TransportError | undefined, answer: RawResponse | undefined) => void,
    { maxBodyBytes, room, isWrite }: Pick<TransportOptions, 'maxBodyBytes' | 'room'> & { readonly isWrite: boolean },
    pools: Pools,
  ) {
    this.#done = done;
    this.#maxBytes = maxBodyBytes;
    this.#room = room;
    this.#isWrite = isWrite;
    this.#pools = pools;
  }

  abort(): void {
    this.#fail(new TransportError('aborted'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#settled) controller.abort(new TransportError('aborted'));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    this.#status = status;
    this.#headers = once(headers);
    if (Number(headers['content-length']) > this.#maxBytes) this.#fail(new TransportError('invalid', 'body too large'));
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#settled) return;
    const bytes = this.#chunks.bytes + chunk.length;
    if (bytes > this.#maxBytes) this.#fail(new TransportError('invalid', 'body too large'));
    else if (this.#hasRoom(chunk.length, bytes)) this.#chunks.add(chunk);
    else this.#fail(new TransportError('no-room'));
  }

  onResponseEnd(): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#pools.ended();
    const release = (): void => this.#release();
    this.#done(undefined, { status: this.#status, headers: this.#headers, body: this.#chunks.join(), release });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#fail(new TransportError(faultOf(error, this.#status !== 0), error));
  }

  #hasRoom(more: number, bytes: number): boolean {
    if (!this.#isWrite) return this.#room.take(more, bytes);
    this.#room.takeWritten(more);
    return true;
  }

  #release(): void {
    this.#room.release(this.#chunks.bytes);
    this.#chunks.clear();
  }

  #fail(error: TransportError): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#release();
    this.#controller?.abort(error);
    this.#pools.ended();
    // Next tick: the caller may not have what this call returns yet.
    process.nextTick(this.#done, error, undefined);
  }
}

/** The headers that are read of a response. */
const readHeaders = ['content-type', 'content-encoding', 'retry-after'] as const;

/** Of a header that was sent twice, which undici tells as a list, the first counts; codings add up. */
function once(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  if (!readHeaders.some((name) => Array.isArray(headers[name]))) return headers;
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
