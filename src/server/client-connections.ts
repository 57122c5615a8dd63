import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { createSlowReader, type ReaderLimits, type SlowReader, usualReaders } from '../http/slow-readers.ts';
import { type Claim, MemoryRoom } from '../memory.ts';
import type { CountRefused } from '../telemetry/refused-requests.ts';

/** The number of checks for slow readers within the grace period. */
const checksInGrace = 10;

/**
 * The maximum number of requests of one connection that may wait for earlier answers. Clients that pipeline requests
 * send fewer at a time, and each waiting request takes memory.
 */
const mostWaiting = 63;

/**
 * The most memory of all requests that wait for earlier answers of their connections, in bytes. The first request that
 * waits on each connection is not counted, so that no client is cut off for what others send.
 */
const mostWaitingBytes = 32 * 2 ** 20;

/** The estimated memory of a request and its answer without its URL, headers and body, in bytes. */
const requestBytes = 6144;

/** The estimated memory of the name or the value of a header in addition to its characters, in bytes. */
const headerTextBytes = 32;

/** Collaborators and limits of the connections of a server. */
export interface ClientConnectionsOptions {
  /** The maximum number of connections at a time. */
  readonly most: number;
  readonly readers?: ReaderLimits | undefined;
  readonly answer: (request: IncomingMessage, response: ServerResponse) => void;
  readonly countRefused: CountRefused;
}

interface ClientConnection {
  /** The answer to its latest request. */
  latest: ServerResponse | undefined;
  /** The first answer that may still be on its way. When its request came, all earlier answers had been sent. */
  oldestUnread: ServerResponse | undefined;
  /** The number of requests that wait for earlier answers. */
  waiting: number;
  /** The claim for the memory of the requests that wait. */
  readonly claim: Claim;
  /** True once its last answer is written: later requests of its client are not answered. */
  isClosing: boolean;
  /** True once its input was malformed, too large or too slow. Node reports further input as an error again. */
  isMalformed: boolean;
  readonly reader: SlowReader;
}

/**
 * The open connections of a server. Each connection has one request in work at a time. Node's parser emits all
 * pipelined requests at once; without this rule, other clients would have to wait for all of them.
 */
export class ClientConnections {
  // A map by connection instead of a set of the requests in flight: a set whose members change quickly keeps former
  // members in memory for long.
  readonly #open = new Map<Socket, ClientConnection>();
  readonly #options: ClientConnectionsOptions;
  readonly #readers: ReaderLimits;
  readonly #waitingRoom = new MemoryRoom(mostWaitingBytes);
  #due: (() => void)[] = [];
  #answer: ClientConnectionsOptions['answer'];
  /** The requests that wait until `resume`. */
  readonly #paused: (() => void)[] = [];
  accepted = 0;

