import { getHeapStatistics } from 'node:v8';

/**
 * The share of the heap that bodies, kept answers, answers under way and messages may take together. The rest is for
 * code, for many small objects, and for garbage that is not yet collected.
 */
const shareOfHeap = 0.6;

/** The share of the heap for answers that are being made or that clients have not taken yet. */
const shareOfAnswers = 1 / 16;

/** The most bytes for answers. If one answer may be larger than this, its maximum size is the limit instead. */
const mostForAnswers = 96 * 2 ** 20;

/** The share of a room that large claims leave free, so that a few of them cannot exclude all others. */
const shareForSmall = 0.25;

/** The shortest time after which a client that takes nothing may be ended, in milliseconds. */
const shortestStuckMs = 1000;

/** The memory that one process has for all of its rooms, in bytes. */
export function processBytes(): number {
  return getHeapStatistics().heap_size_limit * shareOfHeap;
}

/** The memory that one process has for answers. `largest` is the most bytes of one answer. */
export function answerRoomBytes(largest: number): number {
  const share = Math.min(mostForAnswers, getHeapStatistics().heap_size_limit * shareOfAnswers);
  return Math.max(share, largest);
}

/** The client of an answer. */
export interface Reader {
  /** The moment since which the client has taken none of the bytes that wait for it; undefined if none wait. */
  readonly stuckSince: number | undefined;
  /**
   * The end of the client's pause: until then, the client may take nothing. The more bytes it has taken, the longer it
   * may pause. Of the stuck clients, those whose pause ends first are disconnected first.
   */
  readonly pausesUntil: number;
  /** Calls back when the client has the whole answer or has left. */
  onClose(listener: () => void): void;
  /** Aborts its connection. */
  disconnect(): void;
}

/** Settings of a room. */
export interface RoomOptions {
  /** The room of the process, if this room is a part of it. */
  readonly within?: MemoryRoom | undefined;
  /** The bytes above which a claim is large; by default none is. */
  readonly largeBytes?: number;
  /** Called whenever a stuck client is disconnected. A room within another room uses the outer `onDisconnect`. */
  readonly onDisconnect?: () => void;
}

/** A client that takes nothing, and its claim. */
interface Stuck {
  readonly claim: Claim;
  readonly reader: Reader;
}

function bytesOf(stuck: readonly Stuck[]): number {
  return stuck.reduce((sum, { claim }) => sum + claim.bytes, 0);
}

/** Memory that one process has for one purpose. It is claimed before it is used. */
export class MemoryRoom {
  readonly #bytes: number;
  readonly #within: MemoryRoom | undefined;
  readonly #largeBytes: number;
  readonly #onDisconnect: (() => void) | undefined;
  /** The clients of answers in any room of the process. */
  readonly #readers: Map<Claim, Reader>;
  #taken = 0;

  constructor(bytes: number, { within, largeBytes = Number.POSITIVE_INFINITY, onDisconnect }: RoomOptions = {}) {
    this.#bytes = bytes;
    this.#within = within;
    this.#largeBytes = largeBytes;
    this.#onDisconnect = within === undefined ? onDisconnect : within.#onDisconnect;
    this.#readers = within === undefined ? new Map<Claim, Reader>() : within.#readers;
  }

  get taken(): number {
    return this.#taken;
  }

  /** Makes an empty claim. */
  claim(): Claim {
    return new Claim(this);
  }

  /**
   * Makes an empty claim for an answer. The claim ends when the client has the whole answer, has left, or is
   * disconnected.
   */
  claimFor(reader: Reader): Claim {
    const claim = new Claim(this);
    this.#readers.set(claim, reader);
    reader.onClose(() => this.#end(claim));
    return claim;
  }

  /** True if this many more bytes fit, so that no client has to be disconnected for them. */
  isFree(bytes: number): boolean {
    return this.#taken + bytes <= this.#bytes && (this.#within?.isFree(bytes) ?? true);
  }

  /**
   * Makes room for `more` bytes of a claim, whose size is then `whole`. If needed, disconnects stuck clients, first
   * those whose pause ends first. Returns false, and disconnects no client, if this room or the room around it would
   * still be too small.
   */
  makeRoom(more: number, whole = more): boolean {
    const most = whole > this.#largeBytes ? this.#bytes * (1 - shareForSmall) : this.#bytes;
    const outer = this.#within ?? this;
    const missing = this.#taken + more - most;
    const missingOutside = outer.#taken + more - outer.#bytes;
    if (missing <= 0 && missingOutside <= 0) return true;
    const stuck = this.#stuck();
    const own = outer === this ? stuck : stuck.filter(({ claim }) => claim.room === this);
    if (bytesOf(own) < missing || bytesOf(stuck) < missingOutside) return false;
    // The bytes that this room frees are free in the outer one, too.
    const freed = this.#free(own, missing);
    this.#free(stuck, missingOutside - freed);
    return true;
  }

  /** Adds bytes to what is claimed. A negative number takes bytes away. */
  count(bytes: number): void {
    this.#taken += bytes;
    this.#within?.count(bytes);
  }

  #end(claim: Claim): void {
    if (this.#readers.delete(claim)) claim.release();
  }

  /**
   * Disconnects clients in the order of `stuck` until they have freed `bytes` bytes. Returns the number of freed bytes.
   */
  #free(stuck: readonly Stuck[], bytes: number): number {
    let freed = 0;
    for (const { claim, reader } of stuck) {
      if (freed >= bytes) break;
      if (!this.#readers.has(claim)) continue;
      freed += claim.bytes;
      reader.disconnect();
      this.#end(claim);
      this.#onDisconnect?.();
    }
    return freed;
  }

  /** The clients that have been stuck for `shortestStuckMs` or longer, in the order in which their pauses end. */
  #stuck(): readonly Stuck[] {
    const latest = performance.now() - shortestStuckMs;
    return [...this.#readers]
      .filter(([claim]) => claim.bytes > 0)
      .map(([claim, reader]) => ({ claim, reader }))
      .filter(({ reader }) => (reader.stuckSince ?? Number.POSITIVE_INFINITY) <= latest)
      .toSorted((one, other) => one.reader.pausesUntil - other.reader.pausesUntil);
  }
}

/** A part of a room, taken until each holder has released it. Its maker is the first holder. */
export class Claim {
  readonly room: MemoryRoom;
  #bytes = 0;
  #holders = 1;

  constructor(room: MemoryRoom) {
    this.room = room;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Changes the claim to this number of bytes; false if there is no room for them. A claim that has ended needs no
   * room.
   */
  resize(bytes: number): boolean {
    const more = bytes - this.#bytes;
    if (this.#holders > 0 && more > 0 && !this.room.makeRoom(more, bytes)) return false;
    this.insist(bytes);
    return true;
  }

  /** Changes the claim to this number of bytes, even if there is no room for them. */
  insist(bytes: number): void {
    if (this.#holders === 0) return;
    this.room.count(bytes - this.#bytes);
    this.#bytes = bytes;
  }

  hold(): void {
    this.#holders += 1;
  }

  release(): void {
    if (this.#holders === 0) return;
    if (this.#holders === 1) this.insist(0);
    this.#holders -= 1;
  }
}
