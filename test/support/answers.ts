import { AnswerCounter } from '../../src/answer/answer-counter.ts';
import { AnswerRoom } from '../../src/answer/answer-room.ts';

/** A budget without limits. */
export function unlimitedAnswer(): AnswerCounter {
  const limits = { maxAnswerObjects: Infinity, maxAnswerBytes: Infinity };
  return new AnswerCounter(limits, new AnswerRoom(Infinity), () => undefined);
}
