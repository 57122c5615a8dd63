import { beforeEach, expect, test, vi } from 'vitest';
import { operations } from '../../src/rest/generated/views.ts';
import { Breakers } from '../../src/rest/resilience/breakers.ts';
import type { Attempt, Outcome } from '../../src/rest/resilience/gate.ts';
import type { RestOperation } from '../../src/rest/rest-operations.ts';
import { attemptOf, lostAfter, successAfter } from '../support/attempts.ts';

let now = 0;

beforeEach(() => {
  now = 0;
  vi.useFakeTimers();
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  return () => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  };
});

const timeout: Outcome = { kind: 'given-up', timeouts: 1, tookMs: 5000 };
const serverError: Outcome = { kind: 'answered', status: 500, error: new Error('500'), provesKey: false, tookMs: 1 };
const givenUp: Outcome = { kind: 'given-up', timeouts: 0, tookMs: 1 };
const failures = { timeout, 'server-error': serverError } as const;

/** An attempt that asks if it may go, and what it is told. */
function ask(breakers: Breakers, key = 'a', isWrite = false): { attempt: Attempt; verdict: string } {
  const attempt = attemptOf(key, { isWrite });
  try {
    breakers.enter(attempt);
    return { attempt, verdict: attempt.isUrgent ? 'probe' : 'pass' };
  } catch {
    return { attempt, verdict: 'refuse' };
  }
}

function asks(breakers: Breakers, key = 'a', isWrite = false): string {
  return ask(breakers, key, isWrite).verdict;
}

function end(breakers: Breakers, times: number, outcome: Outcome, key: string, endpoint?: RestOperation): void {
  for (let time = 0; time < times; time += 1) breakers.leave(attemptOf(key, endpoint && { endpoint }), outcome);
}

function createOpen(): Breakers {
  const breakers = new Breakers();
  end(breakers, 50, lostAfter(1), 'a');
  return breakers;
}

test('an open breaker lets one call at a time probe, and closes when one is answered', () => {
  const breakers = createOpen();
  const { attempt, verdict } = ask(breakers);
  expect([breakers.isOpen, verdict, asks(breakers)]).toEqual([true, 'probe', 'refuse']);
  breakers.leave(attempt, successAfter(1));
  expect([breakers.isOpen, asks(breakers), asks(breakers)]).toEqual([false, 'pass', 'pass']);
});

test('an open breaker probes again a quarter of a second after a failure, and a second after a probe without an answer', () => {
  const breakers = createOpen();
  asks(breakers);
  now = 999;
  expect(asks(breakers)).toBe('refuse');
  now = 1000;
  const { attempt, verdict } = ask(breakers);
  breakers.leave(attempt, lostAfter(1));
  expect([verdict, asks(breakers)]).toEqual(['probe', 'refuse']);
  now = 1250;
  expect(asks(breakers)).toBe('probe');
});

test('a probe that was given up leaves its place to the next call', () => {
  const breakers = createOpen();
  breakers.leave(ask(breakers).attempt, givenUp);
  expect(asks(breakers)).toBe('probe');
});

test('a write probes only if no read has done so for a second', () => {
  const breakers = createOpen();
  breakers.leave(ask(breakers).attempt, lostAfter(1));
  now = 999;
  expect(asks(breakers, 'a', true)).toBe('refuse');
  now = 1600;
  expect(asks(breakers, 'a', true)).toBe('probe');
});

test('timeouts of one key on one route stop neither its other calls nor those of others', () => {
  const breakers = new Breakers();
  end(breakers, 100, timeout, 'a', operations.listEvents);
  expect([breakers.isOpen, asks(breakers, 'a'), asks(breakers, 'b')]).toEqual([false, 'pass', 'pass']);
});

