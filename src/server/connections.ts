import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { CountRefused } from '../telemetry/refused-requests.ts';
import { closeAfterReading } from './lingering-close.ts';
import { type ReaderLimits, SlowReader } from './slow-reader.ts';

interface Connection {
  /** The answer to its latest request. */
  latest: ServerResponse | undefined;
  /** The first of the answers that followed each other without a pause. Everything before it has been sent. */
  oldest: ServerResponse | undefined;
  /** The number of requests that wait for earlier answers. */
  waiting: number;
  /** True once its last answer is written: later requests of its client are not answered. */
  isClosing: boolean;
  readonly reader: SlowReader;
}

/**
 * The most requests of one connection that may wait for earlier answers. Clients that pipeline requests send fewer at a
 * time, and each waiting request takes memory.
 */
const mostWaiting = 63;

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * The open connections of a server. Each connection has one request in work at a time: node's parser emits all pipelined
 * requests at once, and other clients would have to wait for all of them.
 */
export class Connections {
  // A map by connection instead of a set of the requests in flight: a set that turns over quickly keeps its former members
  // alive for long.
  readonly #open = new Map<Socket, Connection>();
  readonly #limits: ReaderLimits;
  readonly #answer: Answer;
  readonly #refused: CountRefused;
  #due: (() => void)[] = [];
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

  /** Answers a request after the earlier ones of its connection. If too many wait there, closes the connection. */
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
      // If the connection closes, waiting answers close without an event.
      latest.once('close', () => this.#answerSoon(() => this.#answerNext(connection, request, response)));
    } else {
      this.#refused('pipelined');
      socket.destroy();
      stopParsing(socket);
    }
  }

  /** Schedules an answer. All answers that become due in one turn of the event loop are made in the next one. */
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

  latestOf(socket: Socket): ServerResponse | undefined {
    return this.#open.get(socket)?.latest;
  }

  /** Makes each connection close after its next answer. */
  closeAfterAnswers(): void {
    for (const { latest } of this.#open.values()) if (latest !== undefined) closeAfter(latest);
  }

  /**
   * Closes the oldest connection that has sent no complete request; if there is none, the oldest one without a request in
   * work. False if all have one.
   */
  closeOneIdle(): boolean {
    const silent = this.#firstWith((latest) => latest === undefined);
    const socket = silent ?? this.#firstWith((latest) => latest?.writableFinished === true);
    if (socket === undefined) return false;
    this.#open.delete(socket);
    socket.destroy();
    return true;
  }

  #firstWith(matches: (latest: ServerResponse | undefined) => boolean): Socket | undefined {
    for (const [socket, { latest }] of this.#open) if (matches(latest)) return socket;
    return undefined;
  }

  /** Closes the connections whose clients read their answers too slowly. */
  closeSlowReaders(now: number): void {
    for (const [socket, { oldest, reader }] of this.#open) {
      if (!reader.isLate(socket, oldest, now)) continue;
      this.#refused('slowReader');
      socket.destroy();
    }
  }
}

/**
 * Stops the parser of a connection. After the connection is closed, node still parses the input that it has read, and
 * makes an error with a stack for each request in it: 64 KiB take 20 ms. The return value of the callback for a request
 * is the only way to stop the parser; llhttp takes a negative number for a failure.
 */
function stopParsing(socket: Socket): void {
  const parser: unknown = Reflect.get(socket, 'parser');
  if (typeof parser === 'object' && parser !== null) Reflect.set(parser, 'onIncoming', () => -1);
}

/** Closes the connection after an answer. The client then reconnects, and another replica takes the new connection. */
export function closeAfter(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close');
}
