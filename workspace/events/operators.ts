import { invalid, invalidChoice } from '../errors.ts';
import { toMatcher } from '../expressions/patterns.ts';
import { ExpressionError } from '../expressions/problem.ts';
import { numberOf, textOf, timeOf } from '../expressions/values.ts';
import { arrayOf, type JsonObject, textOfJson } from '../json.ts';

/** True if the value of a property, null if it is not set, passes. */
export type Test = (value: unknown) => boolean;

/** Reads the operator of a filter and the value that it compares with. `attr` is the filter. */
export function toTest({ operator = 'exact', value }: JsonObject, attr: string): Test {
  const name = String(operator);
  const make = positive.get(name);
  if (make !== undefined) return make(value, `${attr}__value`);
  const opposite = positive.get(negative.get(name) ?? '');
  if (opposite === undefined) throw invalidChoice(`${attr}__operator`, name);
  const test = opposite(value, `${attr}__value`);
  return (actual) => !test(actual);
}

/** The test of each operator; a property that is not set passes none of them. */
const positive: ReadonlyMap<string, (value: unknown, attr: string) => Test> = new Map([
  ['exact', exact],
  ['in', exact],
  ['icontains', contains],
  ['regex', matches],
  ['is_set', () => isSet],
  ['gt', ofNumbers((actual, limit) => actual > limit)],
  ['gte', ofNumbers((actual, limit) => actual >= limit)],
  ['lt', ofNumbers((actual, limit) => actual < limit)],
  ['lte', ofNumbers((actual, limit) => actual <= limit)],
  ['min', ofNumbers((actual, limit) => actual >= limit)],
  ['max', ofNumbers((actual, limit) => actual <= limit)],
  ['between', between],
  ['is_date_exact', ofTimes((actual, time) => startOfDay(actual) === startOfDay(time))],
  ['is_date_before', ofTimes((actual, time) => actual < time)],
  ['is_date_after', ofTimes((actual, time) => actual > time)],
]);

/** Operators that pass what others do not, a property that is not set included. */
const negative: ReadonlyMap<string, string> = new Map([
  ['is_not', 'exact'],
  ['not_in', 'in'],
  ['not_icontains', 'icontains'],
  ['not_regex', 'regex'],
  ['is_not_set', 'is_set'],
  ['not_between', 'between'],
]);

/** Equal as text; a list of values matches any of them. */
function exact(value: unknown): Test {
  const wanted = new Set((Array.isArray(value) ? value : [value]).map((one) => textOfJson(one ?? null)));
  return (actual) => isSet(actual) && wanted.has(textOfJson(actual));
}

function contains(value: unknown): Test {
  const wanted = (Array.isArray(value) ? value : [value]).map((one) => textOf(one ?? null).toLowerCase());
  return (actual) => isSet(actual) && wanted.some((one) => textOf(actual).toLowerCase().includes(one));
}

function matches(value: unknown, attr: string): Test {
  try {
    const matcher = toMatcher(textOf(value ?? ''));
    return (actual) => isSet(actual) && matcher(textOf(actual));
  } catch (error) {
    if (error instanceof ExpressionError) throw invalid(attr, `Not a valid regular expression: ${error.message}`);
    throw error;
  }
}

function ofNumbers(passes: (actual: number, limit: number) => boolean): (value: unknown, attr: string) => Test {
  return (value, attr) => {
    const limit = expectNumber(value, attr);
    return (actual) => {
      const number = numberOf(actual);
      return number !== undefined && passes(number, limit);
    };
  };
}

/** Both ends included. */
function between(value: unknown, attr: string): Test {
  const [low, high] = arrayOf(value).map((end) => expectNumber(end, attr));
  if (low === undefined || high === undefined) throw invalid(attr, 'A range is a list of two numbers.');
  return (actual) => {
    const number = numberOf(actual);
    return number !== undefined && number >= low && number <= high;
  };
}

function expectNumber(value: unknown, attr: string): number {
  const number = numberOf(value ?? null);
  if (number === undefined) throw invalid(attr, 'A valid number is required.');
  return number;
}

/** Times are ISO 8601 or seconds since 1970; the filter's own may also be relative, as `-7d`. */
function ofTimes(passes: (actual: bigint, time: bigint) => boolean): (value: unknown, attr: string) => Test {
  return (value, attr) => {
    const time = relativeTime(value) ?? timeOf(value);
    if (time === undefined) throw invalid(attr, 'Not a valid date-time.');
    return (actual) => {
      const found = timeOf(actual);
      return found !== undefined && passes(found, time);
    };
  };
}

const secondsOf: ReadonlyMap<string, number> = new Map([
  ['h', 3600],
  ['d', 86_400],
  ['w', 604_800],
  ['m', 2_592_000],
  ['y', 31_536_000],
]);

/** Some hours, days, weeks, months of 30 days or years of 365 days ago. */
function relativeTime(value: unknown): bigint | undefined {
  const [, count, unit = ''] = /^-(\d{1,4})([hdwmy])$/.exec(textOf(value ?? null)) ?? [];
  const seconds = secondsOf.get(unit);
  if (count === undefined || seconds === undefined) return undefined;
  return BigInt(Date.now() - Number(count) * seconds * 1000) * 1000n;
}

function startOfDay(time: bigint): bigint {
  return time / 86_400_000_000n;
}

function isSet(actual: unknown): boolean {
  return actual !== null;
}
