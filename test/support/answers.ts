import { AnswerCounter } from '../../src/answer-counter.ts';
import { MemoryRoom } from '../../src/memory.ts';

/** A budget without limits. */
export function unlimitedAnswer(): AnswerCounter {
  const limits = { maxAnswerObjects: Infinity, maxAnswerBytes: Infinity };
  return new AnswerCounter(limits, new MemoryRoom(Infinity), () => undefined);
}
