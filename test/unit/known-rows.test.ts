import { describe, expect, test } from 'vitest';
import { KnownRows } from '../../src/live/known-rows.ts';
import type { Row } from '../../src/rest/values.ts';

const now = '2024-05-01T10:05:00.000000000';

/** Rows newest first, from `id seconds` texts; the seconds count from ten o'clock. */
function rowsOf(...texts: readonly string[]): Row[] {
  return texts.map((text) => {
    const [id = '', seconds = '0'] = text.split(' ');
    return { id, timestamp: new Date(Date.parse('2024-05-01T10:00:00Z') + Number(seconds) * 1000).toISOString() };
  });
}

function whole(...texts: readonly string[]) {
  return { rows: rowsOf(...texts), isWhole: true };
}

function cut(...texts: readonly string[]) {
  return { rows: rowsOf(...texts), isWhole: false };
}

function knowing(...texts: readonly string[]): KnownRows {
  const known = new KnownRows();
  known.add(rowsOf(...texts), now);
  return known;
}

function idsOf({ rows }: { readonly rows: readonly Row[] }): unknown[] {
  return rows.map(({ id }) => id);
}

describe('What is new', () => {
  test('is what was not known, oldest first, also of one moment', () => {
    const known = knowing('b 10', 'a 9');
    expect(idsOf(known.newRowsIn(whole('e 11', 'd 10', 'c 10', 'b 10', 'a 9')))).toEqual(['c', 'd', 'e']);
  });

  test('comes up to a minute late, and is left out after that', () => {
    const known = knowing('a 100');
    expect(idsOf(known.newRowsIn(whole('a 100', 'in 40', 'out 39.999')))).toEqual(['in']);
  });

  test('is not what has no id; what has no moment is known by its id', () => {
    const known = knowing('a 100');
    const rows: Row[] = [{ timestamp: '2024-05-01T10:02:00Z' }, { id: 'timeless', timestamp: null }];
    expect(idsOf(known.newRowsIn({ rows, isWhole: true }))).toEqual(['timeless']);
  });

  test('is found although the clock of an app is ahead by years', () => {
    const known = knowing('wrong 100000000', 'a 290');
    expect(idsOf(known.newRowsIn(whole('wrong 100000000', 'b 295', 'a 290')))).toEqual(['b']);
  });
});

describe('A gap', () => {
  test('is reported if the rows that were read do not reach back to what is known', () => {
    const known = knowing('a 10');
    expect(known.newRowsIn(cut('z 40', 'y 39'))).toMatchObject({ gap: true });
    expect(known.newRowsIn(cut('z 40', 'y 39', 'x 9'))).toMatchObject({ gap: false });
    expect(known.newRowsIn(whole('z 40', 'y 39'))).toMatchObject({ gap: false });
  });

  test('is reported once: the rows that were left out are not sent later', () => {
    const known = knowing('a 10');
    const first = cut('z 40', 'y 39');
    known.leaveOut(first, now);
    known.add(first.rows, now);
    const { rows, gap } = known.newRowsIn(whole('new 41', 'z 40', 'y 39', 'left 38', 'a 10'));
    expect([idsOf({ rows }), gap]).toEqual([['new'], false]);
  });
});

describe('A position', () => {
  test('names what is known, so that no more than what came since is sent from there', () => {
    const known = KnownRows.at(knowing('b 10', 'a 9').position);
    expect(idsOf(known.newRowsIn(whole('c 10', 'b 10', 'late 8', 'a 9')))).toEqual(['late', 'c']);
  });

  test('tells rows that it does not name again, rather than none', () => {
    const many = Array.from({ length: 300 }, (_, index) => `r${index} ${10 + index / 10}`);
    const known = KnownRows.at(knowing(...many).position);
    expect(idsOf(known.newRowsIn(whole(...many.toReversed())))).toHaveLength(50);
  });

  test('of nothing names everything', () => {
    const known = KnownRows.at(new KnownRows().position);
    expect(idsOf(known.newRowsIn(whole('b 10', 'a 9')))).toEqual(['a', 'b']);
  });
});

test('what no further row can be like is forgotten', () => {
  const known = knowing('a 10');
  known.add(rowsOf('b 200'), now);
  known.prune();
  expect(known.position.boundary?.ids.join('')).toHaveLength(8);
});
