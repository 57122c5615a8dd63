import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { CountRefused } from '../telemetry/refused-requests.ts';
import { closeAfterReading } from './lingering-close.ts';
import { type ReaderLimits, SlowReader } from './slow-reader.ts';

/** A client's connection. */
interface Connection {
  /** The answer to its latest request. */
  latest: ServerResponse | undefined;
  /** The first answer of those that have followed each other without a pause: what came before it has been sent. */
  oldest: ServerResponse | undefined;
  /** How many requests wait for the answers before theirs. */
  waiting: number;
  /** True once its last answer is written: what its client sends after that is not answered. */
  isClosing: boolean;
  readonly reader: SlowReader;
}

/** Clients that send the next request without waiting send fewer at a time. Each takes memory until it is its turn. */
const mostWaiting = 63;

/** Answers one request. */
type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * The open connections of a server. Of the requests of one connection one is worked on at a time: node's parser hands over
 * at once all that a client sends ahead, and other clients would wait until each of those is dealt with.
 */
export class Connections {
  // By connection, and not a set of what is in flight: a set that turns over quickly keeps what it held alive for long.
  readonly #open = new Map<Socket, Connection>();
  readonly #limits: ReaderLimits;
  readonly #answer: Answer;
  readonly #refused: CountRefused;
  #due: (() => void)[] = [];
  /** How many there have been. */
  accepted = 0;

  constructor(limits: ReaderLimits, answer: Answer, refused: CountRefused) {
    this.#limits = limits;
    this.#answer = answer;
    this.#refused = refused;
  }

  get size(): number {
    return this.#open.size;
  }

  add(socket: Socket): void {
    this.accepted += 1;
    const connection: Connection = {
      latest: undefined,
      oldest: undefined,
      waiting: 0,
      isClosing: false,
      reader: new SlowReader(this.#limits),
    };
    this.#open.set(socket, connection);
    closeAfterReading(socket, () => {
      connection.isClosing = true;
      return connection.latest?.req;
    });
    socket.on('close', () => this.#open.delete(socket));
  }

  /** Answers a request, after those before it on its connection. If too many wait there, the connection is closed. */
  take(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const connection = this.#open.get(socket);
    if (connection === undefined || connection.isClosing || socket.destroyed) return;
    const { latest } = connection;
    connection.latest = response;
    if (latest === undefined || latest.writableFinished) {
      connection.oldest = response;
      this.#answer(request, response);
    } else if (connection.waiting < mostWaiting) {
      connection.waiting += 1;
      // If the connection closes, the answers that wait close without an event.
      latest.once('close', () => this.#answerSoon(() => this.#answerNext(connection, request, response)));
    } else {
      this.#refused('pipelined');
      socket.destroy();
      stopParsing(socket);
    }
  }

  /** All whose turn it is are answered in one turn of the event loop, the next one. */
  #answerSoon(answer: () => void): void {
    if (this.#due.length === 0) setImmediate(this.#answerDue);
    this.#due.push(answer);
  }

  readonly #answerDue = (): void => {
    const due = this.#due;
    this.#due = [];
    for (const answer of due) answer();
  };

  #answerNext(connection: Connection, request: IncomingMessage, response: ServerResponse): void {
    connection.waiting -= 1;
    if (!connection.isClosing && !request.socket.destroyed) this.#answer(request, response);
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
    for (const [socket, { oldest, reader }] of this.#open) {
      if (!reader.isLate(socket, oldest, now)) continue;
      this.#refused('slowReader');
      socket.destroy();
    }
  }
}

/**
 * Ends the parsing of what has been read of a connection. Node goes on with it although the connection is closed, and makes
 * an error with a stack for each request in it: 64 KiB of them take 20 ms. It offers no other way to stop its parser than what
 * the callback for a request answers; llhttp takes a negative number for a failure.
 */
function stopParsing(socket: Socket): void {
  const parser: unknown = Reflect.get(socket, 'parser');
  if (typeof parser === 'object' && parser !== null) Reflect.set(parser, 'onIncoming', () => -1);
}

/** The client has to come back on a new connection, which another replica takes. */
export function closeAfter(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close');
}
