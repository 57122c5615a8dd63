import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { UpstreamError } from '../../src/rest/errors.ts';
import { ConcurrencyLimiter } from '../../src/rest/resilience/concurrency-limiter.ts';
import type { Attempt } from '../../src/rest/resilience/gate.ts';
import { attemptOf, successAfter } from '../support/attempts.ts';

let now = 0;

beforeEach(() => {
  now = 0;
  vi.useFakeTimers();
  vi.spyOn(performance, 'now').mockImplementation(() => now);
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** A limiter of which callers have slots, by name, and a log of who got one after waiting, or why not. */
class TestLimiter {
  readonly limiter: ConcurrencyLimiter;
  readonly log: string[] = [];
  readonly #inFlight: Attempt[] = [];

  constructor(most: number) {
    this.limiter = new ConcurrencyLimiter(most);
  }

  /** True if a slot is had at once. */
  take(caller: string, isUrgent = false): boolean {
    const attempt = attemptOf(caller, { isUrgent });
    if (this.limiter.enter(attempt) !== undefined) return false;
    this.#inFlight.push(attempt);
    return true;
  }

  /** Waits for a slot. */
  queue(caller: string, { user = '', endsAt = 10_000, isTrial = false } = {}): Attempt {
    const key = { key: caller, sharingKey: caller, queueKey: caller };
    const attempt = attemptOf(caller, { endsAt, isTrial, caller: { ...key, subject: user } });
    const name = user === '' ? caller : `${caller} ${user}`;
    this.limiter.enter(attempt)?.then(
      () => {
        this.log.push(name);
        this.#inFlight.push(attempt);
      },
      (error: unknown) => this.log.push(`${name} ${error instanceof UpstreamError ? error.code : String(error)}`),
    );
    return attempt;
  }

  queueAll(callers: readonly string[]): void {
    for (const caller of callers) this.queue(caller);
  }

  /** A call of a caller ends. */
  async release(caller: string, tookMs = 10): Promise<void> {
    const index = this.#inFlight.findIndex((attempt) => attempt.run.caller.queueKey === caller);
    const [attempt] = this.#inFlight.splice(index, 1);
    if (index === -1 || attempt === undefined) throw new Error(`${caller} has no slot`);
    this.limiter.leave(attempt, successAfter(tookMs));
    await settled();
  }
}

async function settled(): Promise<void> {
  await vi.advanceTimersByTimeAsync(0);
}

test('a caller may use every slot while no other waits', () => {
  const slots = new TestLimiter(4);
  expect([1, 2, 3, 4, 5].map(() => slots.take('a'))).toEqual([true, true, true, true, false]);
  expect(slots.limiter.inFlight).toBe(4);
});

test('an urgent attempt takes a slot whether or not one is free', () => {
  const slots = new TestLimiter(1);
  slots.take('a');
  expect(slots.take('b', true)).toBe(true);
  expect(slots.limiter.inFlight).toBe(2);
});

test('callers that wait take turns, however much one of them wants', async () => {
  const slots = new TestLimiter(2);
  for (let call = 0; call < 2; call += 1) slots.take('x');
  slots.queueAll(['a', 'a', 'a', 'a', 'b', 'c']);
  for (const caller of ['x', 'x', 'a', 'b']) await slots.release(caller);
  expect(slots.log).toEqual(['a', 'b', 'c', 'a']);
  expect(slots.limiter.queued).toBe(2);
});

test('a caller that holds half of the slots waits while another does', async () => {
  const slots = new TestLimiter(4);
  for (let call = 0; call < 4; call += 1) slots.take('a');
  slots.queueAll(['a', 'a', 'b', 'b', 'b']);
  await slots.release('a');
  await slots.release('a');
  // Two slots are a's already: both free ones are b's.
  expect(slots.log).toEqual(['b', 'b']);
  await slots.release('a');
  expect(slots.log).toEqual(['b', 'b', 'a']);
});

test('what is left waiting alone gets the slots that are free', async () => {
  const slots = new TestLimiter(4);
  for (let call = 0; call < 4; call += 1) slots.take('a');
  slots.queueAll(['a', 'a', 'a']);
  slots.queue('b');
  await slots.release('a');
  expect(slots.log).toEqual(['b']);
  await slots.release('b');
  expect(slots.log).toEqual(['b', 'a']);
});

test('a call that leaves the queue is never started', async () => {
  const slots = new TestLimiter(1);
  slots.take('a');
  const waiting = slots.queue('a');
  slots.limiter.leave(waiting, { kind: 'not-sent' });
  await slots.release('a');
  expect([slots.limiter.inFlight, slots.limiter.queued, slots.log]).toEqual([0, 0, []]);
});

test('a call is shed when its time runs out in the queue', async () => {
  const slots = new TestLimiter(1);
  slots.take('a');
  slots.queue('a', { endsAt: 500 });
  now = 480;
  await vi.advanceTimersByTimeAsync(100);
  expect(slots.log).toEqual(['a OVERLOADED']);
  expect([slots.limiter.queued, slots.limiter.sheds]).toEqual([0, 1]);
  expect(vi.getTimerCount()).toBe(0);
});

test('a call that was shed and leaves then gives no slot back', async () => {
  const slots = new TestLimiter(1);
  slots.take('a');
  const shed = slots.queue('a');
  slots.limiter.flush(new UpstreamError('UPSTREAM_UNAVAILABLE'));
  slots.limiter.leave(shed, { kind: 'not-sent' });
  await settled();
  expect([slots.log, slots.limiter.inFlight]).toEqual([['a UPSTREAM_UNAVAILABLE'], 1]);
});

test('a call that cannot start in time is shed at once', async () => {
  const slots = new TestLimiter(1);
  slots.take('a');
  for (let call = 0; call < 100; call += 1) {
    slots.take('b', true);
    await slots.release('b', 1000);
  }
  slots.queueAll(['a', 'a']);
  expect(() => slots.queue('a', { endsAt: 1500 })).toThrow(expect.objectContaining({ code: 'OVERLOADED' }));
});

test('one caller fills half of the queue, two fill it', () => {
  const slots = new TestLimiter(2);
  for (let call = 0; call < 2; call += 1) slots.take('x');
  slots.queueAll(Array.from({ length: 8 }, () => 'a'));
  expect(() => slots.queue('a')).toThrow(expect.objectContaining({ upstream: { retryAfter: 1 } }));
  slots.queueAll(Array.from({ length: 8 }, () => 'b'));
  for (const caller of ['a', 'b', 'c'])
    expect(() => slots.queue(caller)).toThrow(expect.objectContaining({ code: 'OVERLOADED' }));
});

test('calls of unproven keys leave half of the queue to proven keys, however many keys there are', () => {
  const slots = new TestLimiter(2);
  slots.take('x');
  slots.take('y');
  slots.queueAll(Array.from({ length: 7 }, (_, key) => `proven ${key}`));
  const invented = Array.from({ length: 8 }, (_, key) => slots.queue(`invented ${key}`, { isTrial: true }));
  expect(() => slots.queue('invented 8', { isTrial: true })).toThrow(expect.objectContaining({ code: 'OVERLOADED' }));
  for (const attempt of invented.slice(0, 2)) slots.limiter.leave(attempt, { kind: 'not-sent' });
  slots.queue('invented 9', { isTrial: true });
  slots.queueAll(['proven 7', 'proven 8']);
  expect([slots.limiter.queued, slots.limiter.sheds]).toEqual([16, 1]);
});

test('all unproven keys together take turns as one caller, and have at most half of the slots while others wait', async () => {
  const slots = new TestLimiter(4);
  for (let taken = 0; taken < 4; taken += 1) slots.take('x');
  for (let key = 0; key < 6; key += 1) slots.queue(`invented ${key}`, { isTrial: true });
  for (let call = 0; call < 3; call += 1) slots.queue('proven');
  for (let ended = 0; ended < 4; ended += 1) await slots.release('x');
  expect(slots.log).toEqual(['invented 0', 'proven', 'invented 1', 'proven']);
  await slots.release('proven');
  expect(slots.log.at(-1)).toBe('proven');
  // Each unproven key has its turn among them.
  await slots.release('proven');
  await slots.release('invented 0');
  expect(slots.log.slice(5)).toEqual(['invented 2', 'invented 3']);
});

test('a slot is given back for the caller that took it, although its key is proven meanwhile', async () => {
  const slots = new TestLimiter(2);
  const attempt = attemptOf('new', { isTrial: true });
  void slots.limiter.enter(attempt);
  attempt.isTrial = false;
  slots.limiter.leave(attempt, successAfter(10));
  slots.take('x');
  slots.take('y');
  slots.queue('invented', { isTrial: true });
  slots.queue('proven');
  await slots.release('x');
  expect(slots.log).toEqual(['invented']);
});

test('users of a tenant take turns within the turns of their tenant', async () => {
  const slots = new TestLimiter(4);
  for (let taken = 0; taken < 4; taken += 1) slots.take('other');
  for (let times = 0; times < 3; times += 1) slots.queue('acme', { user: 'busy' });
  slots.queue('acme', { user: 'calm' });
  slots.queue('globex', { user: 'only' });
  for (let times = 0; times < 5; times += 1)
    await slots.release(times < 2 ? 'other' : (slots.log[times - 2]?.split(' ')[0] ?? ''), 1);
  expect(slots.log).toEqual(['acme busy', 'globex only', 'acme calm', 'acme busy', 'acme busy']);
});

test('one user of a tenant has at most half of the places of the tenant', async () => {
  const slots = new TestLimiter(4);
  for (let taken = 0; taken < 4; taken += 1) slots.take('other');
  for (let times = 0; times < 8; times += 1) slots.queue('acme', { user: 'busy' });
  expect(() => slots.queue('acme', { user: 'busy' })).toThrow(UpstreamError);
  for (let times = 0; times < 8; times += 1) slots.queue('acme', { user: 'calm' });
  expect(() => slots.queue('acme', { user: 'third' })).toThrow(UpstreamError);
  slots.queue('globex', { user: 'only' });
  slots.limiter.flush(new UpstreamError('UPSTREAM_UNAVAILABLE'));
  await settled();
  expect(slots.limiter.queued).toBe(0);
});
