import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { UpstreamError } from '../../src/rest/errors.ts';
import { ConcurrencyLimiter } from '../../src/rest/resilience/concurrency-limiter.ts';

let now = 0;
const late = { endsAt: 10_000 };

beforeEach(() => {
  now = 0;
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

function createLimiter(most: number): ConcurrencyLimiter {
  return new ConcurrencyLimiter({ most, now: () => now });
}

/** Queues calls by name, and notes who started or why not. */
function queueAll(limiter: ConcurrencyLimiter, callers: readonly string[], deadline = late): string[] {
  const log: string[] = [];
  for (const caller of callers) {
    limiter.queue(caller, deadline).started.then(
      () => log.push(caller),
      (error: unknown) => log.push(`${caller} ${error instanceof UpstreamError ? error.code : String(error)}`),
    );
  }
  return log;
}

async function settled(): Promise<void> {
  await vi.advanceTimersByTimeAsync(0);
}

test('a caller may use every slot while no other waits', () => {
  const limiter = createLimiter(4);
  expect([1, 2, 3, 4, 5].map(() => limiter.take('a'))).toEqual([true, true, true, true, false]);
  expect(limiter.inFlight).toBe(4);
});

test('callers that wait take turns, however much one of them wants', async () => {
  const limiter = createLimiter(2);
  limiter.take('x');
  limiter.take('x');
  const log = queueAll(limiter, ['a', 'a', 'a', 'a', 'b', 'c']);
  for (const caller of ['x', 'x', 'a', 'b']) limiter.release(caller, 10);
  await settled();
  expect(log).toEqual(['a', 'b', 'c', 'a']);
  expect(limiter.queued).toBe(2);
});

test('a caller that holds half of the slots waits while another does', async () => {
  const limiter = createLimiter(4);
  for (let call = 0; call < 4; call += 1) limiter.take('a');
  const log = queueAll(limiter, ['a', 'a', 'b', 'b', 'b']);
  limiter.release('a', 10);
  limiter.release('a', 10);
  await settled();
  // Two slots are a's already: both free ones are b's.
  expect(log).toEqual(['b', 'b']);
  limiter.release('a', 10);
  await settled();
  expect(log).toEqual(['b', 'b', 'a']);
});

test('what is left waiting alone gets the slots that are free', async () => {
  const limiter = createLimiter(4);
  for (let call = 0; call < 4; call += 1) limiter.take('a');
  const log = queueAll(limiter, ['a', 'a', 'a']);
  const other = limiter.queue('b', late);
  other.started.catch(() => undefined);
  limiter.release('a', 10);
  await settled();
  expect(log).toEqual([]);
  other.leave();
  limiter.release('b', 10);
  await settled();
  expect(log).toEqual(['a']);
});

test('a call that leaves the queue is never started', async () => {
  const limiter = createLimiter(1);
  limiter.take('a');
  const { started, leave } = limiter.queue('a', late);
  leave();
  await expect(started).rejects.toMatchObject({ code: 'OVERLOADED' });
  limiter.release('a', 10);
  expect([limiter.inFlight, limiter.queued]).toEqual([0, 0]);
});

test('a call is shed when its time runs out in the queue', async () => {
  const limiter = createLimiter(1);
  limiter.take('a');
  const log = queueAll(limiter, ['a'], { endsAt: 500 });
  now = 480;
  await vi.advanceTimersByTimeAsync(100);
  expect(log).toEqual(['a OVERLOADED']);
  expect([limiter.queued, limiter.sheds]).toEqual([0, 1]);
  expect(vi.getTimerCount()).toBe(0);
});

test('a call that cannot start in time is shed at once', () => {
  const limiter = createLimiter(1);
  limiter.take('a');
  for (let call = 0; call < 100; call += 1) {
    limiter.seize('b');
    limiter.release('b', 1000);
  }
  queueAll(limiter, ['a', 'a']);
  expect(() => limiter.queue('a', { endsAt: 1500 })).toThrow(expect.objectContaining({ code: 'OVERLOADED' }));
  limiter.flush(new UpstreamError('UPSTREAM_UNAVAILABLE'));
});

test('one caller fills half of the queue, two fill it', () => {
  const limiter = createLimiter(2);
  limiter.take('x');
  limiter.take('x');
  queueAll(
    limiter,
    Array.from({ length: 8 }, () => 'a'),
  );
  expect(() => limiter.queue('a', late)).toThrow(expect.objectContaining({ upstream: { retryAfter: 1 } }));
  queueAll(
    limiter,
    Array.from({ length: 8 }, () => 'b'),
  );
  for (const caller of ['a', 'b', 'c'])
    expect(() => limiter.queue(caller, late)).toThrow(expect.objectContaining({ code: 'OVERLOADED' }));
});

test('users of a tenant take turns within the turns of their tenant', async () => {
  const limiter = createLimiter(4);
  const log: string[] = [];
  for (let taken = 0; taken < 4; taken += 1) limiter.take('other');
  const queue = (caller: string, user: string): void =>
    void limiter.queue(caller, late, user).started.then(() => log.push(`${caller} ${user}`));
  for (let times = 0; times < 3; times += 1) queue('acme', 'busy');
  queue('acme', 'calm');
  queue('globex', 'only');
  for (let times = 0; times < 5; times += 1) {
    limiter.release(times < 2 ? 'other' : (log[times - 2]?.split(' ')[0] ?? ''), 1);
    await settled();
  }
  expect(log).toEqual(['acme busy', 'globex only', 'acme calm', 'acme busy', 'acme busy']);
});

test('one user of a tenant has at most half of the places of the tenant', async () => {
  const limiter = createLimiter(4);
  for (let taken = 0; taken < 4; taken += 1) limiter.take('other');
  const queue = (user: string): void => void limiter.queue('acme', late, user).started.catch(() => undefined);
  for (let times = 0; times < 8; times += 1) queue('busy');
  expect(() => queue('busy')).toThrow(UpstreamError);
  for (let times = 0; times < 8; times += 1) queue('calm');
  expect(() => queue('third')).toThrow(UpstreamError);
  limiter.queue('globex', late, 'only').started.catch(() => undefined);
  limiter.flush(new UpstreamError('UPSTREAM_UNAVAILABLE'));
  await settled();
  expect(limiter.queued).toBe(0);
});
