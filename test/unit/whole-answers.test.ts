import { expect, test } from 'vitest';
import { CacheCounts } from '../../src/rest/cache/cache-counts.ts';
import { KeptAnswer, KeptAnswers } from '../../src/rest/cache/kept-answers.ts';
import { WholeAnswers } from '../../src/rest/cache/whole-answers.ts';
import type { AnswerSource } from '../../src/rest/operation-calls.ts';

function sourceOf({ freshUntil = 60 } = {}): AnswerSource {
  return { noun: 'projects', readAt: 0, freshUntil, isKept: true };
}

function answerOf(name: string, { text = '{}' } = {}): KeptAnswer {
  const read = { name, noun: 'projects', freshMs: 60, limit: undefined, limitAskedAt: 0 };
  return new KeptAnswer(read, {}, text, { sentAt: 0, readAt: 0 });
}

test('whole answers are bounded: the one asked for the longest ago makes room, and none may take most of it', () => {
  const whole = new WholeAnswers({ counts: new CacheCounts(), now: () => 0, maxBytes: 80_000 });
  const text = 'x'.repeat(4000);
  whole.keep('large', text.repeat(2), [sourceOf()]);
  for (let index = 0; index < 20; index += 1) {
    whole.keep(`text ${index}`, text, [sourceOf()]);
    expect(whole.find('text 0')).toBeDefined();
    expect(whole.bytes).toBeLessThanOrEqual(80_000);
  }
  expect(whole.bytes).toBeGreaterThan(60_000);
  const found = ['large', 'text 0', 'text 1', 'text 19'].map((name) => whole.find(name) !== undefined);
  expect(found).toEqual([false, true, false, true]);
});

test('a whole answer is given until an answer that it was made of is replaced or makes room', () => {
  const answers = new KeptAnswers(20_000);
  const whole = new WholeAnswers({ counts: new CacheCounts(), now: () => 0, maxBytes: 2 ** 20 });
  const keep = (query: string, name: string): void => {
    const answer = answerOf(name);
    answers.keep(answer);
    whole.keep(query, '{}', [answer.source]);
  };
  const given = (): string[] => ['of a', 'of b'].filter((query) => whole.find(query) !== undefined);
  keep('of a', 'a');
  keep('of b', 'b');
  expect(given()).toEqual(['of a', 'of b']);
  answers.keep(answerOf('a'));
  expect(given()).toEqual(['of b']);
  for (let index = 0; index < 20; index += 1) answers.keep(answerOf(`other ${index}`, { text: 'x'.repeat(500) }));
  expect(answers.find('b')).toBeUndefined();
  expect(given()).toEqual([]);
  expect(whole.bytes).toBe(0);
});

test('a whole answer is not given if an answer that it was made of was replaced before, or was too large to be kept', () => {
  const answers = new KeptAnswers(20_000);
  const whole = new WholeAnswers({ counts: new CacheCounts(), now: () => 0, maxBytes: 2 ** 20 });
  const replaced = answerOf('a');
  const large = answerOf('b', { text: 'x'.repeat(10_000) });
  for (const answer of [replaced, answerOf('a'), large]) answers.keep(answer);
  whole.keep('of a', '{}', [replaced.source]);
  whole.keep('of b', '{}', [large.source]);
  expect(whole.bytes).toBe(0);
  expect(whole.find('of a')).toBeUndefined();
  expect(whole.find('of b')).toBeUndefined();
});
