import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Tails } from '../../src/live/tails.ts';
import { MemoryRoom } from '../../src/memory.ts';
import { RestApi } from '../../src/rest/api.ts';
import type { Caller } from '../../src/rest/caller.ts';
import { UpstreamError } from '../../src/rest/errors.ts';
import { runOf } from '../support/runs.ts';

const caller: Caller = { key: 'phx_test', sharingKey: 'key', queueKey: 'key' };

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** Tails of a key without a budget. Of each poll of a list the third page fails; `calls` has how many calls were made. */
function startTails() {
  const calls: string[] = [];
  const refuse = () => Promise.reject(new Error('only pages are read'));
  const tails = new Tails({
    begin: (one, made) => Promise.resolve(runOf(one, { calls: made })),
    restFor: (run) => {
      let pages = 0;
      return new RestApi({
        read: (_operation, target) => {
          run.calls.begin('GET', target);
          calls.push(target);
          pages += 1;
          if (pages === 3) return Promise.reject(new UpstreamError('UPSTREAM_UNAVAILABLE'));
          const timestamp = new Date(Date.now() - pages * 1000).toISOString();
          const next = `http://upstream/?limit=1&before=${timestamp}`;
          return Promise.resolve({ next, results: [{ id: `${calls.length}`, timestamp }] });
        },
        write: refuse,
      });
    },
    pollMs: 10,
    maxPageSize: 1,
    deadlineMs: 1000,
    room: new MemoryRoom(2 ** 20),
  });
  return { tails, calls };
}

test('the calls of a poll that failed count, too: without a budget the next one comes a second later for each', async () => {
  const { tails, calls } = startTails();
  const listener = tails.follow(caller, { noun: 'Event', scope: '1' }, undefined, () => undefined);
  await vi.advanceTimersByTimeAsync(2999);
  expect([calls.length, tails.polls]).toEqual([3, 1]);
  await vi.advanceTimersByTimeAsync(1);
  expect([calls.length, tails.polls]).toEqual([6, 2]);
  listener.end();
});
