import { expect, onTestFinished, test, vi } from 'vitest';
import type { Listener } from '../../src/live/listener.ts';
import { Tails } from '../../src/live/tails.ts';
import { MemoryRoom } from '../../src/memory.ts';
import { RestApi } from '../../src/rest/api.ts';
import type { Caller } from '../../src/rest/caller.ts';
import type { RestClient } from '../../src/rest/client.ts';
import { UpstreamError } from '../../src/rest/errors.ts';
import type { Position } from '../../src/rest/positions.ts';
import type { AnyRestRun } from '../../src/rest/rest-run.ts';
import { runOf } from '../support/runs.ts';

const list = { noun: 'Event', scope: '1' } as const;

/** One of the users of a tenant. */
function user(subject: string): Caller {
  return { key: 'phx_acme', sharingKey: 'acme', queueKey: 'acme', subject };
}

/** Tails whose polls read pages with the function that `readFor` returns for the run of a poll. */
function createTails(
  readFor: (run: AnyRestRun) => RestClient['read'],
  options: Partial<ConstructorParameters<typeof Tails>[0]>,
): Tails {
  const write = () => Promise.reject(new Error('only pages are read'));
  return new Tails({
    begin: (caller, calls) => Promise.resolve(runOf(caller, { calls })),
    restFor: (run) => new RestApi({ read: readFor(run), write }),
    pollMs: 1,
    maxPageSize: 100,
    deadlineMs: 1000,
    room: new MemoryRoom(2 ** 20),
    ...options,
  });
}

/** Tails of a list with these rows, by default none, and the users in whose names the list was polled. */
function startTails(results: readonly object[] = []) {
  const polledFor: (string | undefined)[] = [];
  const readFor = ({ caller }: AnyRestRun): RestClient['read'] => {
    polledFor.push(caller?.subject);
    return () => Promise.resolve({ next: null, results });
  };
  const tails = createTails(readFor, { backoffOf: () => 1 });
  const follow = (subject: string, after?: Position): Listener =>
    tails.follow(user(subject), list, after, () => undefined);
  return { polledFor, follow };
}

test('those who follow the same list take turns: each poll is made in the name of another', async () => {
  const { polledFor, follow } = startTails();
  const listeners = ['one', 'two', 'three'].map((subject) => follow(subject));
  await expect.poll(() => polledFor.length).toBeGreaterThanOrEqual(6);
  expect(polledFor.slice(0, 6)).toEqual(['one', 'two', 'three', 'one', 'two', 'three']);
  for (const listener of listeners) listener.end();
});

test('no poll is made in the name of a listener that has left', async () => {
  const { polledFor, follow } = startTails();
  const [leaving, staying] = ['one', 'two'].map((subject) => follow(subject));
  await expect.poll(() => polledFor).toContain('two');
  leaving?.end();
  const { length } = polledFor;
  await expect.poll(() => polledFor.length).toBeGreaterThanOrEqual(length + 3);
  expect(new Set(polledFor.slice(length))).toEqual(new Set(['two']));
  staying?.end();
});

test('those who come back at one position share each message, and take its room once', async () => {
  const { follow } = startTails([
    { id: 'late', timestamp: '2024-05-01T10:00:02Z' },
    { id: 'early', timestamp: '2024-05-01T10:00:01Z' },
  ]);
  const placeAt = (time: string): Position => ({ offset: 0, boundary: { time, ids: [''] } });
  const early = '2024-05-01T10:00:00Z';
  const later = '2024-05-01T10:01:01.500Z';
  const listeners = [early, later, early].map((time, index) => follow(`user ${index}`, placeAt(time)));
  const firsts = await Promise.all(listeners.map((listener) => listener[Symbol.asyncIterator]().next()));
  const [one, other, same] = firsts.map(({ value }) => value ?? undefined);
  expect(one?.rows.map(({ id }) => id)).toEqual(['early', 'late']);
  expect(other?.rows.map(({ id }) => id)).toEqual(['late']);
  expect(same).toBe(one);
  for (const listener of listeners) listener.end();
});

