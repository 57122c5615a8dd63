import { toError } from '../rest/errors.ts';
import { type Added, sizeOf, type WaitingRoom } from './waiting-room.ts';

/** Messages that wait for one listener at most. */
const mostWaiting = 64;

/** A listener for which more bytes of messages wait than this gets no further ones. What one poll has read may exceed it. */
const mostWaitingBytes = 16 * 2 ** 20;

/** How one listener is served. */
export interface ListenerOptions {
  readonly room: WaitingRoom;
  /** Called once, when it listens no more. */
  readonly onEnd: () => void;
}

/** One subscription that follows what is added to a list, each row once. It is iterated once. */
export class Listener implements AsyncIterable<Added> {
  readonly #options: ListenerOptions;
  readonly #waiting: Added[] = [];
  #wake: (() => void) | undefined;
  #state: 'open' | 'done' | Error = 'open';

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  /** True if too much waits for it: it does not take its messages, or not fast enough. */
  isSlow = false;

  /** Passes on the messages of one poll. A listener for which too much waits is ended. */
  add(messages: readonly Added[]): void {
    if (this.#state !== 'open') return;
    this.isSlow = this.#waitingBytes() > mostWaitingBytes || !messages.every((added) => this.#keep(added));
    if (this.isSlow) this.end();
    else this.#wake?.();
  }

  /** Nothing more comes, and what waits is dropped. Without an error the iteration just ends. */
  end(error?: unknown): void {
    if (this.#state !== 'open') return;
    this.#state = error === undefined ? 'done' : toError(error);
    for (const added of this.#waiting.splice(0)) this.#options.room.letGo(added);
    this.#options.onEnd();
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Added, void, void> {
    try {
      for (;;) {
        const added = this.#waiting.shift();
        if (added !== undefined) {
          this.#options.room.letGo(added);
          yield added;
        } else if (this.#state === 'open') await this.#more();
        else if (this.#state === 'done') return;
        else throw this.#state;
      }
    } finally {
      this.end();
    }
  }

  /** False: there is no room for the message. */
  #keep(added: Added): boolean {
    if (this.#waiting.length >= mostWaiting || !this.#options.room.keep(added)) return false;
    this.#waiting.push(added);
    return true;
  }

  #waitingBytes(): number {
    return this.#waiting.reduce((bytes, added) => bytes + sizeOf(added), 0);
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
