import { expect, test, vi } from 'vitest';
import { EventLoopYield } from '../../src/event-loop-yield.ts';

vi.useFakeTimers({ toFake: ['performance'] });

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

test('operations begin at once for 20 milliseconds of a turn, those that come later wait for the next ones', async () => {
  const eventLoop = new EventLoopYield();
  expect(eventLoop.waitForTurn(1000)).toBeUndefined();
  expect(eventLoop.waitForTurn(1019)).toBeUndefined();
  const begun: number[] = [];
  for (let index = 0; index < 20; index += 1) void eventLoop.waitForTurn(1021 + index)?.then(() => begun.push(index));
  await Promise.resolve();
  expect(begun).toEqual([]);
  await nextTurn();
  expect(begun).toEqual([0]);
  await nextTurn();
  expect(begun).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  // Those that wait come first.
  await eventLoop.waitForTurn(5000)?.then(() => begun.push(20));
  expect(begun).toEqual(Array.from({ length: 21 }, (_, index) => index));
});

test('each turn of the event loop has its own time', async () => {
  const eventLoop = new EventLoopYield();
  expect(eventLoop.waitForTurn(0)).toBeUndefined();
  await nextTurn();
  expect(eventLoop.waitForTurn(1000)).toBeUndefined();
  expect(eventLoop.waitForTurn(1010)).toBeUndefined();
});

test('large work is done at once, or a piece in a turn while more waits, and what ends soonest first', async () => {
  const eventLoop = new EventLoopYield();
  const done: string[] = [];
  const piece = (name: string) => (): void => {
    done.push(name);
    vi.advanceTimersByTime(100);
  };
  eventLoop.doLarge(piece('at once'), 1000);
  eventLoop.doLarge(piece('third'), 1000);
  eventLoop.doLater(piece('second'), 999);
  const last = eventLoop.waitToWrite()?.then(piece('last'));
  expect(done).toEqual(['at once']);
  for (let before = done.length; done.length < 4; before = done.length) {
    await nextTurn();
    await nextTurn();
    expect(done.length - before).toBeLessThanOrEqual(1);
  }
  await last;
  expect(done).toEqual(['at once', 'last', 'second', 'third']);
});

test('operations that wait begin between the pieces of large work', async () => {
  const eventLoop = new EventLoopYield();
  const done: string[] = [];
  for (let index = 0; index < 10; index += 1) {
    eventLoop.doLarge(() => {
      done.push('large');
      vi.advanceTimersByTime(100);
    }, 1000);
  }
  await eventLoop.waitForTurn(performance.now())?.then(() => done.push('small'));
  expect(done.length).toBeLessThan(5);
  expect(done.at(-1)).toBe('small');
});

test('there is too much large work once a piece has waited for a second', () => {
  const eventLoop = new EventLoopYield();
  eventLoop.doLater(() => undefined, 5000);
  vi.advanceTimersByTime(1000);
  expect(eventLoop.isCrowded).toBe(false);
  vi.advanceTimersByTime(1);
  expect(eventLoop.isCrowded).toBe(true);
});