test('a poll reads the time of a row as often for many positions as for one', async () => {
  const mostReadsFor = async (positions: number): Promise<number> => {
    const reads: number[] = [];
    const toRow = (poll: number) => ({
      id: 'new',
      get timestamp() {
        reads[poll] = (reads[poll] ?? 0) + 1;
        return '2024-05-01T10:00:02Z';
      },
    });
    const tails = createTails(() => () => Promise.resolve({ next: null, results: [toRow(tails.polls)] }), {
      backoffOf: () => 1,
    });
    const listeners = Array.from({ length: positions }, (_, index) => {
      const time = `2024-05-01T10:00:00.${String(index).padStart(3, '0')}Z`;
      return tails.follow(user('one'), list, { offset: 0, boundary: { time, ids: [''] } }, () => undefined);
    });
    await Promise.all(listeners.map((listener) => listener[Symbol.asyncIterator]().next()));
    for (const listener of listeners) listener.end();
    return Math.max(...reads.filter(Number.isInteger));
  };
  expect(await mostReadsFor(50)).toBe(await mostReadsFor(1));
});

test('a position whose pages cannot be read holds up no other listener, and those who joined there get a gap', async () => {
  const rows = [
    { id: 'known', timestamp: '2024-05-01T10:00:00Z' },
    { id: 'early', timestamp: '2024-05-01T09:00:00Z' },
  ];
  let failed = 0;
  const readFor = (): RestClient['read'] => (_operation, target) => {
    if (!target.includes('before=2024')) return Promise.resolve({ next: nextPage, results: [...rows] });
    failed += 1;
    return Promise.reject(new UpstreamError('UPSTREAM_TIMEOUT'));
  };
  const tails = createTails(readFor, { backoffOf: () => 1 });
  const nextAt = async (after?: Position) => {
    const listener = tails.follow(user('one'), list, after, () => undefined);
    onTestFinished(() => listener.end());
    const { value } = await listener[Symbol.asyncIterator]().next();
    return value && { ids: value.rows.map(({ id }) => id), gap: value.gap };
  };
  const one = nextAt();
  await expect.poll(() => tails.polls).toBeGreaterThan(1);
  const other = nextAt({ offset: 0, boundary: { time: '2020-05-01T10:00:00Z', ids: [''] } });
  await expect.poll(() => failed).toBeGreaterThan(0);
  rows.unshift({ id: 'new', timestamp: '2024-05-01T10:00:01Z' });
  expect(await one).toEqual({ ids: ['new'], gap: false });
  expect(await other).toMatchObject({ gap: true });
});

test('a poll that sends what it has after a failure reports a gap if late events may be missing', async () => {
  const [known, early, newer] = ['10:00:00', '09:59:55', '10:01:30'].map((time) => ({
    id: time,
    timestamp: `2024-05-01T${time}Z`,
  }));
  let ended = 0;
  const readFor = (): RestClient['read'] => (_operation, target) => {
    if (tails.polls === 1) return Promise.resolve({ next: null, results: [known] });
    // The second poll fails with its first page, and the third with its second.
    if (tails.polls === 2 || target.includes('before=2024')) {
      ended += 1;
      return Promise.reject(new UpstreamError('UPSTREAM_UNAVAILABLE'));
    }
    return Promise.resolve({ next: nextPage, results: [newer, known, early] });
  };
  const tails = createTails(readFor, { backoffOf: () => 1 });
  const listener = tails.follow(user('one'), list, undefined, () => undefined);
  onTestFinished(() => listener.end());
  const { value } = await listener[Symbol.asyncIterator]().next();
  expect(ended).toBe(2);
  expect(value).toMatchObject({ rows: [early, newer], gap: true });
});

const nextPage = 'http://upstream/?before=2024-05-01T09:00:00Z';

test('the calls of a poll that failed count, too: without a budget the next one comes a second later for each', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let made = 0;
  // The third page of each poll fails.
  const readFor = ({ calls }: AnyRestRun): RestClient['read'] => {
    let pages = 0;
    return (_operation, target) => {
      calls.begin('GET', target);
      made += 1;
      pages += 1;
      if (pages === 3) return Promise.reject(new UpstreamError('UPSTREAM_UNAVAILABLE'));
      const timestamp = new Date(Date.now() - pages * 1000).toISOString();
      const next = `http://upstream/?limit=1&before=${timestamp}`;
      return Promise.resolve({ next, results: [{ id: `${made}`, timestamp }] });
    };
  };
  const tails = createTails(readFor, { pollMs: 10, maxPageSize: 1 });
  const listener = tails.follow(user('one'), list, undefined, () => undefined);
  await vi.advanceTimersByTimeAsync(2999);
  expect([made, tails.polls]).toEqual([3, 1]);
  await vi.advanceTimersByTimeAsync(1);
  expect([made, tails.polls]).toEqual([6, 2]);
  listener.end();
});
