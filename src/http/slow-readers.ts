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

/** The longest time in which a client may take nothing of its answer, in milliseconds. */
const longestStuckMs = 15_000;

/** The longest pause, in milliseconds. Clients earn a pause by the bytes that they take (see `SlowReader`). */
const longestPauseMs = 14_000;

/** The bytes of a connection: those written so far, and those that the operating system has not taken yet. */
interface Written {
  readonly bytesWritten: number;
  readonly writableLength: number;
}

/**
 * Measures how fast the client of one connection reads. Times in milliseconds.
 *
 * The process sees only when the operating system takes bytes, not when the client does. The operating system has a
 * buffer of up to 4 MiB for each connection, and takes further bytes only once a third of it is free. So a client that
 * reads 200 kB a second seems to take nothing for seven seconds, and then 1.4 MB at once. Therefore, a client that has
 * taken bytes may pause for the time in which it would read these bytes at the least rate. If memory is short, clients
 * whose pause has ended, or ends first, are disconnected before others.
 */
export class SlowReader {
  readonly #limits: ReaderLimits;
  /** The time since when output has waited for the client; undefined if none waits. */
  #since: number | undefined;
  #answer: object | undefined;
  #takenBefore = 0;
  /** The last time at which bytes were taken, no bytes waited or an answer began; undefined if none was ever noted. */
  #takenAt: number | undefined;
  /** The number of bytes that had been taken at the time `#takenAt`. */
  #taken = 0;
  #pausesUntil = 0;

  constructor(limits: ReaderLimits) {
    this.#limits = limits;
  }

  /**
   * True if the client is too slow. `answer` is the oldest answer that the client may not have read completely.
   * A client gains no time by further requests that it sends before it has read this answer. Once it has read the
   * answer, its time for the next one begins anew.
   */
  isLate({ bytesWritten, writableLength }: Written, answer: object | undefined, now: number): boolean {
    if (writableLength === 0) {
      this.#since = undefined;
      // This is noted here, too, because `watchReader` is not called for every answer.
      this.noteTaken({ bytesWritten, writableLength }, now);
      return false;
    }
    if (this.#since === undefined || this.#answer !== answer) {
      this.#since = now;
      this.#answer = answer;
      this.#takenBefore = bytesWritten - writableLength;
    }
    if (now - (this.#takenAt ?? now) > longestStuckMs) return true;
    const { graceMs, bytesPerSecond } = this.#limits;
    return now - this.#since > graceMs + ((bytesWritten - this.#takenBefore) / bytesPerSecond) * 1000;
  }

  /** Notes that the client has taken what was written, or that an answer begins. */
  noteTaken({ bytesWritten, writableLength }: Written, now: number): void {
    const taken = bytesWritten - writableLength;
    const earnedMs = ((taken - this.#taken) / this.#limits.bytesPerSecond) * 1000;
    this.#pausesUntil = Math.min(Math.max(this.#pausesUntil, now) + earnedMs, now + longestPauseMs);
    this.#taken = taken;
    this.#takenAt = now;
  }

  /** The end of the pause that the client has earned. */
  get pausesUntil(): number {
    return this.#pausesUntil;
  }

  /**
   * The time since which the client has taken none of the bytes that wait for it; undefined if none wait. A request
   * that waits for its turn on the connection does not count, because its answer has no bytes yet.
   */
  stuckSince({ writableLength }: Written): number | undefined {
    return writableLength > 0 ? this.#takenAt : undefined;
  }
}

const readers = new WeakMap<Socket, SlowReader>();

/** Makes the reader of a new connection. */
export function createSlowReader(socket: Socket, limits: ReaderLimits): SlowReader {
  const reader = new SlowReader(limits);
  readers.set(socket, reader);
  return reader;
}

/** Notes that a client is not stuck at this moment. */
export function noteRead(socket: Socket): void {
  readers.get(socket)?.noteTaken(socket, performance.now());
}

/** Notes from now on when a client takes bytes of an answer. */
export function watchReader(response: ServerResponse): void {
  const { socket } = response.req;
  noteRead(socket);
  response.on('drain', () => noteRead(socket));
}

/** The time since which the client of a connection has been stuck; undefined if it is not. */
export function stuckSince(socket: Socket): number | undefined {
  return readers.get(socket)?.stuckSince(socket);
}

/** The end of the pause that the client of a connection has earned by what it has taken. */
export function pausesUntil(socket: Socket): number {
  return readers.get(socket)?.pausesUntil ?? 0;
}
