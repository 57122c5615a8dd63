import { expect, test } from 'vitest';
import { CacheCounts } from '../../src/rest/cache/cache-counts.ts';
import { KeptAnswer, KeptAnswers } from '../../src/rest/cache/kept-answers.ts';
import { WholeAnswers } from '../../src/rest/cache/whole-answers.ts';

function answerOf(name: string, { sharingKey = 'key', freshUntil = 60, text = '{}' } = {}): KeptAnswer {
  const read = { name, sharingKey, noun: 'projects', freshMs: freshUntil, limit: undefined, limitAskedAt: 0 };
  return new KeptAnswer(read, {}, text, 0);
}

test('a whole answer is given until the first answer that it was made of is stale', () => {
  let now = 0;
  const whole = new WholeAnswers({ counts: new CacheCounts(), now: () => now, maxBytes: 2 ** 20 });
  whole.keep('query', '{"data":1}', [answerOf('a').source, answerOf('b', { freshUntil: 30 }).source]);
  expect(whole.find('query')).toMatchObject({ text: '{"data":1}', mostBytes: 10, freshUntil: 30 });
  expect(whole.find('other')).toBeUndefined();
  now = 29;
  expect(whole.find('query')).toBeDefined();
  now = 30;
  expect(whole.find('query')).toBeUndefined();
  expect(whole.bytes).toBe(0);
});

test('whole answers are bounded: the one asked for the longest ago makes room, and none may take most of it', () => {
  const whole = new WholeAnswers({ counts: new CacheCounts(), now: () => 0, maxBytes: 80_000 });
  const text = 'x'.repeat(4000);
  whole.keep('large', text.repeat(2), [answerOf('a').source]);
  for (let index = 0; index < 20; index += 1) {
    whole.keep(`text ${index}`, text, [answerOf('a').source]);
    expect(whole.find('text 0')).toBeDefined();
    expect(whole.bytes).toBeLessThanOrEqual(80_000);
  }
  expect(whole.bytes).toBeGreaterThan(60_000);
  const found = ['large', 'text 0', 'text 1', 'text 19'].map((name) => whole.find(name) !== undefined);
  expect(found).toEqual([false, true, false, true]);
});

test('a key has another generation once an answer of its that is fresh was replaced or has made room', () => {
  let now = 0;
  const answers = new KeptAnswers(20_000, () => now);
  const generations = [answers.generationOf('key', true)];
  const other = answers.generationOf('other', true);
  const note = (): void => void generations.push(answers.generationOf('key', true));
  answers.keep(answerOf('a'));
  note();
  answers.keep(answerOf('a'));
  note();
  now = 60;
  answers.keep(answerOf('a', { freshUntil: 120 }));
  note();
  for (let index = 0; index < 20; index += 1)
    answers.keep(answerOf(`other ${index}`, { sharingKey: 'other', text: 'x'.repeat(500) }));
  expect(answers.find('a')).toBeUndefined();
  note();
  const [first, kept, replaced, refreshed, evicted] = generations;
  expect(kept).toBe(first);
  expect(replaced).not.toBe(first);
  expect(refreshed).toBe(replaced);
  expect(new Set([first, replaced, evicted, other]).size).toBe(4);
});

test('a proven key keeps its generation, however many keys are invented', () => {
  const answers = new KeptAnswers(20_000, () => 0);
  const generation = answers.generationOf('key', true);
  const others = Array.from({ length: 10_001 }, (_, index) => answers.generationOf(`invented ${index}`, false));
  expect(answers.generationOf('key', true)).toBe(generation);
  expect(new Set(others).size).toBe(10_001);
});

test('an unproven key keeps its generation, too: its answers may come from Redis', () => {
  const answers = new KeptAnswers(20_000, () => 0);
  expect(answers.generationOf('key', false)).toBe(answers.generationOf('key', false));
});
