import { arrayOf, isObject, memberOf } from '../json.ts';
import { numberFunctions } from './numbers.ts';
import { fixed, type QueryFunction, variadic } from './signature.ts';
import { textFunctions } from './texts.ts';
import { timeFunctions } from './times.ts';
import { isSame, isTrue, order } from './values.ts';

const logic: readonly (readonly [name: string, QueryFunction])[] = [
  ['and', variadic(1, (...values) => values.every(isTrue))],
  ['or', variadic(1, (...values) => values.some(isTrue))],
  ['not', fixed(1, (value) => !isTrue(value))],
  ['if', fixed(3, (condition, one, other) => (isTrue(condition) ? one : other))],
  ['isNull', fixed(1, (value) => value === null)],
  ['isNotNull', fixed(1, (value) => value !== null)],
  ['ifNull', fixed(2, (value, other) => value ?? other)],
  ['coalesce', variadic(1, (...values) => values.find((value) => value !== null) ?? null)],
];

const comparisons: readonly (readonly [name: string, QueryFunction])[] = [
  ['equals', fixed(2, isSame)],
  ['notEquals', fixed(2, (one, other) => !isSame(one, other))],
  ['less', fixed(2, (one, other) => order(one, other) < 0)],
  ['lessOrEquals', fixed(2, (one, other) => order(one, other) <= 0)],
  ['greater', fixed(2, (one, other) => order(one, other) > 0)],
  ['greaterOrEquals', fixed(2, (one, other) => order(one, other) >= 0)],
  ['in', fixed(2, isIn)],
  ['notIn', fixed(2, (value, list) => !isIn(value, list))],
  ['member', fixed(2, member)],
];

/** The functions of expressions, by name. All look at one event only: there are no aggregations. */
export const functions: ReadonlyMap<string, QueryFunction> = new Map([
  ...logic,
  ...comparisons,
  ...textFunctions,
  ...numberFunctions,
  ...timeFunctions,
]);

function isIn(value: unknown, list: unknown): boolean {
  return Array.isArray(list) ? list.some((item) => isSame(value, item)) : isSame(value, list);
}

/** The member of an object, or of a list whose first item is number 1; null if there is none. */
function member(value: unknown, key: unknown): unknown {
  if (isObject(value)) return memberOf(value, String(key));
  return typeof key === 'number' ? (arrayOf(value)[key - 1] ?? null) : null;
}
