import { type Claim, MemoryRoom } from '../../memory.ts';
import { averageBytesOnceParsed, bytesOnceParsed } from './json-weight.ts';

/** The largest response of the upstream, decoded, in bytes. `BODY_TOO_LARGE` in failure-reasons.ts states it, too. */
export const largestBody = 8 * 2 ** 20;

/** The size above which a body is large, in bytes. */
const largeBytes = 2 ** 16;

/**
 * While no more than this many bytes are taken, short bodies are not weighed: each is assumed to need average memory.
 * Weighing a page of 100 rows is a twelfth of all the time that the page takes. The worst JSON needs five to six times
 * the average memory.
 */
const littleTaken = 16 * 2 ** 20;
/** The longest body that is not weighed, in characters. */
const usualLength = 2 ** 18;

/** The most memory that bodies of the upstream may take, in bytes: for one operation, and for the whole process. */
export interface BodyRoomLimits {
  readonly operation: number;
  readonly process: number;
}

/** The bytes of bodies that an operation may keep for each byte that its answer may have. */
const keptPerAnswered = 4;
/** The bytes of bodies that an operation may keep in any case. */
const leastKept = 16 * 2 ** 20;

/** The least memory of a process for bodies, in bytes. */
const leastBytes = 128 * 2 ** 20;

/** The limits for operations whose answers may have this many bytes. */
export function bodyRoomLimitsFor(maxAnswerBytes: number): BodyRoomLimits {
  const operation = Math.max(leastKept, keptPerAnswered * maxAnswerBytes);
  return { operation, process: Math.max(leastBytes, 2 * operation) };
}

/** The memory of a process for bodies of the upstream that are arriving, or that operations keep. */
export class BodyRoom extends MemoryRoom {
  readonly limits: BodyRoomLimits;

  constructor(limits: BodyRoomLimits, within?: MemoryRoom) {
    super(limits.process, { within, largeBytes });
    this.limits = limits;
  }

  /**
   * Claims room for the value of a text before it is parsed; undefined if there is too little. The response of a write
   * always gets room, because it shows the effect.
   */
  keep(text: string, isWrite: boolean): Claim | undefined {
    const claim = this.claim();
    const bytes = this.#weigh(text);
    if (isWrite) claim.insist(bytes);
    else if (!claim.resize(bytes)) return undefined;
    return claim;
  }

  #weigh(text: string): number {
    const isUsual = this.taken <= littleTaken && text.length <= usualLength;
    return isUsual ? averageBytesOnceParsed(text) : bytesOnceParsed(text);
  }
}
