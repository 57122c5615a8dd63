import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rangeOf } from '../../src/graphql/connections.ts';
import {
  joinPages,
  type ListPage,
  lastRowsOf,
  positionAfter,
  positionOf,
  slicePage,
} from '../../src/loaders/list-pages.ts';
import { mergedPagesOf } from '../../src/loaders/merged-pages.ts';
import { RestPage } from '../../src/rest/pages.ts';
import { relayPage } from '../support/relay.ts';

describe('mergedPagesOf', () => {
  const maximum = 10;
  const windows = fc.array(
    fc.record({ at: fc.record({ offset: fc.nat(30) }), limit: fc.integer({ min: 1, max: maximum }) }),
    { maxLength: 7 },
  );

  /** True if pages of the maximum size from these offsets hold every window whole. */
  const holdAll = (starts: readonly number[], wanted: readonly { at: { offset: number }; limit: number }[]): boolean =>
    wanted.every(({ at, limit }) => starts.some((start) => start <= at.offset && at.offset + limit <= start + maximum));

  test('holds each window whole in one page of at most the maximum', () => {
    fc.assert(
      fc.property(windows, (wanted) => {
        const pages = mergedPagesOf(wanted, maximum);
        for (const { at, limit } of wanted) {
          expect(pages.some((page) => page.offset <= at.offset && at.offset + limit <= page.offset + page.limit)).toBe(
            true,
          );
        }
        expect(pages.every(({ limit }) => limit <= maximum)).toBe(true);
      }),
    );
  });

  test('needs as few pages as any choice of pages does', () => {
    fc.assert(
      fc.property(windows, (wanted) => {
        // The best pages can be moved to the right until each starts with a window.
        const offsets = [...new Set(wanted.map(({ at }) => at.offset))];
        const choices = Array.from({ length: 2 ** offsets.length }, (_, bits) =>
          offsets.filter((_offset, index) => (bits >> index) % 2 === 1),
        );
        const fewest = Math.min(...choices.filter((starts) => holdAll(starts, wanted)).map(({ length }) => length));
        expect(mergedPagesOf(wanted, maximum)).toHaveLength(fewest);
      }),
    );
  });

  test('reads one row if only the count is wanted, and nothing more beside a page', () => {
    const count = { at: { offset: 0 }, limit: 1, countOnly: true };
    expect(mergedPagesOf([], maximum)).toEqual([]);
    expect(mergedPagesOf([count, count], maximum)).toEqual([{ offset: 0, limit: 1 }]);
    expect(mergedPagesOf([count, { at: { offset: 7 }, limit: 2 }], maximum)).toEqual([{ offset: 7, limit: 2 }]);
  });
});

/** The rows `ids` of a list, answered from an offset on. */
function pageOf(ids: readonly number[], offset: number, next = offset + ids.length): ListPage {
  return {
    rows: ids.map((id) => ({ id })),
    segments: [{ from: 0, at: { offset } }],
    next: { offset: next },
    count: 99,
  };
}

function idsIn({ rows }: ListPage): unknown[] {
  return rows.map(({ id }) => id);
}

/** A page of row n at offset n, put together from pieces that may overlap. */
const joined = fc
  .array(fc.record({ length: fc.nat(5), back: fc.nat(3) }), { minLength: 1, maxLength: 5 })
  .map((pieces) => {
    let page: ListPage | undefined;
    let end = 0;
    for (const { length, back } of pieces) {
      const start = Math.max(end - back, 0);
      const piece = pageOf(
        Array.from({ length }, (_, index) => start + index),
        start,
      );
      page = page === undefined ? piece : joinPages(page, piece);
      end = Math.max(end, start + length);
    }
    return page ?? pageOf([], 0);
  });

describe('joinPages', () => {
  test('has every row once, and knows where each stands in the list', () => {
    fc.assert(
      fc.property(joined, (page) => {
        expect(idsIn(page)).toEqual(Array.from({ length: page.rows.length }, (_, index) => index));
        for (const [index, { id }] of page.rows.entries()) expect(positionOf(page, index).offset).toBe(id);
      }),
    );
  });

  test('goes on where the second page does, and keeps a count', () => {
    const first = pageOf([1, 2], 0);
    const second = { ...pageOf([3], 2), next: undefined, count: undefined };
    expect(joinPages(first, second)).toMatchObject({ next: undefined, count: 99 });
    expect(joinPages(first, { ...second, count: 7 }).count).toBe(7);
  });

  test('knows where rows stand behind ones that were left out', () => {
    const page = joinPages(pageOf([1, 2, 3], 0), pageOf([3, 4, 1, 5], 3));
    expect(idsIn(page)).toEqual([1, 2, 3, 4, 5]);
    expect(page.rows.map((_row, index) => positionOf(page, index).offset)).toEqual([0, 1, 2, 4, 6]);
    expect(page.rows.map((_row, index) => positionAfter(page, index).offset)).toEqual([1, 2, 3, 5, 7]);
  });

  test('takes rows without an id for different ones', () => {
    const nameless: ListPage = { ...pageOf([], 0), rows: [{}, {}] };
    expect(joinPages(nameless, nameless).rows).toHaveLength(4);
  });
});

