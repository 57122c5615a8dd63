import { AnswerCounter } from '../../src/answer-counter.ts';
import { MemoryRoom } from '../../src/memory.ts';
import { OperationDeadline } from '../../src/rest/operation-deadline.ts';

/** A budget without limits. */
export function unlimitedAnswer(): AnswerCounter {
  const limits = { maxAnswerObjects: Infinity, maxAnswerBytes: Infinity };
  return new AnswerCounter(limits, new MemoryRoom(Infinity), new OperationDeadline(Infinity));
}
