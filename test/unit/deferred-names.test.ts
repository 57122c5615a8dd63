import { parse } from 'graphql';
import { expect, test } from 'vitest';
import { longestNameOf } from '../../src/plan/deferred-places.ts';

test.each([
  ['the longest path', '{ ab { cde f { g } } }', 5],
  ['aliases', '{ abc: d { e ... @defer { fg: h } } }', 5],
  [
    'the paths of fragments that spread fragments',
    '{ a { ...F } } fragment F on A { bc { ...G } } fragment G on A { def }',
    6,
  ],
  ['the longest label, as JSON', '{ a { ... @defer(label: "b") { c } ... @defer(label: "\\u0000") { c } } }', 10],
])('the longest name of deferred fragments has %s', (_which, query, bytes) => {
  expect(longestNameOf(parse(query))).toBe(bytes);
});
