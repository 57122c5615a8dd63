import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setTimeout as delay, setImmediate as nextImmediate } from 'node:timers/promises';
import type { Connections } from './connections.ts';

/** How long each part of a stop takes, in milliseconds. */
export interface StopTimes {
  /** How long the server goes on taking requests after it has said that it is not ready. */
  readonly stopDelayMs: number;
  /** How long it waits after that for answers in flight. */
  readonly drainMs: number;
  /** Breaks off answers that go on without an end, once no new connection comes to this process. */
  readonly cutStreams?: (() => void) | undefined;
  /** Set if the server listens on a socket of several processes. */
  readonly socket?: SharedSocket | undefined;
}

/** A socket that several processes listen on, which has to be left by all of them together. */
export interface SharedSocket {
  /** Requests wait here; resolves when they do everywhere, and no client is about to connect. */
  readonly mayClose: () => Promise<void>;
  /** This process has stopped listening; resolves when all have. */
  readonly mayAnswer: () => Promise<void>;
}

/**
 * Every connection has been accepted if so many looks in a row find no new one. So many milliseconds later it goes on in any
 * case, for some clients never pause.
 */
const emptyLooks = 4;
const longestLookMs = 1000;

/** How long connections without a request stay open once no new one can come: their clients may be about to speak. */
const lastWordMs = 1000;

/** Times are looked at this often. */
const tickMs = 5;

/**
 * Stops a server without breaking a connection that it has accepted. Closing the listening socket resets the connections
 * that the system has taken and the process has not, so it is closed in a moment in which none comes. Clients that come again
 * as soon as they are answered would leave no such moment: while it is looked for, their requests wait.
 */
export class GracefulStop {
  readonly #server: Server;
  readonly #connections: Connections;
  readonly #times: StopTimes;
  #held: (() => void)[] | undefined;
  /** True if answers close their connections, and `/readyz` fails. */
  hasBegun = false;

  constructor(server: Server, connections: Connections, times: StopTimes) {
    this.#server = server;
    this.#connections = connections;
    this.#times = times;
  }

  /** True if requests wait for their answers. */
  get isHolding(): boolean {
    return this.#held !== undefined;
  }

  /** Answers a request once the server has stopped listening. */
  hold(answer: () => void): void {
    this.#held?.push(answer);
  }

  /** Resolves when every connection is closed. */
  async run(): Promise<void> {
    const { stopDelayMs, drainMs } = this.#times;
    this.hasBegun = true;
    this.#connections.closeAfterAnswers();
    await delay(stopDelayMs);
    const cut = setTimeout(() => this.#server.closeAllConnections(), drainMs);
    await this.#stopListening();
    this.#times.cutStreams?.();
    const quietAt = performance.now() + Math.min(lastWordMs, drainMs / 10);
    while (this.#connections.size > 0) {
      if (performance.now() >= quietAt) this.#server.closeIdleConnections();
      await delay(tickMs);
    }
    clearTimeout(cut);
    // Node's own timers of the server.
    this.#server.close();
  }

  async #stopListening(): Promise<void> {
    const { socket } = this.#times;
    const held: (() => void)[] = [];
    this.#held = held;
    await (socket === undefined ? this.#emptyMoment() : socket.mayClose());
    // That of HTTP servers also closes the connections whose clients have not spoken yet.
    NetServer.prototype.close.call(this.#server);
    await socket?.mayAnswer();
    this.#held = undefined;
    for (const answer of held) answer();
  }

  async #emptyMoment(): Promise<void> {
    const until = performance.now() + Math.min(longestLookMs, this.#times.drainMs / 10);
    let empty = 0;
    while (empty < emptyLooks && performance.now() < until) {
      await delay(tickMs);
      const { accepted } = this.#connections;
      // Node's event loop accepts after its timers and before its immediates, one connection at a time.
      await nextImmediate();
      empty = this.#connections.accepted === accepted ? empty + 1 : 0;
    }
  }
}
