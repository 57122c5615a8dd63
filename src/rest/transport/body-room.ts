import { averageBytesOnceParsed, bytesOnceParsed } from './json-weight.ts';

/**
 * The size above which a body is large, in bytes. Large bodies leave the last quarter of the room to others, so that a few
 * of them do not keep all others out.
 */
const largeBytes = 2 ** 16;
const shareOfLarge = 0.75;

/**
 * The taken bytes and the length up to which a body is not weighed but assumed to be average. Weighing costs a twelfth of
 * the time for a page of 100 rows. The worst JSON takes five to six times the average.
 */
const littleTaken = 16 * 2 ** 20;
const usualLength = 2 ** 18;

/** The most memory for bodies of the upstream, in bytes. */
export interface BodyRoomLimits {
  /** Of one operation. */
  readonly operation: number;
  /** Of the process. */
  readonly process: number;
}

/**
 * The bytes of upstream bodies that one operation may keep, for each byte that it may answer; and the least that it may
 * keep.
 */
const keptPerAnswered = 4;
const leastKept = 16 * 2 ** 20;

/** The least memory for bodies of the upstream, in bytes. It is more if one operation may keep very much. */
const leastBytes = 128 * 2 ** 20;

/** The limits for operations that may answer so many bytes. */
export function bodyRoomLimitsFor(maxAnswerBytes: number): BodyRoomLimits {
  const operation = Math.max(leastKept, keptPerAnswered * maxAnswerBytes);
  return { operation, process: Math.max(leastBytes, 2 * operation) };
}

/** The memory that one process has for bodies of the upstream: those that arrive, and those that operations keep. */
export class BodyRoom {
  readonly limits: BodyRoomLimits;
  #taken = 0;

  constructor(limits: BodyRoomLimits) {
    this.limits = limits;
  }

  /** The bytes that are taken. */
  get taken(): number {
    return this.#taken;
  }

  /** Reserves room for more bytes of a body that is so long with them; false if there is not enough. */
  reserve(more: number, bytes: number): boolean {
    const most = bytes > largeBytes ? this.limits.process * shareOfLarge : this.limits.process;
    if (this.#taken + more > most) return false;
    this.#taken += more;
    return true;
  }

  /** Reserves room for bytes of a write's response, even if there is not enough: they show the effect of the write. */
  reserveWritten(more: number): void {
    this.#taken += more;
  }

  /** Gives room back. */
  release(bytes: number): void {
    this.#taken -= bytes;
  }

  /** Reserves room for the value of a text before it is parsed; undefined if there is not enough. */
  keep(text: string): KeptBody | undefined {
    const bytes = this.#weigh(text);
    return this.reserve(bytes, bytes) ? new KeptBody(this, bytes) : undefined;
  }

  /** Reserves room for the value of a write's response, even if there is not enough: it shows the effect of the write. */
  keepWritten(text: string): KeptBody {
    const bytes = this.#weigh(text);
    this.#taken += bytes;
    return new KeptBody(this, bytes);
  }

  #weigh(text: string): number {
    const isUsual = this.#taken <= littleTaken && text.length <= usualLength;
    return isUsual ? averageBytesOnceParsed(text) : bytesOnceParsed(text);
  }
}

/** The value of one body. It takes room until each of its holders has released it; its maker is the first. */
export class KeptBody {
  /** Estimated memory. */
  readonly bytes: number;
  readonly #room: BodyRoom;
  #holders = 1;

  constructor(room: BodyRoom, bytes: number) {
    this.#room = room;
    this.bytes = bytes;
  }

  hold(): void {
    this.#holders += 1;
  }

  release(): void {
    this.#holders -= 1;
    if (this.#holders === 0) this.#room.release(this.bytes);
  }
}
