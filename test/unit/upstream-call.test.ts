import { expect, onTestFinished, test, vi } from 'vitest';
import { EventLoopYield } from '../../src/event-loop-yield.ts';
import { DriftWatch } from '../../src/rest/drift/drift-watch.ts';
import { operations } from '../../src/rest/generated/views.ts';
import type { Ledger, WantDecision } from '../../src/rest/ledger.ts';
import type { OperationCalls } from '../../src/rest/operation-calls.ts';
import { OperationDeadline } from '../../src/rest/operation-deadline.ts';
import type { CallResult } from '../../src/rest/resilience/gate.ts';
import { UpstreamCall } from '../../src/rest/resilience/upstream-call.ts';
import { createUpstreamResources, type UpstreamResources } from '../../src/rest/resilience/upstream-resources.ts';
import type { CallSpans } from '../../src/rest/rest-run.ts';
import { TransportError } from '../../src/rest/transport/transport.ts';
import { attemptOf, lostAfter, prove, successAfter } from '../support/attempts.ts';
import { budgetOf, gateOf, localBudget } from '../support/budgets.ts';
import * as rows from '../support/rows.ts';
import { runOf } from '../support/runs.ts';
import { until } from '../support/until.ts';

const endpoint = operations.listProjects;
const caller = { key: 'phx_test', sharingKey: 'hash', queueKey: 'hash' };
const request = { endpoint, target: '/api/projects/', headers: {}, isWrite: false, decode: () => undefined };

/** The options of an upstream that never answers. */
interface SilentOptions {
  readonly slots?: number;
  readonly budget?: Parameters<typeof gateOf>[0] | undefined;
  /** True if there is never a connection to it. */
  readonly isUnconnected?: boolean;
}

interface SilentUpstream extends UpstreamResources {
  /** The number of calls that were sent. */
  readonly sent: () => number;
}

/** The way to an upstream that knows the caller and never answers again. */
function createSilentUpstream(options: SilentOptions = {}): SilentUpstream {
  const { slots = 1, budget, isUnconnected = false } = options;
  const upstream = createUpstreamResources({
    url: 'http://upstream.test',
    connections: slots,
    maxInFlight: slots,
    bodyRoomLimits: { operation: 1000, process: 1000 },
    eventLoop: new EventLoopYield(),
    log: () => undefined,
    limits: budget && gateOf(budget, () => upstream.limiter.meanMs),
  });
  prove(upstream.keys, caller);
  let sent = 0;
  return {
    ...upstream,
    sent: () => sent,
    transport: {
      send: (_call, listener) => {
        sent += 1;
        return {
          isWaiting: isUnconnected,
          abort: () => process.nextTick(() => listener.failed(new TransportError('aborted'))),
        };
      },
      reroute: () => undefined,
      close: () => undefined,
    },
  };
}

/** A read that an operation waits for. */
interface Read {
  readonly ended: Promise<unknown>;
  readonly calls: OperationCalls;
  /** Ends the operation. */
  readonly leave: () => void;
  /** Ends it by its deadline. */
  readonly expire: () => void;
}

/** Starts a read of an operation that has so many milliseconds. */
function startRead(upstream: UpstreamResources, milliseconds = 5000): Read {
  const deadline = new OperationDeadline(milliseconds);
  const run = runOf(caller, { deadline });
  const call = new UpstreamCall(upstream, run, request);
  const ended = call.join(run).catch((error: unknown) => error);
  call.start();
  return { ended, calls: run.calls, leave: () => deadline.end('left'), expire: () => deadline.end('deadline') };
}

function timeoutsOf({ reachability }: UpstreamResources): number | undefined {
  return reachability.failures.find(({ reason }) => reason === 'TIMEOUT')?.count;
}

async function microtasks(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await Promise.resolve();
}

test.each([0, 1, 2, 3, 4])('a call given up %i microtasks after its slot came keeps no slot', async (count) => {
  const upstream = createSilentUpstream();
  const another = attemptOf('another');
  void upstream.limiter.enter(another);
  const read = startRead(upstream);
  await microtasks(4);
  expect(upstream.limiter.queued).toBe(1);
  upstream.limiter.leave(another, successAfter(1));
  await microtasks(count);
  read.leave();
  await read.ended;
  await new Promise(setImmediate);
  expect(upstream.limiter.inFlight).toBe(0);
});

test.each([0, 1, 2, 3, 4])(
  'a probe given up %i microtasks after it was let in keeps no slot and no other probe back',
  async (count) => {
    const upstream = createSilentUpstream();
    const { breakers, limiter } = upstream;
    while (!breakers.isOpen) breakers.leave(attemptOf('hash'), lostAfter(0));
    const read = startRead(upstream);
    await microtasks(count);
    read.leave();
    await read.ended;
    await new Promise(setImmediate);
    expect(limiter.inFlight).toBe(0);
    const next = attemptOf('c');
    breakers.enter(next);
    expect(next.isUrgent).toBe(true);
    breakers.leave(next, { kind: 'not-sent' });
  },
);

