import { expect, test } from 'vitest';
import { operations } from '../../src/rest/generated/views.ts';
import type { RestOperation } from '../../src/rest/operation-ids.ts';
import { Breaker } from '../../src/rest/resilience/breaker.ts';
import { BreakerRegistry } from '../../src/rest/resilience/breaker-registry.ts';

let now = 0;
const clock = (): number => now;

/** What a call is told: whether it may go. */
function asks(
  gate: Breaker | BreakerRegistry,
  caller = 'a',
  operation: RestOperation = operations.getProject,
  isWrite = false,
): string {
  return gate instanceof Breaker ? gate.enter(isWrite).kind : gate.enter(caller, operation, isWrite).kind;
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
  expect(asks(breaker, '', operations.getProject, true)).toBe('refuse');
  now = 1600;
  expect(asks(breaker, '', operations.getProject, true)).toBe('probe');
});

test("one key's timeouts on one route close the way to that route for that key alone", () => {
  const breakers = createRegistry();
  fail(breakers, 100, 'timeout', 'a', operations.listEvents);
  expect(breakers.state).toBe('closed');
  expect(asks(breakers, 'a', operations.listEvents)).toBe('probe');
  expect(asks(breakers, 'a', operations.listEvents)).toBe('wait');
  expect(asks(breakers, 'a', operations.getProject)).toBe('pass');
  expect(asks(breakers, 'b', operations.listEvents)).toBe('pass');
});

test('server errors and timeouts of one key on one route never trip the breaker of all', () => {
  const breakers = createRegistry();
  fail(breakers, 1000, 'server-error', 'a', operations.getProject);
  // Not even beside another's single failure.
  fail(breakers, 1, 'timeout', 'b', operations.getProject);
  expect(breakers.state).toBe('closed');
});

test.each([
  ['two keys', 'b', operations.getProject],
  ['two routes', 'a', operations.listEvents],
])('timeouts seen under %s do', (_name, caller, operation) => {
  const breakers = createRegistry();
  fail(breakers, 3, 'timeout', 'a', operations.getProject);
  fail(breakers, 3, 'timeout', caller, operation);
  expect(breakers.state).toBe('half-open');
});

test('network errors do, slow ones sooner; an answer in between begins the count again', () => {
  const breakers = createRegistry();
  const fails = (times: number, tookMs: number): void => {
    for (let time = 0; time < times; time += 1)
      breakers.failed({ kind: 'network', tookMs }, 'a', operations.listProjects);
  };
  fails(49, 1);
  breakers.succeeded('a', operations.listProjects);
  fails(49, 1);
  expect(breakers.state).toBe('closed');
  fails(1, 1);
  expect(breakers.state).toBe('half-open');
  breakers.succeeded('b', operations.getProject);
  fails(5, 5000);
  expect(breakers.state).toBe('half-open');
});

test('when the upstream answers again, no route stays closed', () => {
  const breakers = createRegistry();
  for (const caller of ['a', 'b', 'c']) fail(breakers, 3, 'timeout', caller, operations.listProjects);
  expect(breakers.state).toBe('half-open');
  breakers.succeeded('d', operations.getProject);
  expect(breakers.calm).toBe(true);
});
