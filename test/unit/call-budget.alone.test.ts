import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { BudgetCounts } from '../../src/rest/budget/budget-counts.ts';
import { CallBudget } from '../../src/rest/budget/call-budget.ts';
import { LocalLedger } from '../../src/rest/budget/local-ledger.ts';
import type { BudgetSettings } from '../../src/rest/budget/settings.ts';
import { UpstreamError } from '../../src/rest/errors.ts';
import { OperationCalls } from '../../src/rest/operation-calls.ts';
import { budgetOf, type Claim, claimIn, type Demand, type Permit } from '../support/budgets.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'performance'] }));
afterEach(() => void vi.useRealTimers());

/** A budget on the fake clock that notes who began, in order. */
class TestBudget {
  readonly begun: string[] = [];
  readonly permits: Permit[] = [];
  readonly failed: string[] = [];
  readonly #budget: CallBudget;

  constructor(settings: BudgetSettings, maxInFlight = 25) {
    const ledger = new LocalLedger({ ...settings, longestCallMs: 10_000, gateways: 1 });
    this.#budget = new CallBudget({ ...settings, ledger, counts: new BudgetCounts(), maxInFlight, usualMs: () => 0 });
  }

  claim(name: string, demand: Partial<Demand> = {}, operation?: OperationCalls): Claim {
    const claim = claimIn(this.#budget, demand, operation);
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
  const budget = new TestBudget(budgetOf({ rest: '5/60' }));
  await budget.prove();
  for (const name of ['a1', 'a2', 'a3']) budget.claim(name, { queueKey: 'a' });
  budget.claim('b1', { queueKey: 'b', subject: 'ada' });
  budget.claim('b2', { queueKey: 'b', subject: 'ada' });
  budget.claim('b3', { queueKey: 'b', subject: 'bob' });
  await vi.advanceTimersByTimeAsync(0);
  expect(budget.begun).toEqual(['a1', 'b1', 'a2', 'b3']);
  expect(budget.failed.toSorted()).toEqual(['a3 RATE_LIMITED 60', 'b2 RATE_LIMITED 60']);
});

test('of a budget that all keys share, all unproven keys together take turns as one caller, and half of the places', async () => {
  const budget = new TestBudget(budgetOf({ rest: '3/60' }, { scope: 'all' }), 2);
  await budget.prove();
  for (let key = 0; key < 5; key += 1) budget.claim(`invented ${key}`, { queueKey: `invented ${key}`, isTrial: true });
  for (const name of ['a1', 'a2', 'a3']) budget.claim(name, { queueKey: 'a' });
  await vi.advanceTimersByTimeAsync(0);
  expect(budget.begun).toEqual(['invented 0', 'a1']);
  expect(budget.failed.filter((failure) => failure.includes('OVERLOADED'))).toEqual(['invented 4 OVERLOADED 1']);
});

test('of a budget for each key, all unproven keys together have half of the places', async () => {
  const budget = new TestBudget(budgetOf({ rest: '5/60' }), 2);
  await budget.prove();
  for (let nth = 0; nth < 10; nth += 1) {
    const key = `invented ${nth}`;
    budget.claim(key, { key, queueKey: key, isTrial: true });
  }
  budget.claim('proven');
  await vi.advanceTimersByTimeAsync(0);
  expect(budget.begun).toEqual(['invented 0', 'invented 1', 'invented 2', 'invented 3', 'proven']);
  expect(budget.failed).toHaveLength(6);
});

test('a caller that had a turn comes behind the others when calls wait', async () => {
  const budget = new TestBudget(budgetOf({ rest: '1/1' }));
  await budget.prove();
  for (const name of ['a1', 'a2']) budget.claim(name, { queueKey: 'a' });
  for (const name of ['b1', 'b2']) budget.claim(name, { queueKey: 'b' });
  for (let second = 1; second <= 4; second += 1) {
    await vi.advanceTimersByTimeAsync(1010);
    budget.permits.pop()?.end('proof');
  }
  expect(budget.begun).toEqual(['a1', 'b1', 'a2', 'b2']);
});

test('a call that has to wait for more than an hour is told for how long', async () => {
  const budget = new TestBudget(budgetOf({ rest: '2/86400' }));
  await budget.prove();
  for (const name of ['second', 'third']) budget.claim(name);
  await vi.advanceTimersByTimeAsync(0);
  expect([budget.begun, budget.failed]).toEqual([['second'], ['third RATE_LIMITED 86400']]);
});

test('a call that has left takes nothing from those behind it', async () => {
  const budget = new TestBudget(budgetOf({ rest: '1/1' }));
  await budget.prove();
  const { leave } = budget.claim('left');
  budget.claim('behind');
  await vi.advanceTimersByTimeAsync(0);
  leave();
  await vi.advanceTimersByTimeAsync(1010);
  expect([budget.begun, budget.failed]).toEqual([['behind'], []]);
});

test('a call that was not sent after all leaves its place to the next at once', async () => {
  const budget = new TestBudget(budgetOf({ rest: '2/60' }));
  await budget.prove();
  budget.claim('unsent');
  await vi.advanceTimersByTimeAsync(0);
  budget.permits.pop()?.giveBack();
  budget.claim('next');
  await vi.advanceTimersByTimeAsync(0);
  expect(budget.begun).toEqual(['unsent', 'next']);
});

test('a background call leaves the last fifth of a window to others, and does not wait', async () => {
  const budget = new TestBudget(budgetOf({ rest: '5/60' }));
  await budget.prove();
  for (const name of ['m2', 'm3', 'm4', 'm5']) budget.claim(name, { isBackground: true });
  budget.claim('last');
  await vi.advanceTimersByTimeAsync(0);
  expect(budget.begun).toEqual(['m2', 'm3', 'm4', 'last']);
  expect(budget.failed).toEqual(['m5 RATE_LIMITED 60']);
});

test('calls of one operation begin together over all surfaces, or none of them does', async () => {
  const budget = new TestBudget(budgetOf({ rest: '5/60', events: '1/60' }));
  await budget.prove();
  const both = new OperationCalls(10);
  for (const name of ['a1', 'a2']) budget.claim(name, {}, both);
  for (const name of ['e1', 'e2']) budget.claim(name, { surface: 'events' }, both);
  budget.claim('other');
  await vi.advanceTimersByTimeAsync(0);
  expect([budget.begun, budget.failed]).toEqual([
    ['other'],
    ['a1', 'a2', 'e1', 'e2'].map((name) => `${name} RATE_LIMITED -`),
  ]);
  const fits = new OperationCalls(10);
  budget.claim('b1', {}, fits);
  budget.claim('e3', { surface: 'events' }, fits);
  await vi.advanceTimersByTimeAsync(0);
  expect(budget.begun.slice(1)).toEqual(['b1', 'e3']);
});

test('calls that wait for one another are passed by none that come later', async () => {
  const budget = new TestBudget(budgetOf({ rest: '3/1' }));
  await budget.prove();
  budget.claim('second');
  await vi.advanceTimersByTimeAsync(500);
  budget.permits.pop()?.end('proof');
  const three = new OperationCalls(10);
  for (const name of ['a1', 'a2', 'a3']) budget.claim(name, {}, three);
  await vi.advanceTimersByTimeAsync(0);
  budget.claim('small');
  await vi.advanceTimersByTimeAsync(900);
  expect(budget.begun).toEqual(['second']);
  await vi.advanceTimersByTimeAsync(110);
  expect(budget.begun).toEqual(['second', 'a1', 'a2', 'a3']);
});

test('a background call that a client has joined waits in one queue with calls that come later', async () => {
  const reserve = vi.spyOn(LocalLedger.prototype, 'reserve');
  const budget = new TestBudget(budgetOf({ rest: '2/1' }));
  await budget.prove();
  budget.claim('second');
  await vi.advanceTimersByTimeAsync(0);
  budget.claim('refresh', { isBackground: true }).join();
  await vi.advanceTimersByTimeAsync(10);
  budget.claim('late');
  await vi.advanceTimersByTimeAsync(10);
  expect(reserve.mock.lastCall?.[0]).toHaveLength(2);
});

test('an operation that waits for the share of its user keeps no other user waiting', async () => {
  const budget = new TestBudget(budgetOf({ rest: '10/1' }, { share: 20 }));
  await budget.prove();
  budget.claim('a1', { subject: 'ada' });
  await vi.advanceTimersByTimeAsync(0);
  const two = new OperationCalls(10);
  for (const name of ['a2', 'a3']) budget.claim(name, { subject: 'ada' }, two);
  await vi.advanceTimersByTimeAsync(0);
  for (const name of ['b1', 'b2']) budget.claim(name, { subject: 'bob' });
  await vi.advanceTimersByTimeAsync(0);
  expect(budget.begun).toEqual(['a1', 'b1', 'b2']);
});

test('more calls than may wait are refused, and of one caller more than half of them', async () => {
  const budget = new TestBudget(budgetOf({ rest: '1/1' }), 1);
  await budget.prove();
  for (const name of ['a1', 'a2', 'a3']) budget.claim(name, { queueKey: 'a' });
  for (const name of ['b1', 'b2']) budget.claim(name, { queueKey: 'b' });
  budget.claim('c1', { queueKey: 'c' });
  await vi.advanceTimersByTimeAsync(0);
  expect(budget.failed).toEqual(['a3 OVERLOADED 1', 'c1 OVERLOADED 1']);
});

test('of one user of a tenant no more calls wait than a quarter', async () => {
  const budget = new TestBudget(budgetOf({ rest: '1/1' }), 2);
  await budget.prove();
  for (const name of ['a1', 'a2', 'a3']) budget.claim(name, { subject: 'ada' });
  budget.claim('b1', { subject: 'bob' });
  await vi.advanceTimersByTimeAsync(0);
  expect(budget.failed).toEqual(['a3 OVERLOADED 1']);
});

test('nothing runs on once no call waits', async () => {
  const budget = new TestBudget(budgetOf({ rest: '1/1' }));
  await budget.prove();
  const { leave } = budget.claim('left');
  budget.claim('begins');
  await vi.advanceTimersByTimeAsync(0);
  expect(vi.getTimerCount()).toBe(1);
  leave();
  await vi.advanceTimersByTimeAsync(1010);
  expect([budget.begun, vi.getTimerCount()]).toEqual([['begins'], 0]);
});