test('what has arrived and waits to be read says nothing against the upstream when its deadline passes', async () => {
  const silent = createSilentUpstream({ slots: 100 });
  let released = 0;
  const response = {
    status: 200,
    headers: {},
    body: Buffer.alloc(100_000, '1'),
    release: () => {
      released += 1;
    },
  };
  const upstream: UpstreamResources = {
    ...silent,
    transport: {
      ...silent.transport,
      send: (_call, listener) => {
        process.nextTick(() => listener.responded(response));
        return { isWaiting: false, abort: () => undefined };
      },
    },
  };
  // It is the turn of something else.
  upstream.eventLoop.doLater(() => undefined, 0);
  const reads = Array.from({ length: 60 }, () => startRead(upstream));
  await microtasks(1);
  await new Promise((resolve) => {
    process.nextTick(resolve);
  });
  for (const { expire } of reads) expire();
  const errors = await Promise.all(reads.map(({ ended }) => ended));
  expect(errors).toEqual(reads.map(() => expect.objectContaining({ code: 'OVERLOADED' }) as unknown));
  expect(released).toBeGreaterThanOrEqual(60);
  expect(upstream.breakers.isOpen).toBe(false);
  expect(upstream.reachability.state.kind).toBe('unknown');
});

test('a call that is given up while it waits for a connection is taken back, unless its deadline has passed', async () => {
  const budget = localBudget(budgetOf({ rest: '10/60' }));
  const upstream = createSilentUpstream({ slots: 10, budget, isUnconnected: true });
  const startedAt = performance.now();
  const reads = [startRead(upstream), startRead(upstream)];
  await until(() => reads.every(({ calls }) => calls.made === 1));
  // A timeout counts once the upstream has had a call for as long as it was held back here.
  const madeAt = performance.now();
  await until(() => performance.now() - madeAt >= madeAt - startedAt);
  reads[0]?.leave();
  reads[1]?.expire();
  await Promise.all(reads.map(({ ended }) => ended));
  await new Promise(setImmediate);
  expect(reads.map(({ calls }) => calls.made)).toEqual([0, 1]);
  const looked = await budget.ledger.look({ key: caller.sharingKey, subject: '' }, ['rest']);
  expect(looked.get('rest')).toMatchObject([[{ remaining: 9 }]]);
  expect(upstream.counts.byOutcome).toMatchObject([{ outcome: 'aborted', count: 1 }]);
  expect(timeoutsOf(upstream)).toBe(1);
  expect(upstream.limiter.inFlight).toBe(0);
});

/** An upstream whose budget keeps calls back until a test lets them begin. */
interface HeldUpstream {
  readonly upstream: SilentUpstream;
  /** The number of calls that have asked for a place. */
  readonly asked: () => number;
  /** Decides on the call that asked last. */
  readonly decide: (decision: WantDecision) => void;
  /** Lets so many milliseconds pass. */
  readonly pass: (milliseconds: number) => void;
}

function createHeldUpstream(): HeldUpstream {
  const decisions: ((decision: readonly WantDecision[]) => void)[] = [];
  const clock = performance.now.bind(performance);
  let passed = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => clock() + passed);
  onTestFinished(() => void vi.restoreAllMocks());
  const ledger: Ledger = {
    reserve: () => new Promise((resolve) => decisions.push(resolve)),
    end: () => undefined,
    look: () => new Map(),
  };
  const budget = { ...budgetOf({ rest: '1/60' }), ledger };
  const pass = (milliseconds: number): void => {
    passed += milliseconds;
  };
  const upstream = createSilentUpstream({ slots: 10, budget });
  return { upstream, asked: () => decisions.length, decide: (decision) => decisions.at(-1)?.([decision]), pass };
}

test.each([
  ['for longer than they were under way say nothing about the upstream', 4000, 500, 0],
  ['for less time than they were under way say that the upstream does not answer', 500, 4000, 3],
])('deadlines of calls that were kept back %s', async (_what, heldMs, flightMs, timeouts) => {
  const { upstream, asked, decide, pass } = createHeldUpstream();
  for (let round = 1; round <= 3; round += 1) {
    const { expire } = startRead(upstream, 60_000);
    await until(() => asked() === round);
    pass(heldMs);
    decide({ kind: 'begin' });
    await until(() => upstream.sent() === round);
    pass(flightMs);
    expire();
    await new Promise(setImmediate);
  }
  expect(timeoutsOf(upstream)).toBe(timeouts);
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
      limiter.leave(attempt, successAfter(tookMs));
    }
    const { leave, ended } = startRead(upstream, 1_000_000);
    reads += 1;
    await until(() => asked() === reads);
    decide({ kind: 'wait', turnMs, surface: 'rest' });
    await new Promise(setImmediate);
    leave();
    return ended;
  };
  const refused = expect.objectContaining({ code: 'RATE_LIMITED' }) as unknown;
  const waited = expect.objectContaining({ code: 'UPSTREAM_TIMEOUT' }) as unknown;
  expect([await ends(200_000, 680_000), await ends(200_000, 720_000)]).toEqual([waited, refused]);
  expect([await ends(900_000, 480_000), await ends(900_000, 520_000)]).toEqual([waited, refused]);
});

