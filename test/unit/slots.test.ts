import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { UpstreamError } from '../../src/rest/errors.ts';
import { Slots } from '../../src/rest/resilience/concurrency-limiter.ts';

let now = 0;
const late = { lastsUntil: 10_000 };

beforeEach(() => {
  now = 0;
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

function createSlots(most: number): Slots {
  return new Slots({ most, now: () => now });
}

/** Queues calls by name, and notes who started or why not. */
function queueAll(slots: Slots, callers: readonly string[], patience = late): string[] {
  const log: string[] = [];
  for (const caller of callers) {
    slots.queue(caller, patience).started.then(
      () => log.push(caller),
      (error: unknown) => log.push(`${caller} ${error instanceof UpstreamError ? error.code : String(error)}`),
    );
  }
  return log;
}

async function settled(): Promise<void> {
  await vi.advanceTimersByTimeAsync(0);
}

test('a caller may use every slot while no other waits', () => {
  const slots = createSlots(4);
  expect([1, 2, 3, 4, 5].map(() => slots.take('a'))).toEqual([true, true, true, true, false]);
  expect(slots.inFlight).toBe(4);
});

test('callers that wait take turns, however much one of them wants', async () => {
  const slots = createSlots(2);
  slots.take('x');
  slots.take('x');
  const log = queueAll(slots, ['a', 'a', 'a', 'a', 'b', 'c']);
  for (const caller of ['x', 'x', 'a', 'b']) slots.release(caller, 10);
  await settled();
  expect(log).toEqual(['a', 'b', 'c', 'a']);
  expect(slots.queued).toBe(2);
});

test('a caller that holds half of the slots waits while another does', async () => {
  const slots = createSlots(4);
  for (let call = 0; call < 4; call += 1) slots.take('a');
  const log = queueAll(slots, ['a', 'a', 'b', 'b', 'b']);
  slots.release('a', 10);
  slots.release('a', 10);
  await settled();
  // Two slots are a's already: both free ones are b's.
  expect(log).toEqual(['b', 'b']);
  slots.release('a', 10);
  await settled();
  expect(log).toEqual(['b', 'b', 'a']);
});

test('what is left waiting alone gets the slots that are free', async () => {
  const slots = createSlots(4);
  for (let call = 0; call < 4; call += 1) slots.take('a');
  const log = queueAll(slots, ['a', 'a', 'a']);
  const other = slots.queue('b', late);
  other.started.catch(() => undefined);
  slots.release('a', 10);
  await settled();
  expect(log).toEqual([]);
  other.leave();
  slots.release('b', 10);
  await settled();
  expect(log).toEqual(['a']);
});

test('a call that leaves the queue is never started', async () => {
  const slots = createSlots(1);
  slots.take('a');
  const { started, leave } = slots.queue('a', late);
  leave();
  await expect(started).rejects.toMatchObject({ code: 'OVERLOADED' });
  slots.release('a', 10);
  expect([slots.inFlight, slots.queued]).toEqual([0, 0]);
});

test('a call is shed when its time runs out in the queue', async () => {
  const slots = createSlots(1);
  slots.take('a');
  const log = queueAll(slots, ['a'], { lastsUntil: 500 });
  now = 480;
  await vi.advanceTimersByTimeAsync(100);
  expect(log).toEqual(['a OVERLOADED']);
  expect([slots.queued, slots.sheds]).toEqual([0, 1]);
  expect(vi.getTimerCount()).toBe(0);
});

test('a call that cannot start in time is shed at once', () => {
  const slots = createSlots(1);
  slots.take('a');
  for (let call = 0; call < 100; call += 1) {
    slots.seize('b');
    slots.release('b', 1000);
  }
  queueAll(slots, ['a', 'a']);
  expect(() => slots.queue('a', { lastsUntil: 1500 })).toThrow(expect.objectContaining({ code: 'OVERLOADED' }));
  slots.flush(new UpstreamError('UPSTREAM_UNAVAILABLE'));
});

test('one caller fills half of the queue, two fill it', () => {
  const slots = createSlots(2);
  slots.take('x');
  slots.take('x');
  queueAll(slots, ['a', 'a', 'a', 'a']);
  expect(() => slots.queue('a', late)).toThrow(expect.objectContaining({ upstream: { retryAfter: 1 } }));
  expect([slots.isFull('a'), slots.isFull('b')]).toEqual([true, false]);
  queueAll(slots, ['b', 'b', 'b', 'b']);
  expect(['a', 'b', 'c'].map((caller) => slots.isFull(caller))).toEqual([true, true, true]);
});
