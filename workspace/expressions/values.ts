import { textOfJson } from '../json.ts';
import { toEventTimestamp, toMicroseconds } from '../timestamps.ts';
import { ExpressionError } from './problem.ts';

/** A time, in microseconds since 1970, or a span of time. No other value of an expression is a bigint. */
export type Time = bigint;

/** A value as answers hold it: times as text. */
export function toAnswer(value: unknown): unknown {
  if (typeof value === 'bigint') return textOf(value);
  return Array.isArray(value) ? value.map(toAnswer) : value;
}

/** A value as text: strings bare, times as events tell them, the rest as JSON. */
export function textOf(value: unknown): string {
  return typeof value === 'bigint' ? toEventTimestamp(Number(value)) : textOfJson(toAnswer(value));
}

/** `time` if it lies in the years 0 to 9999, which are those that ISO 8601 can tell; else undefined. */
export function timeWithin(time: Time): Time | undefined {
  return time >= -62_167_219_200_000_000n && time < 253_402_300_800_000_000n ? time : undefined;
}

/** The number that a value is or spells; undefined if it is no number, or infinite. */
export function numberOf(value: unknown): number | undefined {
  if (value === null || typeof value === 'bigint' || typeof value === 'boolean') return undefined;
  const text = textOf(value).trim();
  const number = text === '' ? Number.NaN : Number(text);
  return Number.isFinite(number) ? number : undefined;
}

/** The time that a value is or spells: ISO 8601, or seconds since 1970; undefined if it is no time. */
export function timeOf(value: unknown): Time | undefined {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return timeWithin(BigInt(Math.trunc(value)) * 1_000_000n);
  const microseconds = typeof value === 'string' ? toMicroseconds(value) : undefined;
  return microseconds === undefined ? undefined : BigInt(microseconds);
}

/** True if a condition with this value holds: `true`, or a number other than 0. */
export function isTrue(value: unknown): boolean {
  return value === true || (typeof value === 'number' && value !== 0);
}

/** Equal times, else equal texts: "007" is not 7. Null is equal to null only. */
export function isSame(one: unknown, other: unknown): boolean {
  if (one === null || other === null) return one === other;
  const isTime = typeof one === 'bigint' || typeof other === 'bigint';
  return isTime ? order(one, other) === 0 : textOf(one) === textOf(other);
}

/**
 * Below 0 if `one` comes first: times by time, numbers by size, the rest as text. NaN if either is null. Throws for a time
 * and something that is none.
 */
export function order(one: unknown, other: unknown): number {
  if (one === null || other === null) return Number.NaN;
  if (typeof one === 'bigint' || typeof other === 'bigint') return Number(expectTime(one) - expectTime(other));
  const [a, b] = [numberOf(one), numberOf(other)];
  if (a !== undefined && b !== undefined && (a !== b || Number.isSafeInteger(a) || !Number.isInteger(a))) return a - b;
  const [text, otherText] = [textOf(one), textOf(other)];
  return Number(text > otherText) - Number(text < otherText);
}

function expectTime(value: unknown): Time {
  const time = timeOf(value);
  if (time === undefined) throw new ExpressionError(`expected an ISO 8601 time, but got ${textOf(value)}.`);
  return time;
}
