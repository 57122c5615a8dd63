import { fixed, optional, type QueryFunction, variadic } from './signature.ts';
import { numberOf, order, type Time, timeWithin } from './values.ts';

/** Functions of numbers; some take times, too. Anything else gives null. */
export const numberFunctions: readonly (readonly [name: string, QueryFunction])[] = [
  ['plus', fixed(2, plus)],
  ['minus', fixed(2, minus)],
  ['multiply', fixed(2, (one, other) => ofNumbers(one, other, (a, b) => a * b))],
  ['divide', fixed(2, (one, other) => ofNumbers(one, other, (a, b) => a / b))],
  ['modulo', fixed(2, (one, other) => ofNumbers(one, other, (a, b) => a % b))],
  ['negate', ofNumber((number) => -number)],
  ['abs', ofNumber(Math.abs)],
  ['floor', ofNumber(Math.floor)],
  ['ceil', ofNumber(Math.ceil)],
  ['round', optional(1, 2, round)],
  ['toInt', ofNumber(Math.trunc)],
  ['toFloat', ofNumber((number) => number)],
  ['greatest', variadic(1, (...values) => extreme(values, 1))],
  ['least', variadic(1, (...values) => extreme(values, -1))],
];

function ofNumber(apply: (number: number) => number): QueryFunction {
  return fixed(1, (value) => {
    const number = numberOf(value);
    return number === undefined ? null : finite(apply(number));
  });
}

function ofNumbers(one: unknown, other: unknown, apply: (a: number, b: number) => number): number | null {
  const [a, b] = [numberOf(one), numberOf(other)];
  return a === undefined || b === undefined ? null : finite(apply(a, b));
}

/** Undefined if they are not two times or spans. */
function ofTimes(one: unknown, other: unknown, apply: (a: Time, b: Time) => Time): Time | null | undefined {
  return typeof one === 'bigint' && typeof other === 'bigint' ? (timeWithin(apply(one, other)) ?? null) : undefined;
}

function plus(one: unknown, other: unknown): unknown {
  const time = ofTimes(one, other, (a, b) => a + b);
  return time === undefined ? ofNumbers(one, other, (a, b) => a + b) : time;
}

function minus(one: unknown, other: unknown): unknown {
  const time = ofTimes(one, other, (a, b) => a - b);
  return time === undefined ? ofNumbers(one, other, (a, b) => a - b) : time;
}

/** JSON has no other numbers. */
function finite(number: number): number | null {
  return Number.isFinite(number) ? number : null;
}

function round(value: unknown, digits: unknown = 0): number | null {
  const scale = 10 ** (numberOf(digits) ?? 0);
  return ofNumbers(value, scale, (number, factor) => Math.round(number * factor) / factor);
}

/** The first (-1) or last (1) of the values in their order; null if one of them is. */
function extreme(values: readonly unknown[], side: -1 | 1): unknown {
  if (values.includes(null)) return null;
  return values.reduce((best, value) => (order(value, best) * side > 0 ? value : best));
}
