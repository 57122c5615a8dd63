import { once } from 'node:events';
import { expect, test, vi } from 'vitest';
import { type Batch, Channel } from '../../src/cluster/rpc.ts';
import { addEnded, totalsOf } from '../../src/cluster/totals.ts';
import { createRestarts } from '../../src/cluster/worker-handle.ts';
import { EventLoopYield } from '../../src/event-loop-yield.ts';
import { BudgetCounts } from '../../src/rest/budget/budget-counts.ts';
import { durationBounds } from '../../src/rest/call-counts.ts';
import { DriftWatch } from '../../src/rest/drift/drift-watch.ts';
import { operations } from '../../src/rest/generated/views.ts';
import { createUpstreamResources, type UpstreamResources } from '../../src/rest/resilience/upstream-resources.ts';
import { Tally } from '../../src/tally.ts';
import { createMetrics, createPrimaryMetrics, type Metrics, type Snapshot } from '../../src/telemetry/metrics.ts';
import { attemptOf, lostAfter } from '../support/attempts.ts';
import { reportOf } from '../support/reports.ts';
import * as rows from '../support/rows.ts';

test('a worker that ends again is started later each time, the others at their own pace', () => {
  vi.spyOn(performance, 'now').mockReturnValue(0);
  const delayAfterEnd = createRestarts(4);
  const delays = Array.from({ length: 8 }, () => delayAfterEnd(0));
  expect(delays).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000]);
  expect(delayAfterEnd(1)).toBe(100);
});

test('five ends a worker within a minute are given up, spread over an hour they are not', () => {
  const clock = vi.spyOn(performance, 'now').mockReturnValue(0);
  const atOnce = createRestarts(2);
  const ends = Array.from({ length: 10 }, (_, end) => atOnce(end % 2));
  expect(ends.slice(0, 9)).not.toContain(undefined);
  expect(ends[9]).toBeUndefined();
  let now = 0;
  clock.mockImplementation(() => (now += 60_000));
  const spread = createRestarts(2);
  expect(new Set(Array.from({ length: 60 }, () => spread(0)))).toEqual(new Set([100]));
});

test('ends of workers that have not served are not given up while others serve', () => {
  vi.spyOn(performance, 'now').mockReturnValue(0);
  const delayAfterEnd = createRestarts(2);
  const delays = Array.from({ length: 20 }, () => delayAfterEnd(1, true));
  expect([delays.at(0), delays.at(-1)]).toEqual([100, 5000]);
  expect(delayAfterEnd(0)).toBe(100);
});

interface Answers {
  double(this: void, number: number): number;
  never(this: void): Promise<number>;
  fail(this: void): Promise<number>;
}

test('a question is answered once, under its own id, or given up in time, or when the other process ends', async () => {
  const sent: Batch[] = [];
  const channel: Channel<Answers> = new Channel((batch) => {
    sent.push(batch);
    other.receive(structuredClone(batch));
    // Messages of others go over the same channel of Node.
    other.receive({ kind: 'other' });
  }, {});
  const other = new Channel<Answers>((batch) => channel.receive(structuredClone(batch)), {
    double: (number: number) => 2 * number,
    never: () => new Promise(() => undefined),
  });
  const answers = [1, 2].map((number) => channel.ask('double', number, 1000));
  channel.tell('double', 3);
  const late = channel.ask('never', undefined, 20);
  expect(await Promise.all(answers)).toEqual([2, 4]);
  expect(sent).toHaveLength(1);
  expect(await late).toBeUndefined();
  const open = channel.ask('never', undefined, Number.POSITIVE_INFINITY);
  channel.end();
  expect(await open).toBeUndefined();
  channel.receive({
    rpc: [
      { answerTo: 1, value: 'again' },
      { answerTo: 99, value: 'not asked for' },
    ],
  });
});

test('a question that fails has no answer, and its cause is an unhandled rejection where it failed', async () => {
  const channel: Channel<Answers> = new Channel((batch) => other.receive(structuredClone(batch)), {});
  const other = new Channel<Answers>((batch) => channel.receive(structuredClone(batch)), {
    fail: () => Promise.reject(new Error('no')),
  });
  const listeners = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  try {
    const rejection = once(process, 'unhandledRejection');
    expect(await channel.ask('fail', undefined, 1000)).toBeUndefined();
    expect(await rejection).toMatchObject([{ message: 'no' }, {}]);
  } finally {
    for (const listener of listeners) process.on('unhandledRejection', listener);
  }
});

interface Process {
  readonly metrics: Metrics;
  readonly drift: DriftWatch;
}

/** The resources of a process that has made six calls, whose breaker is open, and where two calls wait. */
function usedResources(drift: DriftWatch): UpstreamResources {
  const resources = createUpstreamResources({
    url: 'http://upstream.test',
    ...{ connections: 1, maxInFlight: 1, bodyRoomLimits: { operation: 1000, process: 1000 } },
    eventLoop: new EventLoopYield(),
    drift,
    log: () => undefined,
  });
  const { breakers, counts, keys } = resources;
  counts.byOutcome.push({ method: 'GET', route: '/a', outcome: 200, count: 6 });
  const durations = new Tally(durationBounds);
  for (const seconds of [0, 0, 0, 10, 14, 16]) durations.add(seconds);
  counts.durations.set('/a', durations);
  keys.waiting = 2;
  while (!breakers.isOpen) breakers.leave(attemptOf('a'), lostAfter(1));
  return resources;
}

