import { toError } from '../rest/errors.ts';
import type { Added } from './added.ts';
import type { WaitingRoom } from './waiting-room.ts';

/** Messages that wait for one listener at most. */
const mostWaiting = 64;

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

  /** Whether too much waits for it: it does not take its messages, or not fast enough. */
  isSlow = false;

  /** Passes a message on. A listener for which too many wait is ended. */
  add(added: Added): void {
    if (this.#state !== 'open') return;
    if (this.#waiting.length < mostWaiting && this.#options.room.keep(added)) {
      this.#waiting.push(added);
      this.#wake?.();
      return;
    }
    this.isSlow = true;
    this.end();
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

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
