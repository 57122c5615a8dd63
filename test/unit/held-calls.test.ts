import { expect, test } from 'vitest';
import { EventLoopYield } from '../../src/event-loop-yield.ts';
import { operations } from '../../src/rest/generated/views.ts';
import type { Ledger, WantDecision } from '../../src/rest/ledger.ts';
import { OperationCalls } from '../../src/rest/operation-calls.ts';
import { OperationDeadline } from '../../src/rest/operation-deadline.ts';
import { UpstreamCall } from '../../src/rest/resilience/upstream-call.ts';
import { createUpstreamResources, type UpstreamResources } from '../../src/rest/resilience/upstream-resources.ts';
import { TransportError } from '../../src/rest/transport/transport.ts';
import { attemptOf, prove, successAfter } from '../support/attempts.ts';
import { budgetOf } from '../support/budgets.ts';

const operation = operations.listProjects;
const caller = { key: 'phx_test', sharingKey: 'hash', queueKey: 'hash' };

/** The way to an upstream that never answers, with a budget that keeps calls back until a test lets them begin. */
interface HeldUpstream {
  readonly upstream: UpstreamResources;
  /** The number of calls that have asked for a place. */
  readonly asked: () => number;
  /** How many calls were sent. */
  readonly sent: () => number;
  /** Decides on the call that asked last. */
  readonly decide: (decision: WantDecision) => void;
  /** So many milliseconds pass. */
  readonly pass: (milliseconds: number) => void;
}

function createHeldUpstream(): HeldUpstream {
  const decisions: ((decision: readonly WantDecision[]) => void)[] = [];
  let clock = performance.now();
  let sent = 0;
  const ledger: Ledger = {
    reserve: () => new Promise((resolve) => decisions.push(resolve)),
    end: () => undefined,
    drop: () => undefined,
    look: () => new Map(),
  };
  const limits = {
    connections: 10,
    maxInFlight: 10,
    maxBodyBytes: 1000,
    bodyRoomLimits: { operation: 1000, process: 1000 },
  };
  const upstream: UpstreamResources = {
    ...createUpstreamResources({
      ...{ ...limits, url: 'http://upstream.test', eventLoop: new EventLoopYield() },
      budget: { ...budgetOf({ rest: '1/60' }), ledger },
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
  const decide = (decision: WantDecision): void => decisions.at(-1)?.([decision]);
  return { upstream, asked: () => decisions.length, sent: () => sent, decide, pass };
}

/** A read of an operation, and how it ends. */
interface Read {
  readonly deadline: OperationDeadline;
  readonly ended: Promise<unknown>;
}

/** Starts a read of an operation that has so many milliseconds. */
function startRead(upstream: UpstreamResources, milliseconds: number): Read {
  const deadline = new OperationDeadline(milliseconds);
  const owner = { caller, calls: new OperationCalls(10), spans: undefined, hasSucceeded: false };
  const request = { operation, target: '/api/projects/', headers: {}, isWrite: false, decode: () => undefined };
  const call = new UpstreamCall(upstream, owner, request);
  const ended = call.join({ deadline, calls: owner.calls }).catch((error: unknown) => error);
  call.start();
  return { deadline, ended };
}

test.each([
  ['for longer than they were under way say nothing about the upstream', 4000, 500, 0],
  ['for less time than they were under way say that the upstream does not answer', 500, 4000, 3],
])('deadlines of calls that were kept back %s', async (_what, heldMs, flightMs, timeouts) => {
  const { upstream, asked, sent, decide, pass } = createHeldUpstream();
  for (let round = 1; round <= 3; round += 1) {
    const { deadline } = startRead(upstream, 60_000);
    await expect.poll(() => asked()).toBe(round);
    pass(heldMs);
    decide({ kind: 'begin', left: new Map() });
    await expect.poll(() => sent()).toBe(round);
    pass(flightMs);
    deadline.end('deadline');
    await new Promise(setImmediate);
  }
  const { failures } = upstream.reachability;
  expect(failures.find(({ reason }) => reason === 'TIMEOUT')?.count).toBe(timeouts);
});

test('a read waits for its place in the budget as long as enough time is left for a call, at least half of its own', async () => {
  const { upstream, asked, decide } = createHeldUpstream();
  const { limiter } = upstream;
  let reads = 0;
  /** The end of a read that has to wait for a million milliseconds, while calls usually take `tookMs`. */
  const ends = async (tookMs: number, turnMs: number): Promise<unknown> => {
    for (let call = 0; call < 200; call += 1) {
      const attempt = attemptOf(caller.queueKey);
      void limiter.enter(attempt);
      limiter.left(attempt, successAfter(tookMs));
    }
    const { deadline, ended } = startRead(upstream, 1_000_000);
    reads += 1;
    await expect.poll(() => asked()).toBe(reads);
    decide({ kind: 'wait', turnMs, surface: 'rest' });
    await new Promise(setImmediate);
    deadline.end('left');
    return ended;
  };
  const refused = expect.objectContaining({ code: 'RATE_LIMITED' }) as unknown;
  const waited = expect.objectContaining({ code: 'UPSTREAM_TIMEOUT' }) as unknown;
  expect([await ends(200_000, 680_000), await ends(200_000, 720_000)]).toEqual([waited, refused]);
  expect([await ends(900_000, 480_000), await ends(900_000, 520_000)]).toEqual([waited, refused]);
});
