import { toLikeMatcher, toMatcher } from './patterns.ts';
import { fixed, optional, type QueryFunction, variadic } from './signature.ts';
import { numberOf, textOf } from './values.ts';

/** Functions of texts. Other values count as their text; null gives null. */
export const textFunctions: readonly (readonly [name: string, QueryFunction])[] = [
  ['toString', ofText((text) => text)],
  ['lower', ofText((text) => text.toLowerCase())],
  ['upper', ofText((text) => text.toUpperCase())],
  ['trim', ofText((text) => text.trim())],
  ['length', fixed(1, (value) => (Array.isArray(value) ? value.length : nullOr(value, (text) => text.length)))],
  ['empty', fixed(1, isEmpty)],
  ['notEmpty', fixed(1, (value) => !isEmpty(value))],
  ['concat', variadic(1, (...values) => values.map((value) => (value === null ? '' : textOf(value))).join(''))],
  ['substring', optional(2, 3, substring)],
  ['startsWith', ofTexts((text, start) => text.startsWith(start))],
  ['endsWith', ofTexts((text, end) => text.endsWith(end))],
  ['position', fixed(2, (value, wanted) => nullOr(value, (text) => text.indexOf(textOf(wanted)) + 1))],
  ['match', ofTexts((text, pattern) => toMatcher(pattern)(text))],
  ['like', ofTexts((text, pattern) => toLikeMatcher(pattern, false)(text))],
  ['ilike', ofTexts((text, pattern) => toLikeMatcher(pattern, true)(text))],
  ['notLike', ofTexts((text, pattern) => !toLikeMatcher(pattern, false)(text))],
  ['notILike', ofTexts((text, pattern) => !toLikeMatcher(pattern, true)(text))],
];

function ofText(apply: (text: string) => string): QueryFunction {
  return fixed(1, (value) => nullOr(value, apply));
}

/** A test of two texts, which fails if either is null. */
function ofTexts(test: (text: string, other: string) => boolean): QueryFunction {
  return fixed(2, (value, other) => value !== null && other !== null && test(textOf(value), textOf(other)));
}

function nullOr<T>(value: unknown, apply: (text: string) => T): T | null {
  return value === null ? null : apply(textOf(value));
}

function isEmpty(value: unknown): boolean {
  return value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

/** Characters count from 1. */
function substring(value: unknown, start: unknown, length?: unknown): string | null {
  const from = (numberOf(start) ?? 1) - 1;
  return nullOr(value, (text) => text.slice(from, length === undefined ? undefined : from + (numberOf(length) ?? 0)));
}
