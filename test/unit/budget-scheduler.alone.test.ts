import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { BudgetScheduler } from '../../src/rest/budget/budget-scheduler.ts';
import type { Claim, Demand, Permit } from '../../src/rest/budget/call-budget.ts';
import { LocalLedger } from '../../src/rest/budget/local-ledger.ts';
import type { BudgetSettings } from '../../src/rest/budget/settings.ts';
import { UpstreamError } from '../../src/rest/errors.ts';
import { budgetOf } from '../support/budgets.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'performance'] }));
afterEach(() => void vi.useRealTimers());

/** A scheduler on the fake clock that notes who began, in order. */
class TestScheduler {
  readonly begun: string[] = [];
  readonly permits: Permit[] = [];
  readonly failed: string[] = [];
  readonly scheduler: BudgetScheduler;

  constructor(settings: BudgetSettings, maxInFlight = 25) {
    const ledger = new LocalLedger({ ...settings, longestCallMs: 10_000, gateways: 1 });
    this.scheduler = new BudgetScheduler({ ...settings, ledger, maxInFlight });
  }

  claim(name: string, demand: Partial<Demand> = {}, operation: object = {}): Claim {
    const whole = {
      key: 'key',
      surface: 'rest',
      queueKey: 'key',
      subject: '',
      waitMs: 5000,
      isBackground: false,
    } as const;
    const claim = this.scheduler.claim({ ...whole, ...demand }, operation);
    claim.permit.then(
      (permit) => {
        this.begun.push(name);
        this.permits.push(permit);
      },
      (error: unknown) => {
        const { code, upstream } = error instanceof UpstreamError ? error : {};
        this.failed.push(`${name} ${code} ${upstream?.retryAfter ?? '-'}`);
      },
    );
    return claim;
  }

  /** A call that has succeeded: the key is proven. */
  async prove(key = 'key'): Promise<void> {
    this.claim('first', { key });
    await vi.advanceTimersByTimeAsync(0);
    this.permits.pop()?.end('proof');
    this.begun.length = 0;
  }
}

test('the calls that are left go to callers in turn, and to the users of each in turn', async () => {
  const scheduler = new TestScheduler(budgetOf({ rest: '5/60' }));
  await scheduler.prove();
  for (const name of ['a1', 'a2', 'a3']) scheduler.claim(name, { queueKey: 'a' });
  scheduler.claim('b1', { queueKey: 'b', subject: 'ada' });
  scheduler.claim('b2', { queueKey: 'b', subject: 'ada' });
  scheduler.claim('b3', { queueKey: 'b', subject: 'bob' });
  await vi.advanceTimersByTimeAsync(0);
  expect(scheduler.begun).toEqual(['a1', 'b1', 'a2', 'b3']);
  expect(scheduler.failed.toSorted()).toEqual(['a3 RATE_LIMITED 60', 'b2 RATE_LIMITED 60']);
});

test('a caller that had a turn comes behind the others when calls wait', async () => {
  const scheduler = new TestScheduler(budgetOf({ rest: '1/1' }));
  await scheduler.prove();
  for (const name of ['a1', 'a2']) scheduler.claim(name, { queueKey: 'a' });
  for (const name of ['b1', 'b2']) scheduler.claim(name, { queueKey: 'b' });
  for (let second = 1; second <= 4; second += 1) {
    await vi.advanceTimersByTimeAsync(1010);
    scheduler.permits.pop()?.end('proof');
  }
  expect(scheduler.begun).toEqual(['a1', 'b1', 'a2', 'b2']);
});

test('a call that has to wait for more than an hour is told for how long', async () => {
  const scheduler = new TestScheduler(budgetOf({ rest: '2/86400' }));
  await scheduler.prove();
  for (const name of ['second', 'third']) scheduler.claim(name);
  await vi.advanceTimersByTimeAsync(0);
  expect([scheduler.begun, scheduler.failed]).toEqual([['second'], ['third RATE_LIMITED 86400']]);
});

test('a call that has left takes nothing from those behind it', async () => {
  const scheduler = new TestScheduler(budgetOf({ rest: '1/1' }));
  await scheduler.prove();
  const { leave } = scheduler.claim('left');
  scheduler.claim('behind');
  await vi.advanceTimersByTimeAsync(0);
  leave();
  await vi.advanceTimersByTimeAsync(1010);
  expect(scheduler.begun).toEqual(['behind']);
  expect(scheduler.failed).toEqual(['left OVERLOADED -']);
});

test('a call that was not sent after all leaves its place to the next at once', async () => {
  const scheduler = new TestScheduler(budgetOf({ rest: '2/60' }));
  await scheduler.prove();
  scheduler.claim('unsent');
  await vi.advanceTimersByTimeAsync(0);
  scheduler.permits.pop()?.giveBack();
  scheduler.claim('next');
  await vi.advanceTimersByTimeAsync(0);
  expect(scheduler.begun).toEqual(['unsent', 'next']);
});