test('a retry is counted once, also if its connection turns out to be closed and it is sent anew', async () => {
  const faults = ['network', 'stale-socket', 'network'] as const;
  const silent = createSilentUpstream();
  let sent = 0;
  const upstream: UpstreamResources = {
    ...silent,
    transport: {
      ...silent.transport,
      send: (_call, listener) => {
        const error = new TransportError(faults[sent] ?? 'invalid');
        sent += 1;
        setImmediate(() => listener.failed(error));
        return { isWaiting: false, abort: () => undefined };
      },
    },
  };
  await startRead(upstream).ended;
  expect([sent, upstream.retries.sent]).toEqual([3, 1]);
});

/** The way to an upstream that loses its first connection after ten milliseconds, and never answers the retry. */
function createLosingUpstream(): SilentUpstream {
  const silent = createSilentUpstream();
  const send: UpstreamResources['transport']['send'] = (call, listener) => {
    const sent = silent.transport.send(call, listener);
    if (silent.sent() === 1) setTimeout(() => listener.failed(new TransportError('network')), 10);
    return sent;
  };
  return { ...silent, transport: { ...silent.transport, send } };
}

test('a deadline that passes before an attempt fails is no timeout of its retry', async () => {
  const upstream = createLosingUpstream();
  const [overdue, patient] = [new OperationDeadline(5000), new OperationDeadline(5000)];
  const run = runOf(caller, { deadline: patient });
  const call = new UpstreamCall(upstream, run, request);
  const ended = Promise.allSettled([call.join(run), call.join(runOf(caller, { deadline: overdue }))]);
  call.start();
  overdue.end('deadline');
  await until(() => upstream.sent() === 2);
  patient.end('left');
  await ended;
  await new Promise(setImmediate);
  expect(timeoutsOf(upstream)).toBe(0);
});

test.each([
  ['shorter than its delay is no timeout', 0, 0],
  ['longer than its delay is a timeout', 1000, 1],
])('the deadline of a retry that was under way %s', async (_what, flightMs, timeouts) => {
  const upstream = createLosingUpstream();
  const { ended, expire } = startRead(upstream);
  await until(() => upstream.sent() === 2);
  vi.spyOn(performance, 'now').mockReturnValue(performance.now() + flightMs);
  onTestFinished(() => void vi.restoreAllMocks());
  expire();
  await ended;
  await new Promise(setImmediate);
  expect(timeoutsOf(upstream)).toBe(timeouts);
});

test('until its retry is sent, a call is in the trace of the attempt that failed', async () => {
  const upstream = createLosingUpstream();
  let hasFailed = false;
  const begin: CallSpans['begin'] = (_operation, resends) => ({
    trace: { traceparent: `attempt ${resends}` },
    answered: () => undefined,
    failed: () => {
      hasFailed = true;
    },
  });
  const deadline = new OperationDeadline(5000);
  const run = runOf(caller, { deadline, spans: { begin, share: () => undefined } });
  const call = new UpstreamCall(upstream, run, request);
  const ended = call.join(run).catch((error: unknown) => error);
  call.start();
  await until(() => hasFailed);
  expect([upstream.sent(), call.trace]).toEqual([1, { traceparent: 'attempt 0' }]);
  await until(() => upstream.sent() === 2);
  expect(call.trace).toEqual({ traceparent: 'attempt 1' });
  deadline.end('left');
  await ended;
});

/** The way to an upstream that knows the caller and answers `{}` at once. */
function createPromptUpstream(): UpstreamResources {
  const silent = createSilentUpstream();
  const response = { status: 200, headers: {}, body: Buffer.from('{}'), release: () => undefined };
  const send: UpstreamResources['transport']['send'] = (_call, listener) => {
    process.nextTick(() => listener.responded(response));
    return { isWaiting: false, abort: () => undefined };
  };
  return { ...silent, transport: { ...silent.transport, send } };
}

test('a call whose answer cannot be compared with the OpenAPI document is settled once, and its waiter has the value', async () => {
  const logged: string[] = [];
  const drift = new DriftWatch(1, (_level, message) => logged.push(message));
  const upstream: UpstreamResources = { ...createPromptUpstream(), drift };
  const row = rows.plugin(1);
  const results: CallResult[] = [];
  const run = runOf(caller);
  const call = new UpstreamCall(upstream, run, {
    ...request,
    endpoint: operations.getPlugin,
    target: '/api/organizations/%/plugins/1/',
    decode: () => row,
    onResult: (result) => void results.push(result),
  });
  const ended = call.join(run);
  call.start();
  expect(await ended).toBe(row);
  expect(results).toMatchObject([{ value: row }]);
  expect(logged).toEqual(['an answer of the upstream could not be compared with the OpenAPI document']);
});

test('a call whose settling throws fails at once', async () => {
  const run = runOf(caller);
  const fault = new Error('a fault of the cache');
  const call = new UpstreamCall(createPromptUpstream(), run, {
    ...request,
    onResult: (result) => {
      if (!('error' in result)) throw fault;
      return undefined;
    },
  });
  const ended = call.join(run);
  call.start();
  await expect(ended).rejects.toBe(fault);
});
