import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { PrimaryFunctions, WorkerFunctions } from '../../src/cluster/messages.ts';
import { RemoteLedger } from '../../src/cluster/primary-link.ts';
import { type ArgumentOf, Channel } from '../../src/cluster/rpc.ts';
import { BudgetCounts } from '../../src/rest/budget/budget-counts.ts';
import { CallBudget } from '../../src/rest/budget/call-budget.ts';
import { createLedger } from '../../src/rest/budget/create-ledger.ts';
import type { Ledger } from '../../src/rest/ledger.ts';
import { OperationCalls } from '../../src/rest/operation-calls.ts';
import { budgetOf, type Claim, claimIn, type Permit } from '../support/budgets.ts';

const settings = budgetOf({ rest: '3/60' });

type Told<Name extends keyof PrimaryFunctions> = ArgumentOf<PrimaryFunctions[Name]>;

/** A worker in the process of its primary: messages go both ways at once. */
class Worker {
  readonly budget: CallBudget;
  /** The number of calls in each of its messages. */
  readonly sent: number[] = [];

  constructor(ledger: Ledger) {
    const primary = new Channel<PrimaryFunctions>((batch) => {
      this.sent.push(batch.rpc.length);
      worker.receive(structuredClone(batch));
    }, {});
    const worker = new Channel<WorkerFunctions>((batch) => primary.receive(structuredClone(batch)), {
      reserve: (wants: Told<'reserve'>) => ledger.reserve(wants),
      endCall: ({ call, end }: Told<'endCall'>) => ledger.end(call, end),
      look: ({ account, surfaces }: Told<'look'>) => ledger.look(account, surfaces),
    });
    const ledgerOfWorker = new RemoteLedger(primary);
    const counts = new BudgetCounts();
    this.budget = new CallBudget({ ...settings, counts, maxInFlight: 10, usualMs: () => 0, ledger: ledgerOfWorker });
  }

  claim(operation?: OperationCalls): Claim {
    return claimIn(this.budget, {}, operation);
  }

  /** A call that has been let begin. */
  begin(): Promise<Permit> {
    return this.claim().permit;
  }

  async left(): Promise<unknown> {
    const outlooks = await this.budget.look({ key: 'key', subject: '' }, ['rest']);
    return outlooks.get('rest')?.[0]?.remaining;
  }
}

function startWorkers(): readonly [Worker, Worker] {
  const ledger = createLedger({ settings, operationDeadlineMs: 5000, upstreamUrl: 'http://upstream.test' });
  return [new Worker(ledger), new Worker(ledger)];
}

async function turns(count: number): Promise<void> {
  for (let left = count; left > 0; left -= 1) await nextTurn();
}

test('workers spend one budget, and one is refused what another has had', async () => {
  const [one, two] = startWorkers();
  (await one.begin()).end('proof');
  await Promise.all([one.begin(), two.begin()]);
  expect(await two.left()).toBe(0);
  await expect(two.begin()).rejects.toMatchObject({ code: 'RATE_LIMITED', upstream: { retryAfter: 60 } });
});

test('calls of one turn are one message', async () => {
  const [one] = startWorkers();
  await Promise.all([one.begin(), one.begin(), one.begin()]);
  expect(one.sent).toEqual([1]);
});

test('calls of one operation of a worker begin together, or none of them does', async () => {
  const [one, two] = startWorkers();
  await one.begin();
  const operations = [new OperationCalls(10), new OperationCalls(10)];
  const refused = operations.map((operation) => [1, 2].map(() => one.claim(operation).permit));
  const ends = await Promise.allSettled(refused.flat());
  expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected']);
  expect(await two.left()).toBe(0);
});

test('a call that is not sent after all, or that has left, is given back', async () => {
  const [one, two] = startWorkers();
  (await one.begin()).giveBack();
  const early = one.claim();
  early.leave();
  const late = one.claim();
  await nextTurn();
  late.leave();
  await turns(5);
  expect(await two.left()).toBe(3);
});

test('calls whose end a worker never reports count on, since the upstream may have them', async () => {
  const [one, two] = startWorkers();
  (await one.begin()).end('proof');
  await one.begin();
  await turns(5);
  expect(await two.left()).toBe(1);
});
