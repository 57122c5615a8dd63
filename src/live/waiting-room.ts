import type { Claim, MemoryRoom } from '../memory.ts';
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

  /** Notes that a message waits for one listener less. */
  release(added: Added): void {
    const claim = this.#claims.get(added);
    claim?.release();
    if (claim?.bytes === 0) this.#claims.delete(added);
  }
}

/** Memory that a message takes while it waits, in bytes. */
export function sizeOf({ received }: Added): number {
  return received * bytesPerCharacter;
}
