import type { Claim } from '../memory.ts';
import { toError } from '../rest/errors.ts';
import type { ListRef } from '../rest/pages.ts';
import type { Position } from '../rest/positions.ts';
import type { Row } from '../rest/values.ts';

const mostWaiting = 64;

/** The most bytes that may wait for a listener when a poll adds messages. The added messages may exceed the limit. */
const mostWaitingBytes = 16 * 2 ** 20;

/** One subscription. It receives each row that is added to a list, once. It can be iterated only once. */
export class Listener implements AsyncIterable<TailMessage> {
  readonly #onEnd: () => void;
  readonly #onSlow: () => void;
  readonly #waiting: TailMessage[] = [];
  /** Undefined unless the iteration waits for a message. */
  #wake: (() => void) | undefined;
  #state: 'open' | 'done' | Error = 'open';

  /** `onSlow` is called after `onEnd` if too much waits, because the client reads too slowly or not at all. */
  constructor(onEnd: () => void, onSlow: () => void) {
    this.#onEnd = onEnd;
    this.#onSlow = onSlow;
  }

  /**
   * Takes the messages of one poll. If the iteration waits for a message, the first one needs no room: clients that
   * read must get it, even if the room is full of messages for clients that do not.
   */
  add(messages: readonly TailMessage[]): void {
    if (this.#state !== 'open') return;
    const isAwaited = this.#wake !== undefined;
    const isKept = (message: TailMessage, index: number): boolean => this.#keep(message, isAwaited && index === 0);
    const isSlow = this.#waitingBytes() > mostWaitingBytes || !messages.every(isKept);
    if (!isSlow) return this.#goOn();
    this.end();
    this.#onSlow();
  }

  /** Ends the listener and drops its waiting messages. Without an error, the iteration simply ends. */
  end(error?: unknown): void {
    if (this.#state !== 'open') return;
    this.#state = error === undefined ? 'done' : toError(error);
    for (const { claim } of this.#waiting.splice(0)) claim.release();
    this.#onEnd();
    this.#goOn();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<TailMessage, void, void> {
    try {
      for (;;) {
        const message = this.#waiting.shift();
        if (message !== undefined) {
          message.claim.release();
          yield message;
        } else if (this.#state === 'open') await this.#more();
        else if (this.#state === 'done') return;
        else throw this.#state;
      }
    } finally {
      this.end();
    }
  }

  #keep(message: TailMessage, isAwaited: boolean): boolean {
    if (this.#waiting.length >= mostWaiting) return false;
    if (!isAwaited && !message.claim.resize(sizeOf(message))) return false;
    message.claim.hold();
    this.#waiting.push(message);
    return true;
  }

  #waitingBytes(): number {
    return this.#waiting.reduce((bytes, message) => bytes + sizeOf(message), 0);
  }

  #goOn(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}

/** One message of a tail: rows that were not sent before. */
export interface TailMessage {
  readonly list: ListRef;
  /** Oldest first. */
  readonly rows: readonly Row[];
  /** The position behind this message, from which a new subscription can continue. */
  readonly position: Position;
  /** True if rows before these were left out: more had come than one poll reads. */
  readonly gap: boolean;
  /** The number of characters that were read from the upstream for this message. */
  readonly received: number;
  /** The memory of the message, held while the message waits for any listener. */
  readonly claim: Claim;
}

/** The bytes of memory for each character that was read for a waiting message. */
const bytesPerCharacter = 3;

function sizeOf({ received }: TailMessage): number {
  return received * bytesPerCharacter;
}
