import { expect, test } from 'vitest';
import { EventLoopYield } from '../../src/operation/event-loop-yield.ts';

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

test('operations begin at once for 20 milliseconds of a turn, those that come later wait for the next ones', async () => {
  const eventLoop = new EventLoopYield();
  expect(eventLoop.take(1000)).toBeUndefined();
  expect(eventLoop.take(1019)).toBeUndefined();
  const begun: number[] = [];
  for (let index = 0; index < 20; index += 1) void eventLoop.take(1021 + index)?.then(() => begun.push(index));
  await Promise.resolve();
  expect(begun).toEqual([]);
  await nextTurn();
  expect(begun).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  // Those that wait come first.
  const late = eventLoop.take(5000)?.then(() => begun.push(20));
  await nextTurn();
  expect(begun).toHaveLength(16);
  await late;
  expect(begun).toEqual(Array.from({ length: 21 }, (_, index) => index));
});

test('each turn of the event loop has its own time', async () => {
  const eventLoop = new EventLoopYield();
  expect(eventLoop.take(0)).toBeUndefined();
  await nextTurn();
  expect(eventLoop.take(1000)).toBeUndefined();
  expect(eventLoop.take(1010)).toBeUndefined();
});
