import { AnswerBudget } from '../../src/answer/answer-budget.ts';
import { AnswerRoom } from '../../src/answer/answer-room.ts';

/** A budget without limits. */
export function unlimitedAnswer(): AnswerBudget {
  const limits = { maxAnswerObjects: Infinity, maxAnswerBytes: Infinity };
  return new AnswerBudget(limits, new AnswerRoom(Infinity), () => undefined);
}
