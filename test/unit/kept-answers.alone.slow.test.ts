import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { createContext, runInContext } from 'node:vm';
import { expect, test } from 'vitest';
import { CacheCounts } from '../../src/rest/cache/cache-counts.ts';
import { KeptAnswer, KeptAnswers } from '../../src/rest/cache/kept-answers.ts';
import { WholeAnswers } from '../../src/rest/cache/whole-answers.ts';
import { parseJson } from '../../src/rest/json.ts';
import { inForm, measured } from '../support/form.ts';

const maxBytes = inForm(16, 64) * 2 ** 20;

/** Collects garbage. */
function collect(): void {
  setFlagsFromString('--expose-gc');
  for (let round = 0; round < 4; round += 1) runInContext('gc()', createContext());
}

function answerOf(name: string, text: string): KeptAnswer {
  const read = { name, noun: 'dashboards', freshMs: 1, limit: 100, limitAskedAt: 0.5 };
  return new KeptAnswer(read, parseJson(text), text, { sentAt: 0.5, readAt: 0.5 });
}

/** Pages of about 20 kB, each of its own. */
const pages: readonly [what: string, page: (index: number) => unknown][] = [
  [
    'rows',
    (index) => rowsOf(index, (row) => ({ id: row, name: `Row ${row} of ${index}`, pinned: false, tags: ['a', 'b'] })),
  ],
  ['texts beyond Latin-1', (index) => rowsOf(index, (row) => ({ id: row, name: 'ж'.repeat(80) }))],
  ['columns that no other page has', (index) => rowsOf(index, (row) => ({ [`column_${row}`]: row }))],
  ['lists of one number', (index) => rowsOf(index, (row) => [[row], [row], [row], [row], [row], [row]])],
];

function rowsOf(index: number, rowOf: (row: number) => unknown): unknown {
  return { results: Array.from({ length: 300 }, (_, row) => rowOf(index * 300 + row)) };
}

test.each(pages)('answers with %s take no more memory than they may', async (what, page) => {
  collect();
  const before = process.memoryUsage().heapUsed;
  const answers = new KeptAnswers(maxBytes);
  const count = inForm(400, 100_000);
  for (let index = 0; index < count; index += 1) {
    const name = `epoch json /api/projects/1/dashboards/?limit=100&offset=${index}`;
    answers.keep(answerOf(name, JSON.stringify(page(index))));
    if (index % 100 === 0) await nextTurn();
  }
  collect();
  const grown = process.memoryUsage().heapUsed - before;
  measured(`a full cache of ${what}`, { pages: count, grownMiB: grown / 2 ** 20, countedMiB: answers.bytes / 2 ** 20 });
  expect(answers.bytes).toBeGreaterThan(maxBytes / 2);
  expect(answers.bytes).toBeLessThanOrEqual(maxBytes);
  expect(grown).toBeLessThan(1.2 * maxBytes);
});

test.each([
  ['Latin-1', 'x', 2000],
  ['other letters', 'ж', 2000],
  ['few letters', 'x', 20],
])('whole answers take no more memory than they may: %s', async (what, letter, length) => {
  collect();
  const before = process.memoryUsage().heapUsed;
  const answers = new WholeAnswers({ counts: new CacheCounts(), now: () => 0, maxBytes });
  const count = inForm(16_000, 200_000);
  for (let index = 0; index < count; index += 1) {
    // As it is once the kept answers themselves are gone.
    const sources = Array.from({ length: 5 }, () => ({
      ...{ noun: 'dashboards', readAt: index + 0.5, freshUntil: index + 1.5, isKept: true },
    }));
    const text = Buffer.from(`${index} ${letter.repeat(length)}`).toString();
    answers.keep(Buffer.from(`caller epoch document ${index}`).toString(), text, sources);
    if (index % 1000 === 0) await nextTurn();
  }
  collect();
  const grown = process.memoryUsage().heapUsed - before;
  measured(`whole answers of ${what}`, { grownMiB: grown / 2 ** 20, countedMiB: answers.bytes / 2 ** 20 });
  expect(answers.bytes).toBeGreaterThan(maxBytes / 2);
  expect(answers.bytes).toBeLessThanOrEqual(maxBytes);
  expect(grown).toBeLessThan(1.2 * maxBytes);
});

test('an answer that would drive out most others is not kept, the one asked for the longest ago makes room', () => {
  const answers = new KeptAnswers(40_000);
  const text = JSON.stringify('x'.repeat(1000));
  answers.keep(answerOf('large', JSON.stringify('x'.repeat(8000))));
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']) {
    answers.find('a');
    answers.keep(answerOf(name, text));
  }
  const known = ['large', 'a', 'b', 'c', 'd', 'e', 'f', 'i'].filter((name) => answers.find(name) !== undefined);
  expect(known).not.toContain('large');
  expect(known).not.toContain('b');
  expect(known).toContain('a');
  expect(known).toContain('i');
});
