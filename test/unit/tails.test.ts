import { expect, test } from 'vitest';
import type { Listener } from '../../src/live/listener.ts';
import { Tails } from '../../src/live/tails.ts';
import { ClientApi } from '../../src/rest/api.ts';
import type { Caller } from '../../src/rest/caller.ts';

const list = { noun: 'Event', scope: '1' } as const;

/** One of the users of a tenant. */
function user(subject: string): Caller {
  return { key: 'phx_acme', hash: subject, sharingKey: 'acme', queueKey: 'acme', subject };
}

/** Tails of a list without rows, and in whose name they were polled. */
function startTails() {
  const polledFor: (string | undefined)[] = [];
  const refuse = () => Promise.reject(new Error('only pages are read'));
  const tails = new Tails({
    restFor: ({ subject }) => {
      polledFor.push(subject);
      return new ClientApi({
        getJson: () => Promise.resolve({ next: null, results: [] }),
        getCsv: refuse,
        write: refuse,
      });
    },
    pollMs: 1,
    slownessOf: () => 1,
    maxPageSize: 100,
    deadlineMs: 1000,
  });
  const follow = (subject: string): Listener => tails.follow(user(subject), list, undefined, () => undefined);
  return { polledFor, follow };
}

test('those who follow the same list take turns: each poll is made in the name of another', async () => {
  const { polledFor, follow } = startTails();
  const listeners = ['one', 'two', 'three'].map(follow);
  await expect.poll(() => polledFor.length).toBeGreaterThanOrEqual(6);
  expect(polledFor.slice(0, 6)).toEqual(['one', 'two', 'three', 'one', 'two', 'three']);
  for (const listener of listeners) listener.end();
});

test('no poll is made in the name of a listener that has left', async () => {
  const { polledFor, follow } = startTails();
  const [leaving, staying] = ['one', 'two'].map(follow);
  await expect.poll(() => polledFor).toContain('two');
  leaving?.end();
  const { length } = polledFor;
  await expect.poll(() => polledFor.length).toBeGreaterThanOrEqual(length + 3);
  expect(new Set(polledFor.slice(length))).toEqual(new Set(['two']));
  staying?.end();
});
