import { type Claim, MemoryRoom } from '../../memory.ts';
import { averageBytesOnceParsed, bytesOnceParsed } from './json-weight.ts';

/**
 * The largest response of the upstream, decoded, in bytes. The explanation of `BODY_TOO_LARGE` in failure-reasons.ts
 * states this size, too.
 */
export const largestBody = 8 * 2 ** 20;

/** The size above which a body is large, in bytes. */
const largeBytes = 2 ** 16;

/**
 * As long as no more bytes than this are taken, short bodies are not weighed: each is assumed to need average memory.
 * Weighing is a twelfth of the time that a page of 100 rows takes. The worst JSON needs five to six times the average
 * memory.
 */
const littleTaken = 16 * 2 ** 20;
/** The longest body that is not weighed as long as little is taken, in characters. */
const usualLength = 2 ** 18;

/** The most memory for bodies of the upstream, in bytes. */
export interface BodyRoomLimits {
  /** The limit for the bodies of one operation. */
  readonly operation: number;
  /** The limit for all bodies in the process. */
  readonly process: number;
}

/** The bytes of upstream bodies that one operation may keep for each byte that its answer may have. */
const keptPerAnswered = 4;
/** The bytes of upstream bodies that one operation may keep in any case. */
const leastKept = 16 * 2 ** 20;

/**
 * The least memory of a process for upstream bodies, in bytes. A process also has at least twice the memory of one
 * operation.
 */
const leastBytes = 128 * 2 ** 20;

/** The limits for operations whose answers may have this many bytes. */
export function bodyRoomLimitsFor(maxAnswerBytes: number): BodyRoomLimits {
  const operation = Math.max(leastKept, keptPerAnswered * maxAnswerBytes);
  return { operation, process: Math.max(leastBytes, 2 * operation) };
}

/** The memory that one process has for upstream bodies: those that are arriving, and those that operations keep. */
export class BodyRoom extends MemoryRoom {
  readonly limits: BodyRoomLimits;

  constructor(limits: BodyRoomLimits, within?: MemoryRoom) {
    super(limits.process, { within, largeBytes });
    this.limits = limits;
  }

  /**
   * Claims room for the value of a text before it is parsed; undefined if there is not enough. There is always enough
   * for the response of a write, because it shows the effect of the write.
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
