import type { Socket } from 'node:net';
import { ConnectionError, type Connector, type Opening } from './connect.ts';
import { RequestHeads } from './request-heads.ts';
import { NotHttp } from './response-parser.ts';
import { type Exchange, UpstreamConnection } from './upstream-connection.ts';

/** The interval at which connections that were idle for too long are closed, in milliseconds. */
const sweepMs = 1000;

interface Idle {
  readonly connection: UpstreamConnection;
  /** The time until which it may be used, in milliseconds of `performance.now()`. */
  readonly until: number;
}

/**
 * The connections of one route. Certificates belong to connections, so a new route needs new ones. A request takes the
 * idle connection that was used last, or waits for the first one that is opened or becomes free. For each request that
 * waits, a connection is opened, until there are as many as there may be.
 */
export class ConnectionPool {
  /** The heads of requests by this route. */
  readonly heads: RequestHeads;
  readonly #connector: Connector;
  readonly #most: number;
  readonly #idle: Idle[] = [];
  readonly #waiting: Exchange[] = [];
  /** Connections being opened. Once open, each takes the request that has waited longest. */
  readonly #opening = new Set<Opening>();
  /** Connections being opened for requests that need a new one, by request. */
  readonly #openingFor = new Map<Exchange, Opening>();
  readonly #open = new Set<UpstreamConnection>();
  #sweep: NodeJS.Timeout | undefined;
  #isRetired = false;

  constructor(connector: Connector, most: number) {
    this.heads = new RequestHeads(connector);
    this.#connector = connector;
    this.#most = most;
  }

  /** True if a proxy on the way reads the requests, and may answer them itself. */
  get isByProxy(): boolean {
    return this.#connector.prefix !== '';
  }

  /** A request that needs a new connection gets one even if the pool is full. */
  send(exchange: Exchange): void {
    if (exchange.call.needsNewConnection === true) return this.#connect(exchange);
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      if (idle.until > performance.now()) return idle.connection.send(exchange);
      idle.connection.close();
    }
    this.#waiting.push(exchange);
    this.#openMore();
  }

  withdraw(exchange: Exchange): void {
    this.#openingFor.get(exchange)?.cancel();
    const at = this.#waiting.indexOf(exchange);
    if (at !== -1) this.#waiting.splice(at, 1);
  }

  /** Closes each connection once its request has ended. Requests that already wait are still sent. */
  retire(): void {
    this.#isRetired = true;
    for (const { connection } of [...this.#idle]) connection.close();
  }

  /** Closes all connections. Requests that are on them, or wait for one, fail. */
  destroy(): void {
    this.retire();
    for (const exchange of this.#waiting.splice(0)) exchange.onError(new ConnectionError('CONNECTION_CLOSED'), false);
    for (const opening of [...this.#opening, ...this.#openingFor.values()]) opening.cancel();
    for (const connection of this.#open) connection.close();
  }

  freed(connection: UpstreamConnection): void {
    const next = this.#waiting.shift();
    if (next !== undefined) return connection.send(next);
    if (this.#isRetired) return connection.close();
    this.#idle.push({ connection, until: performance.now() + connection.idleMs });
    this.#sweep ??= setInterval(() => this.#closeOld(), sweepMs).unref();
  }

  closed(connection: UpstreamConnection): void {
    this.#open.delete(connection);
    const at = this.#idle.findIndex((idle) => idle.connection === connection);
    if (at !== -1) this.#idle.splice(at, 1);
    this.#openMore();
  }

  #closeOld(): void {
    const now = performance.now();
    for (const { connection } of this.#idle.filter(({ until }) => until <= now)) connection.close();
    if (this.#idle.length > 0) return;
    clearInterval(this.#sweep);
    this.#sweep = undefined;
  }

  #openMore(): void {
    const isShort = (): boolean => this.#waiting.length > this.#opening.size;
    const count = (): number => this.#open.size + this.#opening.size + this.#openingFor.size;
    while (isShort() && count() < this.#most) this.#connect(undefined);
  }

  /** Opens a connection for the request `own`. If that is undefined, the request that has waited longest gets it. */
  #connect(own: Exchange | undefined): void {
    let connection: UpstreamConnection | undefined;
    let isEarly = false;
    const opening = this.#connector.open((bytes) => {
      if (connection === undefined) isEarly = true;
      else connection.read(bytes);
    });
    if (own === undefined) this.#opening.add(opening);
    else this.#openingFor.set(own, opening);
    const ended = (): void => {
      if (own === undefined) this.#opening.delete(opening);
      else this.#openingFor.delete(own);
    };
    const opened = (socket: Socket): void => {
      if (isEarly) {
        socket.destroy();
        throw new NotHttp('it speaks before it is asked');
      }
      ended();
      connection = new UpstreamConnection(socket, this);
      this.#open.add(connection);
      if (own === undefined) this.freed(connection);
      else connection.send(own);
    };
    const failed = (error: unknown): void => {
      ended();
      (own ?? this.#waiting.shift())?.onError(error, false);
      this.#openMore();
    };
    opening.socket.then(opened).catch(failed);
  }
}