test.each(['timeout', 'server-error'] as const)(
  'failures of one key on two routes (%s) stop the calls of that key alone',
  (kind) => {
    const breakers = new Breakers();
    end(breakers, 100, failures[kind], 'a', operations.listEvents);
    end(breakers, 100, failures[kind], 'a', operations.getProject);
    expect(breakers.isOpen).toBe(false);
    expect([asks(breakers, 'a'), asks(breakers, 'a'), asks(breakers, 'b')]).toEqual(['probe', 'refuse', 'pass']);
    end(breakers, 1, successAfter(1), 'a');
    expect([asks(breakers, 'a'), asks(breakers, 'a')]).toEqual(['pass', 'pass']);
  },
);

test('a key whose calls are answered in between is stopped by no number of failures', () => {
  const breakers = new Breakers();
  for (let round = 0; round < 100; round += 1) {
    end(breakers, 24, serverError, 'a', operations.listEvents);
    end(breakers, 24, serverError, 'a', operations.listDashboards);
    end(breakers, 1, successAfter(1), 'a');
    expect(asks(breakers, 'a')).toBe('pass');
  }
});

test.each(['after', 'before'])(
  'those of one key never open the breaker of all, with one failure of another %s them',
  (order) => {
    const breakers = new Breakers();
    if (order === 'before') end(breakers, 1, timeout, 'b', operations.getProject);
    for (const endpoint of [operations.getProject, operations.listEvents, operations.listProjects]) {
      end(breakers, 1000, serverError, 'a', endpoint);
      end(breakers, 1000, timeout, 'a', endpoint);
    }
    if (order === 'after') end(breakers, 1, timeout, 'b', operations.getProject);
    expect(breakers.isOpen).toBe(false);
  },
);

test('one slow route and a failure of another before it stop no key', () => {
  const breakers = new Breakers();
  end(breakers, 1, serverError, 'a', operations.getProject);
  end(breakers, 100, timeout, 'a', operations.listEvents);
  expect(asks(breakers, 'a')).toBe('pass');
});

test.each(['timeout', 'server-error'] as const)('those of several keys do (%s)', (kind) => {
  const breakers = new Breakers();
  end(breakers, 25, failures[kind], 'a', operations.getProject);
  expect(breakers.isOpen).toBe(false);
  end(breakers, 25, failures[kind], 'b', operations.getProject);
  expect(breakers.isOpen).toBe(true);
});

test('network errors do, slow ones sooner; an answer in between begins the count again', () => {
  const breakers = new Breakers();
  end(breakers, 49, lostAfter(1), 'a');
  end(breakers, 1, successAfter(1), 'a');
  end(breakers, 49, lostAfter(1), 'a');
  expect(breakers.isOpen).toBe(false);
  end(breakers, 1, lostAfter(1), 'a');
  expect(breakers.isOpen).toBe(true);
  end(breakers, 1, successAfter(1), 'b');
  end(breakers, 5, lostAfter(5000), 'a');
  expect(breakers.isOpen).toBe(true);
});

test('when the upstream answers again, no key stays refused', () => {
  const breakers = new Breakers();
  for (const endpoint of [operations.getProject, operations.listEvents])
    for (const key of ['a', 'b', 'c']) end(breakers, 3, timeout, key, endpoint);
  expect(breakers.isOpen).toBe(true);
  end(breakers, 1, successAfter(1), 'd');
  expect(['a', 'b', 'c'].map((key) => asks(breakers, key))).toEqual(['pass', 'pass', 'pass']);
});

test('its opening, each probe that fails, and its closing are told', async () => {
  const told: string[] = [];
  const breakers = new Breakers({
    onOpen: () => told.push('open'),
    onClose: () => told.push('close'),
    onFailedProbe: () => told.push('probe'),
  });
  end(breakers, 60, lostAfter(1), 'a');
  breakers.leave(ask(breakers).attempt, lostAfter(1));
  now = 1000;
  const { attempt } = ask(breakers);
  await vi.advanceTimersByTimeAsync(750);
  breakers.leave(attempt, successAfter(800));
  expect(told).toEqual(['open', 'probe', 'probe', 'close']);
});
