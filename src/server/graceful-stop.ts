import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setTimeout as delay, setImmediate as nextImmediate } from 'node:timers/promises';
import type { ClientConnections } from './client-connections.ts';

/** The durations of the steps of a stop, in milliseconds, and its collaborators. */
export interface StopTimes {
  /** The time in which the server still takes requests after `/readyz` has begun to fail. */
  readonly stopDelayMs: number;
  /** The time after `stopDelayMs` in which the server waits for answers in flight. */
  readonly drainMs: number;
  /** Ends streams, which do not end by themselves. Called when this process gets no more new connections. */
  readonly disconnectStreams?: (() => void) | undefined;
  /** The socket on which several processes listen; undefined if this process listens alone. */
  readonly socket?: SharedSocket | undefined;
}

/** A socket that several processes listen on. All of them have to stop listening together. */
export interface SharedSocket {
  /**
   * Says that this process now lets its requests wait. Resolves when all processes do so and no client is about to
   * connect.
   */
  readonly mayClose: () => Promise<void>;
  /** Says that this process has stopped listening. Resolves when all processes have stopped. */
  readonly mayAnswer: () => Promise<void>;
}

/** All connections count as accepted after this number of checks in a row without a new one. */
const quietChecks = 4;

/** The longest wait for a moment without new connections, in milliseconds. With some clients, none would come. */
const longestQuietWaitMs = 1000;

/**
 * Resolves when all connections count as accepted: `isQuiet` was true at several checks in a row, or `longestMs` is
 * over.
 */
export async function quietMoment(isQuiet: () => Promise<boolean>, longestMs = longestQuietWaitMs): Promise<void> {
  const until = performance.now() + longestMs;
  let quiet = 0;
  while (quiet < quietChecks && performance.now() < until) quiet = (await isQuiet()) ? quiet + 1 : 0;
}

/**
 * The time in milliseconds for which idle connections stay open after the port is closed: a client may be about to send
 * a request.
 */
const idleCloseDelayMs = 1000;

/** The interval at which the server checks whether it is time to close, in milliseconds. */
const tickMs = 5;

/**
 * Stops a server without breaking an accepted connection. The operating system accepts connections before the process
 * does. Closing the listening socket would reset those that the process has not accepted yet. So the socket is closed
 * at a moment when no connection arrives. Clients that reconnect as soon as they are answered would leave no such
 * moment, so their requests wait until the socket is closed.
 */
export class GracefulStop {
  readonly #server: Server;
  readonly #connections: ClientConnections;
  readonly #times: StopTimes;
  /** True once the stop has begun: answers close their connections, and `/readyz` fails. */
  hasBegun = false;

  constructor(server: Server, connections: ClientConnections, times: StopTimes) {
    this.#server = server;
    this.#connections = connections;
    this.#times = times;
  }

  async run(): Promise<void> {
    const { stopDelayMs, drainMs } = this.#times;
    this.hasBegun = true;
    this.#connections.closeAfterAnswers();
    await delay(stopDelayMs);
    const cut = setTimeout(() => this.#server.closeAllConnections(), drainMs);
    await this.#stopListening();
    this.#times.disconnectStreams?.();
    const quietAt = performance.now() + Math.min(idleCloseDelayMs, drainMs / 10);
    while (this.#connections.size > 0) {
      if (performance.now() >= quietAt) this.#server.closeIdleConnections();
      await delay(tickMs);
    }
    clearTimeout(cut);
    // Also stops the server's own timers.
    this.#server.close();
  }

  async #stopListening(): Promise<void> {
    const { socket } = this.#times;
    this.#connections.pause();
    await (socket === undefined ? this.#quietMoment() : socket.mayClose());
    // This calls `close` of `node:net`. The `close` of `node:http` would also close connections whose clients have not
    // sent anything yet.
    NetServer.prototype.close.call(this.#server);
    await socket?.mayAnswer();
    this.#connections.resume();
  }

  #quietMoment(): Promise<void> {
    return quietMoment(
      async () => {
        await delay(tickMs);
        const { accepted } = this.#connections;
        // Node's event loop accepts connections after timers and before immediates, one at a time.
        await nextImmediate();
        return this.#connections.accepted === accepted;
      },
      Math.min(longestQuietWaitMs, this.#times.drainMs / 10),
    );
  }
}
