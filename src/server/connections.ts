import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type ReaderLimits, SlowReader } from './slow-reader.ts';

/** A client's connection. */
interface Connection {
  /** The answer to its latest request. */
  latest: ServerResponse | undefined;
  /** The first answer of those that have followed each other without a pause: what came before it has been sent. */
  oldest: ServerResponse | undefined;
  /** How many requests have come in a row while the one before them was not answered. */
  pipelined: number;
  readonly reader: SlowReader;
}

/** Clients that send the next request without waiting send fewer at a time. Each takes memory until it is its turn. */
const mostPipelined = 64;

/** The open connections of a server. */
export class Connections {
  // By connection, and not a set of what is in flight: a set that turns over quickly keeps what it held alive for long.
  readonly #open = new Map<Socket, Connection>();
  readonly #limits: ReaderLimits;
  /** How many there have been. */
  accepted = 0;

  constructor(limits: ReaderLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#open.size;
  }

  add(socket: Socket): void {
    this.accepted += 1;
    this.#open.set(socket, {
      latest: undefined,
      oldest: undefined,
      pipelined: 0,
      reader: new SlowReader(this.#limits),
    });
    socket.on('close', () => this.#open.delete(socket));
  }

  /** Notes a request. False: too many wait for their answers on its connection, which is closed. */
  take({ socket }: IncomingMessage, response: ServerResponse): boolean {
    const connection = this.#open.get(socket);
    if (connection === undefined) return false;
    const isAhead = connection.latest !== undefined && !connection.latest.writableFinished;
    connection.latest = response;
    if (!isAhead) connection.oldest = response;
    connection.pipelined = isAhead ? connection.pipelined + 1 : 0;
    if (connection.pipelined < mostPipelined) return true;
    socket.destroy();
    return false;
  }

  /** The answer to the latest request of a connection. */
  latestOf(socket: Socket): ServerResponse | undefined {
    return this.#open.get(socket)?.latest;
  }

  /** Has each connection closed by its next answer. */
  closeAfterAnswers(): void {
    for (const { latest } of this.#open.values()) if (latest !== undefined) closeAfter(latest);
  }

  /** Closes the connections whose clients take their answers too slowly. */
  closeSlowReaders(now: number): void {
    for (const [socket, { oldest, reader }] of this.#open) if (reader.isLate(socket, oldest, now)) socket.destroy();
  }
}

/** The client has to come back on a new connection, which another replica takes. */
export function closeAfter(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close');
}
