import type { Socket } from 'node:net';
import { ConnectionError } from './connect.ts';
import type { HttpRequest } from './request-heads.ts';
import { ResponseParser, type ResponseSink } from './response-parser.ts';

/** A request, and what becomes of it. */
export interface Exchange extends ResponseSink {
  /** The request line, the headers and the empty line after them, in Latin-1. */
  readonly head: string;
  readonly call: HttpRequest;
  onSent(connection: UpstreamConnection): void;
  onEnd(): void;
  /** `isStale` is true if the connection had served a request before, and ended without a byte of this response. */
  onError(error: unknown, isStale: boolean): void;
}

/** The pool of a connection. */
interface Pool {
  freed(connection: UpstreamConnection): void;
  /** Called once. */
  closed(connection: UpstreamConnection): void;
}

/** The longest that a connection may be idle if its server sets no limit, in milliseconds. */
const usualIdleMs = 4000;

/**
 * The time before the server's limit at which a connection is given up, in milliseconds. Servers count from the moment
 * at which they have sent a response.
 */
const idleMarginMs = 2000;

const longestIdleMs = 600_000;

/** An open HTTP/1.1 connection. It has one request at a time, so that no response can be taken for another's. */
export class UpstreamConnection {
  idleMs = usualIdleMs;
  readonly #socket: Socket;
  readonly #pool: Pool;
  readonly #parser = new ResponseParser();
  #exchange: Exchange | undefined;
  #wasUsed = false;
  #isClosed = false;
  #error: Error | undefined;

  constructor(socket: Socket, pool: Pool) {
    this.#socket = socket;
    this.#pool = pool;
    socket.on('error', (error: Error) => {
      this.#error = error;
    });
    socket.on('end', () => this.#ended());
    socket.on('close', () => this.close());
  }

  send(exchange: Exchange): void {
    const { head, call } = exchange;
    this.#exchange = exchange;
    this.#parser.expect(exchange);
    exchange.onSent(this);
    const socket = this.#socket;
    if (call.body === undefined) socket.write(head, 'latin1');
    else {
      socket.cork();
      socket.write(head, 'latin1');
      socket.write(call.body);
      socket.uncork();
    }
  }

  read(bytes: Buffer): void {
    if (this.#exchange === undefined) return this.close();
    try {
      const end = this.#parser.read(bytes);
      if (this.#parser.isDone) this.#finish(end === bytes.length);
    } catch (error) {
      this.close(error);
    }
  }

  /** Closes the connection. The request that is on it fails. */
  close(error: unknown = this.#error ?? new ConnectionError('CONNECTION_CLOSED')): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const exchange = this.#exchange;
    const isStale = this.#wasUsed && this.#parser.isUntouched;
    this.#exchange = undefined;
    this.#socket.destroy();
    this.#pool.closed(this);
    exchange?.onError(error, isStale);
  }

  #ended(): void {
    this.#parser.end();
    if (this.#exchange !== undefined && this.#parser.isDone) this.#finish(false);
    this.close();
  }

  /** Ends the exchange. `isClean` is true if nothing came behind the response. */
  #finish(isClean: boolean): void {
    const exchange = this.#exchange;
    if (exchange === undefined) return;
    this.#exchange = undefined;
    this.#wasUsed = true;
    // The response is passed on before the connection takes another request. The response may end its operation, and
    // the operation's requests that still wait are then withdrawn.
    exchange.onEnd();
    const { isPersistent, keepAliveSeconds } = this.#parser;
    if (keepAliveSeconds !== undefined) this.idleMs = Math.min(keepAliveSeconds * 1000 - idleMarginMs, longestIdleMs);
    // A server that answers before it has the whole request may close the connection, or read on.
    const isSent = this.#socket.writableLength === 0;
    if (isClean && isSent && isPersistent && exchange.call.needsNewConnection !== true && this.idleMs > 0)
      this.#pool.freed(this);
    else this.close();
  }
}