test('a background call leaves the last fifth of a window to others, and does not wait', async () => {
  const scheduler = new TestScheduler(budgetOf({ rest: '5/60' }));
  await scheduler.prove();
  for (const name of ['m2', 'm3', 'm4', 'm5']) scheduler.claim(name, { isBackground: true });
  scheduler.claim('last');
  await vi.advanceTimersByTimeAsync(0);
  expect(scheduler.begun).toEqual(['m2', 'm3', 'm4', 'last']);
  expect(scheduler.failed).toEqual(['m5 RATE_LIMITED 60']);
});

test('calls of one operation begin together over all surfaces, or none of them does', async () => {
  const scheduler = new TestScheduler(budgetOf({ rest: '5/60', events: '1/60' }));
  await scheduler.prove();
  const both = {};
  for (const name of ['a1', 'a2']) scheduler.claim(name, {}, both);
  for (const name of ['e1', 'e2']) scheduler.claim(name, { surface: 'events' }, both);
  scheduler.claim('other');
  await vi.advanceTimersByTimeAsync(0);
  expect([scheduler.begun, scheduler.failed]).toEqual([
    ['other'],
    ['a1', 'a2', 'e1', 'e2'].map((name) => `${name} RATE_LIMITED -`),
  ]);
  const fits = {};
  scheduler.claim('b1', {}, fits);
  scheduler.claim('e3', { surface: 'events' }, fits);
  await vi.advanceTimersByTimeAsync(0);
  expect(scheduler.begun.slice(1)).toEqual(['b1', 'e3']);
});

test('calls that wait for one another are passed by none that come later', async () => {
  const scheduler = new TestScheduler(budgetOf({ rest: '3/1' }));
  await scheduler.prove();
  scheduler.claim('second');
  await vi.advanceTimersByTimeAsync(500);
  scheduler.permits.pop()?.end('proof');
  const three = {};
  for (const name of ['a1', 'a2', 'a3']) scheduler.claim(name, {}, three);
  await vi.advanceTimersByTimeAsync(0);
  scheduler.claim('small');
  await vi.advanceTimersByTimeAsync(900);
  expect(scheduler.begun).toEqual(['second']);
  await vi.advanceTimersByTimeAsync(110);
  expect(scheduler.begun).toEqual(['second', 'a1', 'a2', 'a3']);
});

test('an operation that waits for the share of its user keeps no other user waiting', async () => {
  const scheduler = new TestScheduler(budgetOf({ rest: '10/1' }, { share: 20 }));
  await scheduler.prove();
  scheduler.claim('a1', { subject: 'ada' });
  await vi.advanceTimersByTimeAsync(0);
  const two = {};
  for (const name of ['a2', 'a3']) scheduler.claim(name, { subject: 'ada' }, two);
  await vi.advanceTimersByTimeAsync(0);
  for (const name of ['b1', 'b2']) scheduler.claim(name, { subject: 'bob' });
  await vi.advanceTimersByTimeAsync(0);
  expect(scheduler.begun).toEqual(['a1', 'b1', 'b2']);
});

test('more calls than may wait are refused, and of one caller more than half of them', async () => {
  const scheduler = new TestScheduler(budgetOf({ rest: '1/1' }), 1);
  await scheduler.prove();
  for (const name of ['a1', 'a2', 'a3']) scheduler.claim(name, { queueKey: 'a' });
  for (const name of ['b1', 'b2']) scheduler.claim(name, { queueKey: 'b' });
  scheduler.claim('c1', { queueKey: 'c' });
  await vi.advanceTimersByTimeAsync(0);
  expect(scheduler.failed).toEqual(['a3 OVERLOADED 1', 'c1 OVERLOADED 1']);
});

test('of one user of a tenant no more calls wait than a quarter', async () => {
  const scheduler = new TestScheduler(budgetOf({ rest: '1/1' }), 2);
  await scheduler.prove();
  for (const name of ['a1', 'a2', 'a3']) scheduler.claim(name, { subject: 'ada' });
  scheduler.claim('b1', { subject: 'bob' });
  await vi.advanceTimersByTimeAsync(0);
  expect(scheduler.failed).toEqual(['a3 OVERLOADED 1']);
});

test('nothing runs on once no call waits', async () => {
  const scheduler = new TestScheduler(budgetOf({ rest: '1/1' }));
  await scheduler.prove();
  const { leave } = scheduler.claim('left');
  scheduler.claim('begins');
  await vi.advanceTimersByTimeAsync(0);
  expect(vi.getTimerCount()).toBe(1);
  leave();
  await vi.advanceTimersByTimeAsync(1010);
  expect([scheduler.begun, vi.getTimerCount()]).toEqual([['begins'], 0]);
});
