import { expect, test } from 'vitest';
import { countJson } from '../../src/rest/transport/json-weight.ts';

/** The number of characters in the text that are one of these. */
function countOf(text: string, characters: string): number {
  return Array.from(text).filter((character) => characters.includes(character)).length;
}

test('values and commas are counted in texts of every length around that of a block', () => {
  for (const length of [0, 1, 2, 3, 4, 5, 7, 16_383, 16_384, 16_385, 32_768, 50_001]) {
    const text = '{"a":[1,2,{"b":3}]},'.repeat(2501).slice(0, length);
    expect(countJson(text)).toEqual({ values: countOf(text, ':[{'), commas: countOf(text, ',') });
  }
});

test('nothing but values, and nothing but commas, does not overflow', () => {
  expect(countJson('['.repeat(100_000))).toEqual({ values: 100_000, commas: 0 });
  expect(countJson(','.repeat(100_000))).toEqual({ values: 0, commas: 100_000 });
});

test('a text with characters beyond Latin-1 counts as no less than it has', () => {
  const text = '{"Übung":"日本語 😀","list":[1,2,3]},'.repeat(1000);
  expect(countJson(text).values).toBeGreaterThanOrEqual(countOf(text, ':[{'));
  expect(countJson(text).commas).toBeGreaterThanOrEqual(countOf(text, ','));
  // U+013A and U+012C end with the bytes of a colon and a comma.
  expect(countJson('\u013a\u012c')).toEqual({ values: 1, commas: 1 });
});
