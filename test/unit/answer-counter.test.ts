import { expect, test, vi } from 'vitest';
import { AnswerCounter } from '../../src/answer-counter.ts';
import { MemoryRoom } from '../../src/memory.ts';
import { OperationDeadline } from '../../src/rest/operation-deadline.ts';

const at = { prev: { prev: undefined, key: 'projects' }, key: 'nodes' };
const weight = { objects: 1, bytes: 10, leaves: 1, ids: 0, copies: 1 };

test('the first object beyond the limit ends an answer, and nothing is counted after it', () => {
  const limits = { maxAnswerObjects: 5, maxAnswerBytes: 1000 };
  const deadline = new OperationDeadline(1000);
  const end = vi.spyOn(deadline, 'end');
  const answer = new AnswerCounter(limits, new MemoryRoom(2 ** 20), deadline);
  answer.add(5, weight, at);
  expect(() => answer.add(1, weight, at)).toThrow('as much as it may');
  expect(() => answer.add(0, weight, at)).toThrow('as much as it may');
  expect(answer.excess).toEqual({ unit: 'objects', count: 6, limit: 5, path: 'projects.nodes' });
  expect(deadline.ended).toMatchObject({ code: 'COST_LIMIT_EXCEEDED' });
  expect(end).toHaveBeenCalledTimes(1);
});

test('answers that are made at the same time share the room of the process, and give it back', () => {
  const room = new MemoryRoom(2 ** 21);
  const create = (): AnswerCounter =>
    new AnswerCounter({ maxAnswerObjects: 10_000, maxAnswerBytes: 2 ** 24 }, room, new OperationDeadline(1000));
  const [first, second] = [create(), create()];
  first.add(3000, weight, at);
  expect(() => second.add(3000, weight, at)).toThrow('as much as it may');
  expect([first.hadNoRoom, second.hadNoRoom, second.excess]).toEqual([false, true, undefined]);
  second.finish();
  first.finish();
  expect(room.taken).toBe(0);
  // A task that runs on after the end takes no room.
  expect(() => first.add(3000, weight, at)).toThrow('as much as it may');
  expect(room.taken).toBe(0);
});
