import type { Socket } from 'node:net';
import { ConnectionError, type Connector, type Opening } from './connect.ts';
import type { HttpRequest } from './request-heads.ts';
import { NotHttp, ResponseParser, type ResponseSink } from './response-parser.ts';

/** A request, and what becomes of it. */
export interface Exchange extends ResponseSink {
  readonly call: HttpRequest;
  /** Set once a connection takes the request. */
  connection: UpstreamConnection | undefined;
  /** `isStale` is true if the connection had served a request before, and ended without a byte of this response. */
  onError(error: unknown, isStale: boolean): void;
}

/** The owner of connections. */
interface Pool {
  /** Called once, unless the connection cannot be opened. */
  opened(connection: UpstreamConnection): void;
  freed(connection: UpstreamConnection): void;
  /** Called once. If the connection was never open, `error` is the reason. */
  closed(connection: UpstreamConnection, error: unknown): void;
}

/** The longest that a connection may be idle if its server sets no limit, in milliseconds. */
const usualIdleMs = 4000;

/**
 * The time before the server's limit at which a connection is given up, in milliseconds. Servers count from the moment
 * at which they have sent a response.
 */
const idleMarginMs = 2000;

const longestIdleMs = 600_000;

/** An HTTP/1.1 connection. It has one request at a time, so that no response can be taken for another's. */
export class UpstreamConnection {
  readonly connector: Connector;
  /** The longest that it may be idle, in milliseconds. */
  idleMs = usualIdleMs;
  /** While it is idle, the time until which it may be used, on the clock of `performance.now()`. */
  idleUntil = 0;
  readonly #pool: Pool;
  readonly #opening: Opening;
  readonly #parser = new ResponseParser();
  /** Undefined until it is open. */
  #socket: Socket | undefined;
  #exchange: Exchange | undefined;
  #wasUsed = false;
  #isClosed = false;
  #error: Error | undefined;

  /** Begins to open it. */
  constructor(connector: Connector, pool: Pool) {
    this.connector = connector;
    this.#pool = pool;
    this.#opening = connector.open((bytes) => this.receive(bytes));
    this.#opening.socket.then(
      (socket) => this.#opened(socket),
      (error: unknown) => this.close(error),
    );
  }

  /** Sends a request on the open connection. A request whose head cannot be written fails. */
  write(exchange: Exchange): void {
    const { call } = exchange;
    let head: string;
    try {
      head = this.connector.heads.of(call);
    } catch (error) {
      exchange.onError(error, false);
      return this.#pool.freed(this);
    }
    this.#exchange = exchange;
    this.#parser.expect(exchange);
    exchange.connection = this;
    if (call.body !== undefined) this.#socket?.cork();
    this.#socket?.write(head, 'latin1');
    if (call.body === undefined) return;
    this.#socket?.write(call.body);
    this.#socket?.uncork();
  }

  receive(bytes: Buffer): void {
    const exchange = this.#exchange;
    if (exchange === undefined) return this.close(new NotHttp('it speaks before it is asked'));
    try {
      // The response is passed on before the connection takes another request. The response may end its operation, and
      // the operation's requests that still wait are then withdrawn.
      const end = this.#parser.feed(bytes);
      // The request may have closed the connection meanwhile, for example because there is no room for the body.
      if (this.#parser.isDone && !this.#isClosed) this.#release(exchange, end === bytes.length);
    } catch (error) {
      this.close(error);
    }
  }

  /** Closes the connection, or gives up opening it. The request that is on it fails. */
  close(error: unknown = this.#error ?? new ConnectionError('CONNECTION_CLOSED')): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const exchange = this.#exchange;
    const isStale = this.#wasUsed && this.#parser.isUntouched;
    this.#exchange = undefined;
    if (this.#socket === undefined) this.#opening.cancel();
    else this.#socket.destroy();
    this.#pool.closed(this, error);
    exchange?.onError(error, isStale);
  }

  #opened(socket: Socket): void {
    this.#socket = socket;
    if (this.#isClosed) return void socket.destroy();
    socket.on('error', (error: Error) => {
      this.#error = error;
    });
    socket.on('end', () => {
      this.#parser.end();
      this.close();
    });
    socket.on('close', () => this.close());
    this.#pool.opened(this);
  }

  /** Frees the connection for the next request. `isClean` is true if nothing came behind the response. */
  #release({ call }: Exchange, isClean: boolean): void {
    this.#exchange = undefined;
    this.#wasUsed = true;
    const { isPersistent, keepAliveSeconds } = this.#parser;
    if (keepAliveSeconds !== undefined) this.idleMs = Math.min(keepAliveSeconds * 1000 - idleMarginMs, longestIdleMs);
    // A server that answers before it has the whole request may close the connection, or read on.
    const isSent = this.#socket?.writableLength === 0;
    const isFree = isClean && isSent && isPersistent && call.needsNewConnection !== true && this.idleMs > 0;
    if (isFree) this.#pool.freed(this);
    else this.close();
  }
}
