import { parse } from 'graphql';
import { expect, test } from 'vitest';
import { measureOf } from '../../src/look-ahead/document-measure.ts';
import { estimateOf } from '../../src/plan/estimate.ts';
import { isWithinDeferLimits } from '../../src/plan/parts.ts';
import { requestOf } from '../support/plans.ts';

function placesOf(query: string, coerced?: Record<string, unknown>): number {
  return estimateOf(requestOf(query, coerced)).deferrals;
}

test.each([
  ['none', '{ project(id: 1) { name } }', 0],
  ['one at the root', '{ ... @defer { project(id: 1) { name } } }', 1],
  ['one on a record', '{ project(id: 1) { ... @defer { name } } }', 1],
  ['none on an empty page', '{ projects(first: 0) { nodes { ... @defer { name } } } }', 0],
  ['one for each row', '{ projects(first: 20) { nodes { ... @defer { name } } } }', 20],
  ['one within another', '{ projects(first: 20) { nodes { ... @defer { name ... @defer { id } } } } }', 40],
  [
    'those of lists of lists, in fragments that spread fragments',
    `{ projects(first: 10) { nodes { ...P } } }
    fragment P on Project { dashboards(first: 30) { nodes { ...D @defer(label: "a") ...D @defer(label: "b") } } }
    fragment D on Dashboard { name ... @defer { tiles } }`,
    1200,
  ],
  [
    'too many in a list as long as the upstream likes',
    '{ project(id: 1) { eventValues(key: "a") { values { ... @defer { name } } } } }',
    Number.POSITIVE_INFINITY,
  ],
  ['one around such a list', '{ project(id: 1) { ... @defer { eventValues(key: "a") { values { name } } } } }', 1],
  ['none that is switched off', '{ projects(first: 20) { nodes { ... @defer(if: false) { name } } } }', 0],
])('an answer has so many deferred fragments: %s', (_which, query, places) => {
  expect(placesOf(query)).toBe(places);
});

test('variables decide how many deferred fragments there are', () => {
  const query = `query ($first: Int!, $defers: Boolean!) {
    projects(first: $first) { nodes { ... @defer(if: $defers) { name } } }
  }`;
  expect(placesOf(query)).toBe(100);
  expect(placesOf(query, { first: 7, defers: true })).toBe(7);
  expect(placesOf(query, { first: 7, defers: false })).toBe(0);
});

test('an answer with deferred fragments of introspection may not come in parts, because its length is unknown', () => {
  const query = '{ __schema { types { fields { ... @defer { name } } } } }';
  expect(isWithinDeferLimits(requestOf(query), parse(query))).toBe(false);
});

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
  const { longestLabel, longestPath } = measureOf(parse(query));
  expect(longestLabel + longestPath).toBe(bytes);
});
