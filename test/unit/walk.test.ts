import { expect, test } from 'vitest';
import { walkBack } from '../../src/live/walk.ts';
import type { PagedList } from '../../src/loaders/next-pages.ts';
import { RestApi } from '../../src/rest/api.ts';
import { UpstreamError } from '../../src/rest/errors.ts';

const now = '2024-05-01T10:00:00.000000000';

/** A list with pages of two events, a second apart, that go on for ever; the page of `failing` fails with an error. */
function pagedListOf(failing = Number.POSITIVE_INFINITY, error?: unknown) {
  const targets: string[] = [];
  const read = (_operation: unknown, target: string): Promise<unknown> => {
    targets.push(target);
    if (targets.length === failing) return Promise.reject(error);
    const from = (targets.length - 1) * 2;
    const results = [from, from + 1].map((at) => ({
      id: String(at),
      timestamp: new Date(Date.parse('2024-05-01T09:59:59Z') - at * 1000).toISOString(),
    }));
    return Promise.resolve({ next: `http://upstream/?limit=2&before=${results[1]?.timestamp}`, results });
  };
  const refuse = () => Promise.reject(new Error('only pages are read'));
  const api = new RestApi({ read, write: refuse });
  const paged: PagedList = { api, list: { noun: 'Event', scope: '1' }, maximum: 2 };
  return { paged, targets };
}

test('a poll makes eleven calls at most, and says that there is more', async () => {
  const { paged, targets } = pagedListOf();
  const walk = await walkBack(paged, '2024-05-01T09:00:00.000000000', now, never);
  expect([walk.isWhole, targets.length, walk.rows.length]).toEqual([false, 11, 22]);
});

test('a poll ends once its rows are older than what is asked for, although the list goes on', async () => {
  const { paged, targets } = pagedListOf();
  const walk = await walkBack(paged, '2024-05-01T09:59:56.500000000', now, never);
  expect([walk.isWhole, targets.length]).toEqual([true, 2]);
  expect(targets[0]).toContain('after=2024-05-01T09%3A59%3A55Z');
});

const never = () => false;

test('a poll fails with any of its calls: rows in between would be lost', async () => {
  const { paged } = pagedListOf(3, new UpstreamError('UPSTREAM_UNAVAILABLE'));
  await expect(walkBack(paged, '2024-05-01T09:00:00.000000000', now, never)).rejects.toThrow('not available');
});

test('a poll whose next page is too much beside the others has the newest rows', async () => {
  const { paged } = pagedListOf(3, new UpstreamError('COST_LIMIT_EXCEEDED'));
  const walk = await walkBack(paged, '2024-05-01T09:00:00.000000000', now, never);
  expect([walk.isWhole, walk.rows.map(({ id }) => id)]).toEqual([false, ['0', '1', '2', '3']]);
});