describe('slicePage', () => {
  test('is the same rows at the same places as the page, and goes on behind them', () => {
    fc.assert(
      fc.property(joined, fc.nat(20), fc.nat(20), (page, from, limit) => {
        const slice = slicePage(page, from, limit);
        expect(idsIn(slice)).toEqual(idsIn(page).slice(from, from + limit));
        for (const [index, { id }] of slice.rows.entries()) expect(positionOf(slice, index).offset).toBe(id);
        const end = from + slice.rows.length;
        expect(slice.next?.offset).toBe(end < page.rows.length ? idsIn(page)[end] : page.next?.offset);
        expect(slice.count).toBe(page.count);
      }),
    );
  });

  test('of a slice is as one slice', () => {
    fc.assert(
      fc.property(joined, fc.nat(8), fc.nat(8), fc.nat(8), (page, from, limit, inner) => {
        const twice = slicePage(slicePage(page, from, limit + inner), inner, limit);
        expect(idsIn(twice)).toEqual(idsIn(slicePage(page, from + inner, limit)));
      }),
    );
  });

  test('at the end is what lastRowsOf answers', () => {
    fc.assert(
      fc.property(joined, fc.integer({ min: 1, max: 9 }), (page, limit) => {
        expect(idsIn(lastRowsOf(page, limit))).toEqual(idsIn(page).slice(-limit));
      }),
    );
  });
});

describe('rangeOf', () => {
  test('is what the Relay algorithm leaves of a list', () => {
    const given = (maximum: number) => fc.option(fc.nat(maximum), { nil: undefined });
    const length = fc.nat(8);
    fc.assert(
      fc.property(length, given(9), given(9), given(8), given(8), (rows, first, last, after, before) => {
        fc.pre(first === undefined || last === undefined);
        // `last` before what is not there is another matter.
        fc.pre(last === undefined || before === undefined || before < rows);
        const ids = Array.from({ length: rows }, (_, index) => String(index));
        const args = {
          ...(first !== undefined && { first }),
          ...(last !== undefined && { last }),
          ...(after !== undefined && { after }),
          ...(before !== undefined && { before }),
        };
        const range = rangeOf(
          { first, last, after: after?.toString(), before: before?.toString() },
          (_argument, cursor) => Number(cursor) + 1,
          50,
        );
        const found =
          range.kind === 'window'
            ? ids.slice(range.offset, range.offset + range.limit)
            : ids.slice(range.from).slice(range.limit === 0 ? ids.length : -range.limit);
        expect(found).toEqual(relayPage(ids, ids, args).rows);
      }),
    );
  });
});

describe('RestPage', () => {
  const list = { noun: 'Event', scope: '1' } as const;

  test('never goes back or stands still, whatever `next` says', () => {
    const word = fc.oneof(fc.string(), fc.integer().map(String), fc.constantFrom('2024-05-01T10:00:00Z', '', '0', '5'));
    const query = fc.dictionary(fc.constantFrom('offset', 'limit', 'before', 'after', 'x'), word);
    const next = fc.oneof(
      fc.anything(),
      fc.string(),
      fc.webUrl({ withQueryParameters: true }),
      query.map((parameters) => `?${new URLSearchParams(parameters).toString()}`),
    );
    fc.assert(
      fc.property(next, fc.nat(10), fc.nat(3), (value, offset, rows) => {
        const results = Array.from({ length: rows }, (_, id) => ({ id, timestamp: '2024-05-01T10:00:00Z' }));
        const at = { offset, before: '2024-05-02T00:00:00Z' };
        const position = new RestPage({ results, next: value }, list, at, rows).next;
        if (position === undefined || position.before !== at.before || position.after !== undefined) return;
        if (position.isDeadEnd === true) return;
        // It is counted on, or the rows that were answered are named.
        const named = position.boundary?.ids.length ?? 0;
        expect(position.offset === 0 ? named : position.offset - offset).toBeGreaterThan(0);
        // No row between this page and the next is left out.
        expect(rows > 0 ? position.offset <= offset + rows : true).toBe(true);
      }),
    );
  });

  test('takes rows that are no objects for rows without columns', () => {
    expect(new RestPage({ results: [1, null, 'x', [], { id: 1 }] }, list, { offset: 0 }, 5).rows).toEqual([
      {},
      {},
      {},
      {},
      { id: 1 },
    ]);
  });
});
