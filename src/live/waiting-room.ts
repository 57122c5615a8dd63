import type { ListRef } from '../rest/pages.ts';
import type { Position } from '../rest/positions.ts';
import type { Row } from '../rest/values.ts';

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

/** Memory that messages take while they wait for listeners, for each character that was read for them, in bytes. */
const bytesPerCharacter = 3;

/**
 * The memory of one process for messages that wait for listeners. A message that waits for several listeners counts once.
 */
export class WaitingRoom {
  readonly #limit: number;
  readonly #waiting = new Map<Added, number>();
  #taken = 0;

  /** `limit` is in bytes. */
  constructor(limit: number = 96 * 2 ** 20) {
    this.#limit = limit;
  }

  /** The bytes that are taken. */
  get taken(): number {
    return this.#taken;
  }

  /** Keeps a message for one more listener; false if there is no room for it. */
  keep(added: Added): boolean {
    const listeners = this.#waiting.get(added) ?? 0;
    const bytes = sizeOf(added);
    if (listeners === 0 && this.#taken + bytes > this.#limit) return false;
    if (listeners === 0) this.#taken += bytes;
    this.#waiting.set(added, listeners + 1);
    return true;
  }

  /** Notes that a message waits for one listener less. */
  letGo(added: Added): void {
    const listeners = this.#waiting.get(added) ?? 0;
    if (listeners > 1) {
      this.#waiting.set(added, listeners - 1);
      return;
    }
    if (this.#waiting.delete(added)) this.#taken -= sizeOf(added);
  }
}

/** Memory that a message takes while it waits, in bytes. */
export function sizeOf({ received }: Added): number {
  return received * bytesPerCharacter;
}
