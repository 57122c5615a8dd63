import { toError } from '../rest/errors.ts';
import { type Added, sizeOf, type WaitingRoom } from './waiting-room.ts';

/** The most messages that wait for one listener. */
const mostWaiting = 64;

/** The bytes that may wait for a listener until it gets no more messages. The rows of one poll may exceed the limit. */
const mostWaitingBytes = 16 * 2 ** 20;

/** Settings of one listener. */
export interface ListenerOptions {
  readonly room: WaitingRoom;
  /** Called once, when the listener stops listening. */
  readonly onEnd: () => void;
}

/** One subscription that receives each row added to a list once. It can be iterated only once. */
export class Listener implements AsyncIterable<Added> {
  readonly #options: ListenerOptions;
  readonly #waiting: Added[] = [];
  #wake: (() => void) | undefined;
  #state: 'open' | 'done' | Error = 'open';

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  /** True if too many messages wait for it because its client does not read, or reads too slowly. */
  isSlow = false;

  /** Passes on the messages of one poll. A listener for which too much waits is ended. */
  add(messages: readonly Added[]): void {
    if (this.#state !== 'open') return;
    this.isSlow = this.#waitingBytes() > mostWaitingBytes || !messages.every((added) => this.#keep(added));
    if (this.isSlow) this.end();
    else this.#wake?.();
  }

  /** Ends the listener and drops its waiting messages. Without an error, the iteration simply ends. */
  end(error?: unknown): void {
    if (this.#state !== 'open') return;
    this.#state = error === undefined ? 'done' : toError(error);
    for (const added of this.#waiting.splice(0)) this.#options.room.release(added);
    this.#options.onEnd();
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Added, void, void> {
    try {
      for (;;) {
        const added = this.#waiting.shift();
        if (added !== undefined) {
          this.#options.room.release(added);
          yield added;
        } else if (this.#state === 'open') await this.#more();
        else if (this.#state === 'done') return;
        else throw this.#state;
      }
    } finally {
      this.end();
    }
  }

  /** Keeps a message; false if there is no room for it. */
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
