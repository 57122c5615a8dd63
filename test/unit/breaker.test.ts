import { expect, test } from 'vitest';
import { Breaker } from '../../src/rest/resilience/breaker.ts';
import { BreakerRegistry } from '../../src/rest/resilience/breaker-registry.ts';

let now = 0;
const clock = (): number => now;

/** What a call is told: whether it may go. */
function asks(gate: Breaker | BreakerRegistry, caller = 'a', target = '/api/projects/1/', isWrite = false): string {
  return gate instanceof Breaker ? gate.enter(isWrite).kind : gate.enter(caller, target, isWrite).kind;
}

function createCircuits(): BreakerRegistry {
  now = 0;
  return new BreakerRegistry({ now: clock, onOpen: () => undefined });
}

function fail(
  breakers: BreakerRegistry,
  times: number,
  kind: 'timeout' | 'server-error',
  caller: string,
  target: string,
): void {
  for (let time = 0; time < times; time += 1) breakers.failed({ kind }, caller, target);
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

test('a write tries only where no read has for a second', () => {
  now = 0;
  const breaker = new Breaker({ now: clock });
  breaker.trip();
  asks(breaker);
  breaker.fail();
  now = 999;
  expect(asks(breaker, '', '', true)).toBe('refuse');
  now = 1600;
  expect(asks(breaker, '', '', true)).toBe('probe');
});

test("one key's timeouts on one route close the way to that route for that key alone", () => {
  const breakers = createCircuits();
  fail(breakers, 100, 'timeout', 'a', '/api/projects/1/events/?limit=2');
  expect(breakers.state).toBe('closed');
  expect(asks(breakers, 'a', '/api/projects/2/events/')).toBe('probe');
  expect(asks(breakers, 'a', '/api/projects/2/events/')).toBe('wait');
  expect(asks(breakers, 'a', '/api/projects/1/')).toBe('pass');
  expect(asks(breakers, 'b', '/api/projects/1/events/')).toBe('pass');
});

test('server errors and timeouts of one key on one route never trip the breaker of all', () => {
  const breakers = createCircuits();
  fail(breakers, 1000, 'server-error', 'a', '/api/projects/1/');
  // Not even beside another's single failure.
  fail(breakers, 1, 'timeout', 'b', '/api/projects/1/');
  expect(breakers.state).toBe('closed');
});

test.each([
  ['two keys', 'b', '/api/projects/1/'],
  ['two route templates', 'a', '/api/projects/1/events/'],
])('timeouts seen under %s do', (_name, caller, target) => {
  const breakers = createCircuits();
  fail(breakers, 3, 'timeout', 'a', '/api/projects/1/');
  fail(breakers, 3, 'timeout', caller, target);
  expect(breakers.state).toBe('half-open');
});

test('network errors do, slow ones sooner; an answer in between begins the count again', () => {
  const breakers = createCircuits();
  const fails = (times: number, tookMs: number): void => {
    for (let time = 0; time < times; time += 1) breakers.failed({ kind: 'network', tookMs }, 'a', '/api/projects/');
  };
  fails(49, 1);
  breakers.succeeded('a', '/api/projects/');
  fails(49, 1);
  expect(breakers.state).toBe('closed');
  fails(1, 1);
  expect(breakers.state).toBe('half-open');
  breakers.succeeded('b', '/api/projects/1/');
  fails(5, 5000);
  expect(breakers.state).toBe('half-open');
});

test('when the upstream answers again, no route stays closed', () => {
  const breakers = createCircuits();
  for (const caller of ['a', 'b', 'c']) fail(breakers, 3, 'timeout', caller, '/api/projects/');
  expect(breakers.state).toBe('half-open');
  breakers.succeeded('d', '/api/projects/1/');
  expect(breakers.calm).toBe(true);
});
