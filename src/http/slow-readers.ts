import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The least speed at which clients have to read. Each answer holds memory until it has been read. */
export interface ReaderLimits {
  /** The grace period of every client, in milliseconds. */
  readonly graceMs: number;
  /** The least rate after the grace period, in bytes a second. */
  readonly bytesPerSecond: number;
}

/** The limits unless others are given. */
export const usualReaders: ReaderLimits = { graceMs: 30_000, bytesPerSecond: 131_072 };

/** The bytes of a connection: those written so far, and those that the operating system has not taken yet. */
interface Written {
  readonly bytesWritten: number;
  readonly writableLength: number;
}

/** Measures how fast the client of one connection reads. Times in milliseconds. */
export class SlowReader {
  readonly #limits: ReaderLimits;
  /** The time since when output has waited for the client; undefined if none waits. */
  #since: number | undefined;
  #answer: object | undefined;
  #takenBefore = 0;

  constructor(limits: ReaderLimits) {
    this.#limits = limits;
  }

  /**
   * True if the client is too slow. `answer` is the oldest answer that the client may not have read completely.
   * Requests that the client sends before it has read the answer gain no time; a request after the answer starts a new
   * period.
   */
  isLate({ bytesWritten, writableLength }: Written, answer: object | undefined, now: number): boolean {
    if (writableLength === 0) this.#since = undefined;
    else if (this.#since === undefined || this.#answer !== answer) {
      this.#since = now;
      this.#answer = answer;
      this.#takenBefore = bytesWritten - writableLength;
    }
    if (this.#since === undefined) return false;
    const { graceMs, bytesPerSecond } = this.#limits;
    return now - this.#since > graceMs + ((bytesWritten - this.#takenBefore) / bytesPerSecond) * 1000;
  }
}

/** For each connection, the last moment at which its client took waiting bytes, or at which no bytes waited. */
const readAt = new WeakMap<Socket, number>();

/** Notes that a client is not stuck at this moment. */
export function noteRead(socket: Socket): void {
  readAt.set(socket, performance.now());
}

/** Notes from now on when a client takes bytes of an answer. */
export function watchReader(response: ServerResponse): void {
  const { socket } = response.req;
  noteRead(socket);
  response.on('drain', () => noteRead(socket));
}

/**
 * The time since which the client of a connection has read nothing although bytes wait for it; undefined if no bytes
 * wait. A request that waits behind the answer does not count, because it has no bytes yet.
 */
export function stuckSince(socket: Socket): number | undefined {
  return socket.writableLength > 0 ? readAt.get(socket) : undefined;
}