  constructor(options: ClientConnectionsOptions) {
    this.#options = options;
    this.#answer = options.answer;
    this.#readers = options.readers ?? usualReaders;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Takes the connections and requests of a server. */
  attach(server: Server): void {
    server.on('connection', (socket) => this.#add(socket));
    server.on('request', (request, response) => this.#answerInTurn(request, response));
    server.on('clientError', (error: ClientError, socket: Socket) => this.#refuseMalformed(error, socket));
    const check = (): void => this.closeSlowReaders(performance.now());
    const timer = setInterval(check, this.#readers.graceMs / checksInGrace).unref();
    server.on('close', () => clearInterval(timer));
  }

  /**
   * Adds a connection. If there are already as many as allowed, an idle one is closed to make room. If none is idle,
   * the new one is closed. Anyone can connect, and clients that send no requests must not keep others away.
   */
  #add(socket: Socket): void {
    this.accepted += 1;
    if (this.#open.size >= this.#options.most) {
      this.#options.countRefused('connections');
      if (!this.#closeOneIdle()) return void socket.destroy();
    }
    const connection: ClientConnection = {
      latest: undefined,
      oldestUnread: undefined,
      waiting: 0,
      claim: this.#waitingRoom.claim(),
      isClosing: false,
      isMalformed: false,
      reader: createSlowReader(socket, this.#readers),
    };
    this.#open.set(socket, connection);
    closeAfterReading(socket, () => {
      connection.isClosing = true;
      return connection.latest?.req;
    });
    socket.on('close', () => {
      this.#open.delete(socket);
      connection.claim.release();
    });
  }

  /**
   * Closes the oldest connection on which no head of a request has arrived; if there is none, the oldest one without a
   * request in work. False if all have a request in work.
   */
  #closeOneIdle(): boolean {
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

  /**
   * Answers a request after the earlier ones of its connection. Closes the connection if too many of its requests wait,
   * or if there is no room for one more.
   */
  #answerInTurn(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const connection = this.#open.get(socket);
    if (connection === undefined || connection.isClosing || socket.destroyed) return;
    const { latest } = connection;
    connection.latest = response;
    if (latest === undefined || latest.writableFinished) {
      connection.oldestUnread = response;
      return this.#answer(request, response);
    }
    const { claim, waiting } = connection;
    const claimed = waiting === 0 ? 0 : bytesOf(request);
    if (waiting < mostWaiting && claim.resize(claim.bytes + claimed)) {
      connection.waiting += 1;
      // When the connection closes, Node emits `close` only for the answer in work. The requests that wait are then
      // never answered.
      latest.once('close', () => this.#answerSoon(() => this.#answerNext(connection, request, response, claimed)));
    } else {
      this.#options.countRefused(waiting < mostWaiting ? 'noRoomToWait' : 'pipelined');
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

  /** Answers a request that has waited, and releases the bytes that were claimed for it. */
  #answerNext(connection: ClientConnection, request: IncomingMessage, response: ServerResponse, claimed: number): void {
    connection.waiting -= 1;
    connection.claim.insist(connection.claim.bytes - claimed);
    if (!connection.isClosing && !request.socket.destroyed) this.#answer(request, response);
  }

  /** Lets all requests wait from now on. */
  pause(): void {
    this.#answer = (request, response) => void this.#paused.push(() => this.#options.answer(request, response));
  }

  /** Answers the requests that wait, and later ones as they come. */
  resume(): void {
    this.#answer = this.#options.answer;
    for (const answer of this.#paused.splice(0)) answer();
  }

  /**
   * Sends a bare answer to input that is malformed, too large or too slow, and closes the connection. The answer to an
   * earlier complete request is sent first. Otherwise the client would think that the bare answer is for the earlier
   * request, and believe that a change was refused although it was made.
   */
  #refuseMalformed(error: ClientError, socket: Socket): void {
    const connection = this.#open.get(socket);
    if (connection === undefined || connection.isMalformed) return;
    connection.isMalformed = true;
    // Node reports clients that have left, and connections that were closed here, in the same way.
    const isGone = socket.destroyed || error.code === 'ECONNRESET' || error.code === 'EPIPE';
    if (!isGone) this.#options.countRefused(reasonOf(error));
    const { latest } = connection;
    if (latest === undefined || latest.writableFinished) answerMalformed(error, socket);
    else if (latest.req.complete) latest.once('finish', () => answerMalformed(error, socket));
    else if (latest.headersSent) socket.destroy();
    else answerMalformed(error, socket);
  }

  /** Makes each connection close after the answer to its latest request, unless the answer has begun already. */
  closeAfterAnswers(): void {
    for (const { latest } of this.#open.values()) if (latest !== undefined) closeAfter(latest);
  }

  closeSlowReaders(now: number): void {
    for (const [socket, { oldestUnread, reader }] of this.#open) {
      if (!reader.isLate(socket, oldestUnread, now)) continue;
      this.#options.countRefused('slowReader');
      socket.destroy();
    }
  }
}

/** The estimated memory of a request that waits, and of its answer. */
function bytesOf(request: IncomingMessage): number {
  const { url = '', rawHeaders } = request;
  let bytes = requestBytes + url.length + bodyBytesOf(request);
  for (const { length } of rawHeaders) bytes += length + headerTextBytes;
  return bytes;
}

/** The most bytes of a body that Node keeps as long as the request waits. The length of a chunked body is not known. */
function bodyBytesOf({ headers, readableHighWaterMark }: IncomingMessage): number {
  const length = 'transfer-encoding' in headers ? Number.POSITIVE_INFINITY : Number(headers['content-length'] ?? 0);
  return Math.min(length, readableHighWaterMark);
}

/**
 * Stops the parser of a connection. After the connection is closed, node still parses the input that it has read, and
 * makes an error with a stack for each request in it: 64 KiB take 20 ms. The parser can only be stopped by what its
 * callback for a request returns: llhttp treats a negative number as a failure.
 */
function stopParsing(socket: Socket): void {
  const parser: unknown = Reflect.get(socket, 'parser');
  if (typeof parser === 'object' && parser !== null) Reflect.set(parser, 'onIncoming', () => -1);
}

type ClientError = Error & { readonly code?: string };

const malformedAnswers = {
  slowRequest: '408 Request Timeout',
  largeHead: '431 Request Header Fields Too Large',
  malformed: '400 Bad Request',
} as const;

function reasonOf({ code }: ClientError): keyof typeof malformedAnswers {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'slowRequest';
  return code === 'HPE_HEADER_OVERFLOW' ? 'largeHead' : 'malformed';
}

function answerMalformed(error: ClientError, socket: Socket): void {
  // If the socket is not writable, an earlier answer closes the connection, and may still be on its way.
  if (!socket.writable) return;
  socket.end(`HTTP/1.1 ${malformedAnswers[reasonOf(error)]}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}

/** Closes the connection after an answer. The client then reconnects, and another replica takes the new connection. */
export function closeAfter(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close');
}

/** The most bytes of a refused body that the server reads. It reads the body so that the client gets the answer. */
const mostLingeringBytes = 16 * 2 ** 20;

/** The longest time for which a refused body is read, in milliseconds. */
const longestLingeringMs = 2000;

/**
 * Delays the closing of a connection until the last answered request has been read, up to a bound. If data arrives at a
 * closed connection, the operating system resets it, and the client loses the answer that says why its body was refused
 * (RFC 9112 §9.6). The server does not end its output earlier either, because many clients stop sending when it ends.
 * Node closes with `destroySoon` as soon as the last answer is written. `onClosing` returns the last answered request.
 */
function closeAfterReading(socket: Socket, onClosing: () => IncomingMessage | undefined): void {
  const close = socket.destroySoon.bind(socket);
  socket.destroySoon = () => {
    const request = onClosing();
    if (request === undefined || request.complete || socket.destroyed) return close();
    let bytes = 0;
    const late = setTimeout(close, longestLingeringMs);
    socket.once('close', () => clearTimeout(late));
    request.once('end', close);
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > mostLingeringBytes) close();
    });
    request.resume();
  };
}
