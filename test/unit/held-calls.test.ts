import { expect, test } from 'vitest';
import { EventLoopYield } from '../../src/event-loop-yield.ts';
import type { CallBudget, Demand, Permit } from '../../src/rest/budget/call-budget.ts';
import { operations } from '../../src/rest/generated/views.ts';
import { OperationCalls } from '../../src/rest/operation-calls.ts';
import { OperationDeadline } from '../../src/rest/operation-deadline.ts';
import { UpstreamCall } from '../../src/rest/resilience/call.ts';
import { createUpstreamResources, type UpstreamResources } from '../../src/rest/resilience/upstream-resources.ts';
import { TransportError } from '../../src/rest/transport/transport.ts';
import { attemptOf, prove, successAfter } from '../support/attempts.ts';

const operation = operations.listProjects;
const caller = { key: 'phx_test', hash: 'hash', sharingKey: 'hash', queueKey: 'hash' };
const permit: Permit = { waited: true, left: 1, end: () => undefined, giveBack: () => undefined };

/** The way to an upstream that never answers, with a budget that keeps calls back until a test lets them begin. */
interface HeldUpstream {
  readonly upstream: UpstreamResources;
  readonly demands: readonly Demand[];
  /** How many calls were sent. */
  readonly sent: () => number;
  /** Lets the call that waits begin. */
  readonly begin: () => void;
  /** So many milliseconds pass. */
  readonly pass: (milliseconds: number) => void;
}

function createHeldUpstream(): HeldUpstream {
  const demands: Demand[] = [];
  let clock = performance.now();
  let sent = 0;
  let begin: (permit: Permit) => void = () => undefined;
  const callBudget: CallBudget = {
    claim: (demand) => {
      demands.push(demand);
      const { promise, resolve } = Promise.withResolvers<Permit>();
      begin = resolve;
      return { permit: promise, leave: () => undefined };
    },
    look: () => Promise.resolve(new Map()),
    covers: () => true,
    close: () => undefined,
  };
  const limits = {
    connections: 10,
    maxInFlight: 10,
    maxBodyBytes: 1000,
    bodyRoomLimits: { operation: 1000, process: 1000 },
  };
  const upstream: UpstreamResources = {
    ...createUpstreamResources({
      ...{ ...limits, callBudget, url: 'http://upstream.test', eventLoop: new EventLoopYield() },
      log: () => undefined,
    }),
    now: () => clock,
    transport: {
      send: (_call, listener) => {
        sent += 1;
        return {
          isWaiting: false,
          abort: () => process.nextTick(() => listener.failed(new TransportError('aborted'))),
        };
      },
      reroute: () => undefined,
      close: () => undefined,
    },
  };
  prove(upstream.keys, caller);
  const pass = (milliseconds: number): void => {
    clock += milliseconds;
  };
  return { upstream, demands, sent: () => sent, begin: () => begin(permit), pass };
}

/** Starts a read of an operation that has so many milliseconds. */
function startRead(upstream: UpstreamResources, milliseconds: number): OperationDeadline {
  const deadline = new OperationDeadline(milliseconds);
  const owner = { caller, calls: new OperationCalls(10), spans: undefined, hasSucceeded: false };
  const request = { operation, target: '/api/projects/', headers: {}, isWrite: false, decode: () => undefined };
  const call = new UpstreamCall(upstream, owner, request);
  call.join({ deadline, calls: owner.calls }).catch(() => undefined);
  call.start();
  return deadline;
}

test.each([
  ['for longer than they were under way say nothing about the upstream', 4000, 500, 0],
  ['for less time than they were under way say that the upstream does not answer', 500, 4000, 3],
])('deadlines of calls that were kept back %s', async (_what, heldMs, flightMs, timeouts) => {
  const { upstream, demands, sent, begin, pass } = createHeldUpstream();
  for (let round = 1; round <= 3; round += 1) {
    const deadline = startRead(upstream, 60_000);
    await expect.poll(() => demands).toHaveLength(round);
    pass(heldMs);
    begin();
    await expect.poll(() => sent()).toBe(round);
    pass(flightMs);
    deadline.end('deadline');
    await new Promise(setImmediate);
  }
  const { failures } = upstream.reachability;
  expect(failures.find(({ reason }) => reason === 'TIMEOUT')?.count).toBe(timeouts);
});

test('a read waits for its place in the budget as long as enough time is left for a call, at least half of its own', async () => {
  const { upstream, demands } = createHeldUpstream();
  const { limiter } = upstream;
  const usual = async (tookMs: number): Promise<Demand | undefined> => {
    for (let call = 0; call < 200; call += 1) {
      const attempt = attemptOf(caller.queueKey);
      void limiter.enter(attempt);
      limiter.left(attempt, successAfter(tookMs));
    }
    const before = demands.length;
    const deadline = startRead(upstream, 1_000_000);
    await expect.poll(() => demands).toHaveLength(before + 1);
    deadline.end('left');
    return demands.at(-1);
  };
  const about = (milliseconds: number): unknown =>
    expect.toSatisfy((waitMs: number) => Math.abs(waitMs - milliseconds) < 20_000);
  expect(await usual(200_000)).toMatchObject({ waitMs: about(700_000) });
  expect(await usual(900_000)).toMatchObject({ waitMs: about(500_000) });
});
