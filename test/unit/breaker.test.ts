import { expect, test } from 'vitest';
import { operations } from '../../src/rest/generated/views.ts';
import type { RestOperation } from '../../src/rest/operation-ids.ts';
import { Breaker } from '../../src/rest/resilience/breaker.ts';
import { BreakerRegistry } from '../../src/rest/resilience/breaker-registry.ts';
import { attemptOf } from '../support/attempts.ts';

let now = 0;
const clock = (): number => now;

/** What a call is told: whether it may go. */
function asks(gate: Breaker | BreakerRegistry, caller = 'a', isWrite = false): string {
  return gate instanceof Breaker ? gate.enter(isWrite).kind : gate.verdictOn(attemptOf(caller, { isWrite })).kind;
}

function createRegistry(): BreakerRegistry {
  now = 0;
  return new BreakerRegistry({ now: clock, onOpen: () => undefined });
}

function fail(
  breakers: BreakerRegistry,
  times: number,
  kind: 'timeout' | 'server-error',
  caller: string,
  operation: RestOperation,
): void {
  for (let time = 0; time < times; time += 1) breakers.failed({ kind }, caller, operation);
}

test('the first call after the trip tries, and those beside it wait for what becomes of it', async () => {
  const breaker = new Breaker({ now: clock });
  breaker.trip();
  expect(asks(breaker)).toBe('probe');
  const waiting = breaker.enter(false);
  breaker.close();
  await (waiting.kind === 'wait' ? waiting.trial : Promise.reject(new Error(waiting.kind)));
  expect(asks(breaker)).toBe('pass');
});

test('an open breaker refuses, and lets one call try at most every second', () => {
  now = 0;
  const breaker = new Breaker({ now: clock });
  breaker.trip();
  asks(breaker);
  breaker.overdue();
  expect([breaker.state, asks(breaker)]).toEqual(['open', 'refuse']);
  now = 1000;
  expect([asks(breaker), asks(breaker)]).toEqual(['probe', 'refuse']);
  breaker.fail();
  now = 1500;
  expect([asks(breaker), asks(breaker)]).toEqual(['probe', 'refuse']);
  breaker.close();
  expect([breaker.state, asks(breaker)]).toEqual(['closed', 'pass']);
});

test('a probe that was given up leaves its place to the next call', () => {
  const breaker = new Breaker({ now: clock });
  breaker.trip();
  asks(breaker);
  breaker.abandon();
  expect(asks(breaker)).toBe('probe');
});

test('a write is the trial only if no read has been one for a second', () => {
  now = 0;
  const breaker = new Breaker({ now: clock });
  breaker.trip();
  asks(breaker);
  breaker.fail();
  now = 999;
  expect(asks(breaker, '', true)).toBe('refuse');
  now = 1600;
  expect(asks(breaker, '', true)).toBe('probe');
});

test('timeouts of one key on one route stop neither its other calls nor those of others', () => {
  const breakers = createRegistry();
  fail(breakers, 100, 'timeout', 'a', operations.listEvents);
  expect([breakers.state, asks(breakers, 'a'), asks(breakers, 'b')]).toEqual(['closed', 'pass', 'pass']);
});

test.each(['timeout', 'server-error'] as const)(
  'failures of one key on two routes (%s) stop the calls of that key alone',
  (kind) => {
    const breakers = createRegistry();
    fail(breakers, 100, kind, 'a', operations.listEvents);
    fail(breakers, 100, kind, 'a', operations.getProject);
    expect(breakers.state).toBe('closed');
    expect([asks(breakers, 'a'), asks(breakers, 'a'), asks(breakers, 'b')]).toEqual(['probe', 'wait', 'pass']);
    expect([breakers.isCalm('a'), breakers.isCalm('b')]).toEqual([false, true]);
    breakers.succeeded('a');
    expect([asks(breakers, 'a'), breakers.isCalm('a')]).toEqual(['pass', true]);
  },
);

test('a key whose calls are answered in between is stopped by no number of failures', () => {
  const breakers = createRegistry();
  for (let round = 0; round < 100; round += 1) {
    fail(breakers, 24, 'server-error', 'a', operations.listEvents);
    fail(breakers, 24, 'server-error', 'a', operations.listDashboards);
    breakers.succeeded('a');
    expect(asks(breakers, 'a')).toBe('pass');
  }
});

test.each(['after', 'before'])(
  'those of one key never trip the breaker of all, with one failure of another %s them',
  (order) => {
    const breakers = createRegistry();
    if (order === 'before') fail(breakers, 1, 'timeout', 'b', operations.getProject);
    for (const operation of [operations.getProject, operations.listEvents, operations.listProjects]) {
      fail(breakers, 1000, 'server-error', 'a', operation);
      fail(breakers, 1000, 'timeout', 'a', operation);
    }
    if (order === 'after') fail(breakers, 1, 'timeout', 'b', operations.getProject);
    expect(breakers.state).toBe('closed');
  },
);

test('one slow route and a failure of another before it stop no key', () => {
  const breakers = createRegistry();
  fail(breakers, 1, 'server-error', 'a', operations.getProject);
  fail(breakers, 100, 'timeout', 'a', operations.listEvents);
  expect(asks(breakers, 'a')).toBe('pass');
});

test.each(['timeout', 'server-error'] as const)('those of several keys do (%s)', (kind) => {
  const breakers = createRegistry();
  fail(breakers, 25, kind, 'a', operations.getProject);
  expect(breakers.state).toBe('closed');
  fail(breakers, 25, kind, 'b', operations.getProject);
  expect(breakers.state).toBe('half-open');
});

test('network errors do, slow ones sooner; an answer in between begins the count again', () => {
  const breakers = createRegistry();
  const fails = (times: number, tookMs: number): void => {
    for (let time = 0; time < times; time += 1)
      breakers.failed({ kind: 'network', tookMs }, 'a', operations.listProjects);
  };
  fails(49, 1);
  breakers.succeeded('a');
  fails(49, 1);
  expect(breakers.state).toBe('closed');
  fails(1, 1);
  expect(breakers.state).toBe('half-open');
  breakers.succeeded('b');
  fails(5, 5000);
  expect(breakers.state).toBe('half-open');
});

test('when the upstream answers again, no key stays refused', () => {
  const breakers = createRegistry();
  for (const caller of ['a', 'b', 'c']) fail(breakers, 3, 'timeout', caller, operations.listProjects);
  expect(breakers.state).toBe('half-open');
  breakers.succeeded('d');
  expect(['a', 'b', 'c'].map((key) => breakers.isCalm(key))).toEqual([true, true, true]);
});
