import type { Claim, MemoryRoom } from '../memory.ts';
import { toError } from '../rest/errors.ts';
import type { ListRef } from '../rest/pages.ts';
import type { Position } from '../rest/positions.ts';
import type { Row } from '../rest/values.ts';

const mostWaiting = 64;

/** The bytes that may wait for a listener until it gets no more messages. The rows of one poll may exceed the limit. */
const mostWaitingBytes = 16 * 2 ** 20;

/** Settings of one listener. */
export interface ListenerOptions {
  readonly room: WaitingRoom;
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

/** One message of a tail: rows that were not sent before. */
export interface Added {
  readonly list: ListRef;
  /** Oldest first. */
  readonly rows: readonly Row[];
  /** The place from which a tail continues behind this message. */
  readonly place: Position;
  /** True if rows before these were left out: more had come than one poll reads. */
  readonly gap: boolean;
  /** The number of characters that were read from the upstream for it. */
  readonly received: number;
}

/** The memory of a waiting message for each character that was read for it, in bytes. */
const bytesPerCharacter = 3;

/** The messages of one process that wait for listeners. A message that waits for several listeners takes room once. */
export class WaitingRoom {
  readonly #room: MemoryRoom;
  readonly #claims = new Map<Added, Claim>();

  constructor(room: MemoryRoom) {
    this.#room = room;
  }

  /** Keeps a message for one more listener; false if there is no room for it. */
  keep(added: Added): boolean {
    const known = this.#claims.get(added);
    known?.hold();
    if (known !== undefined) return true;
    const claim = this.#room.claim();
    if (!claim.resize(sizeOf(added))) return false;
    this.#claims.set(added, claim);
    return true;
  }

  release(added: Added): void {
    const claim = this.#claims.get(added);
    claim?.release();
    if (claim?.bytes === 0) this.#claims.delete(added);
  }
}

function sizeOf({ received }: Added): number {
  return received * bytesPerCharacter;
}
