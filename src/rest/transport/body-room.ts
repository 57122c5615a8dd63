import { averageBytesOnceParsed, bytesOnceParsed } from './json-weight.ts';

/** Larger bodies leave the last quarter to those that are not: a few of them must not keep all others out. In bytes. */
const largeBytes = 2 ** 16;
const shareOfLarge = 0.75;

/**
 * As long as no more is taken, usual bodies are not looked at, which costs a twelfth of a page of 100 rows: their weight is
 * taken for the average. The worst JSON takes five to six times that.
 */
const littleTaken = 16 * 2 ** 20;
const usualLength = 2 ** 18;

/** Most bytes of memory for what the upstream answers. */
export interface BodyRoomLimits {
  /** Of one operation. */
  readonly operation: number;
  /** Of the process. */
  readonly process: number;
}

/** What one operation may keep of what the upstream answers, for each byte that it may answer itself; and at least. */
const keptPerAnswered = 4;
const leastKept = 16 * 2 ** 20;

/** Memory for bodies of the upstream, unless one operation may keep very much. */
const leastBytes = 128 * 2 ** 20;

/** The limits if an operation may answer so many bytes. */
export function bodyRoomLimitsFor(maxAnswerBytes: number): BodyRoomLimits {
  const operation = Math.max(leastKept, keptPerAnswered * maxAnswerBytes);
  return { operation, process: Math.max(leastBytes, 2 * operation) };
}

/** Memory that one process has for bodies of the upstream: those that arrive, and what operations keep of them. */
export class BodyRoom {
  readonly limits: BodyRoomLimits;
  #taken = 0;

  constructor(limits: BodyRoomLimits) {
    this.limits = limits;
  }

  /** How much of it is taken. */
  get taken(): number {
    return this.#taken;
  }

  /** Takes room for more bytes of a body that has so many with them; false if there is not enough. */
  reserve(more: number, bytes: number): boolean {
    const most = bytes > largeBytes ? this.limits.process * shareOfLarge : this.limits.process;
    if (this.#taken + more > most) return false;
    this.#taken += more;
    return true;
  }

  /** The same if they have to be taken even if there is not enough room: they say what a write has done. */
  reserveWritten(more: number): void {
    this.#taken += more;
  }

  /** Gives room back. */
  release(bytes: number): void {
    this.#taken -= bytes;
  }

  /** Takes room for what is read from a text, before it is read; undefined if there is not enough. */
  keep(text: string): KeptBody | undefined {
    const bytes = this.#weigh(text);
    return this.reserve(bytes, bytes) ? new KeptBody(this, bytes) : undefined;
  }

  /** The same for what has been read before and takes so many bytes. */
  keepBytes(bytes: number): KeptBody | undefined {
    return this.reserve(bytes, bytes) ? new KeptBody(this, bytes) : undefined;
  }

  /** The same if the text has to be read even if there is not enough room for it: it says what a write has done. */
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

/** What was read from one body. It takes its room until each of its holders has let it go; its maker is the first. */
export class KeptBody {
  /** Estimated memory. */
  readonly bytes: number;
  readonly #room: BodyRoom;
  #holders = 1;

  constructor(room: BodyRoom, bytes: number) {
    this.#room = room;
    this.bytes = bytes;
  }

  /** True if one of its holders has not let it go. */
  get isHeld(): boolean {
    return this.#holders > 0;
  }

  hold(): void {
    this.#holders += 1;
  }

  release(): void {
    this.#holders -= 1;
    if (this.#holders === 0) this.#room.release(this.bytes);
  }
}