/** A process with listed documents, how often each was asked for, and the calls of tenants. */
function processWith(
  hits: Readonly<Record<string, number>> = {},
  callsByTenant: ReadonlyMap<string, number> = new Map(),
): Process {
  const drift = new DriftWatch(1, () => undefined);
  const uses = Object.entries(hits).map(([id, count]) => ({ id, hits: count, errors: 0, restCalls: 0 }));
  const documents = { automatic: { hits: 0, misses: 0, registrations: 0 }, all: () => uses };
  const resources = usedResources(drift);
  for (const [tenant, count] of callsByTenant) resources.counts.byTenant.set(tenant, count);
  return {
    drift,
    metrics: createMetrics(
      {
        ...{ resources, documents, shared: { joined: 0, savedCalls: 8 }, saved: { count: 0 } },
        ...{ cache: undefined, redis: undefined, authentications: new Map(), reloads: {} },
        ...{ budgetCounts: new BudgetCounts(), counting: undefined, heldKeys: { rejectedCalls: 0, stoppedCalls: 0 } },
      },
      150,
    ),
  };
}

function samples(text: string): ReadonlyMap<string, number> {
  return new Map([...text.matchAll(/^([^#\s]+) (\S+)$/gm)].map(([, name = '', value]) => [name, Number(value)]));
}

async function totals(processes: readonly Process[], retired: Snapshot = []): Promise<ReadonlyMap<string, number>> {
  const snapshots = await Promise.all(processes.map(({ metrics }) => metrics.snapshot()));
  const workers = { running: processes.length, restarts: 3 };
  const ofPrimary = createPrimaryMetrics({
    ...{ counting: undefined, redis: undefined, reloads: undefined },
    workers: () => workers,
  });
  return samples(await totalsOf([...snapshots, await ofPrimary()], retired));
}

test('metrics of several processes are summed, states are not, and a document that one has run is used', async () => {
  const [a, b] = [processWith({ x: 2, y: 0, z: 0 }), processWith({ x: 0, y: 3, z: 0 })];
  a.metrics.begin();
  a.metrics.end(reportOf());
  b.metrics.begin();
  const all = await totals([a, b]);
  expect(Object.fromEntries(all)).toMatchObject({
    'gateway_operations_total{code="none"}': 1,
    gateway_operation_duration_seconds_count: 1,
    gateway_operations_in_flight: 1,
    'gateway_rest_calls_total{method="GET",route="/a",status="200"}': 12,
    'gateway_rest_calls_saved_total{by="shared_operations"}': 16,
    'gateway_rest_call_duration_seconds_bucket{le="0.01",route="/a"}': 6,
    'gateway_rest_call_duration_seconds_bucket{le="+Inf",route="/a"}': 12,
    'gateway_rest_call_duration_seconds_sum{route="/a"}': 80,
    'gateway_rest_call_duration_seconds_count{route="/a"}': 12,
    [`gateway_build_info{version="0.1.0",node="${process.versions.node}"}`]: 1,
    gateway_rest_calls_queued: 4,
    gateway_breaker_open: 1,
    'gateway_document_hits_total{document="x"}': 2,
    'gateway_document_hits_total{document="y"}': 3,
    gateway_documents_unused: 1,
    gateway_workers: 2,
    gateway_worker_restarts_total: 3,
  });
});

test('what a process counted stays when it has ended, what it was does not', async () => {
  const [ended, next] = [processWith({ gone: 0 }), processWith()];
  ended.metrics.begin();
  ended.metrics.end(reportOf({ codes: ['FORBIDDEN'] }));
  ended.metrics.begin();
  const retired = await addEnded(await addEnded([], await ended.metrics.snapshot()), await ended.metrics.snapshot());
  const all = await totals([next], retired);
  expect(all.get('gateway_operations_total{code="FORBIDDEN"}')).toBe(2);
  expect(all.get('gateway_operation_duration_seconds_bucket{le="0.01"}')).toBe(2);
  expect(all.get('gateway_operations_in_flight')).toBe(0);
  expect([...all.keys()].filter((name) => name.includes('gone'))).toEqual([]);
});

test('a document that only an ended worker was asked for counts as used', async () => {
  const retired = await addEnded([], await processWith({ x: 2, y: 0 }).metrics.snapshot());
  const all = await totals([processWith({ x: 0, y: 0 })], retired);
  expect(all.get('gateway_document_hits_total{document="x"}')).toBe(2);
  expect(all.get('gateway_documents_unused')).toBe(1);
});

test('differences of the upstream are counted apart no further in all processes than in one', async () => {
  const processes = [processWith(), processWith(), processWith()];
  for (const [process, { drift }] of processes.entries()) {
    const columns = Array.from({ length: 40 }, (_, index) => [`column_${process * 30 + index}`, 1] as const);
    const row = { ...rows.dashboard(2), ...Object.fromEntries(columns) };
    drift.answered(operations.getDashboard, '/api/projects/1/dashboards/2/', row);
  }
  const [ended, ...running] = processes;
  const retired = await addEnded([], (await ended?.metrics.snapshot()) ?? []);
  const told = [...(await totals(running, retired))].filter(([name]) => name.startsWith('gateway_upstream_drift'));
  expect(told).toHaveLength(51);
  expect(told.map(([, count]) => count).reduce((sum, count) => sum + count)).toBe(120);
  expect(told).toContainEqual(['gateway_upstream_drift_total{route="other",column="other",kind="other"}', 60]);
});

test('tenants are counted apart no further in all processes than in one', async () => {
  const callsFrom = (first: number) => new Map(Array.from({ length: 80 }, (_, index) => [`t${first + index}`, 1]));
  const all = await totals([processWith({}, callsFrom(0)), processWith({}, callsFrom(40))]);
  const told = [...all].filter(([name]) => name.startsWith('gateway_tenant'));
  expect(told).toHaveLength(101);
  expect(told).toContainEqual(['gateway_tenant_rest_calls_total{tenant="t50"}', 2]);
  expect(told).toContainEqual(['gateway_tenant_rest_calls_total{tenant="other"}', 20]);
});
