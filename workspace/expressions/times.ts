import { fixed, type QueryFunction } from './signature.ts';
import { numberOf, type Time, textOf, timeOf, timeWithin } from './values.ts';

const second = 1_000_000n;
const spans: readonly (readonly [unit: string, length: Time])[] = [
  ['Second', second],
  ['Minute', 60n * second],
  ['Hour', 3600n * second],
  ['Day', 86_400n * second],
  ['Week', 604_800n * second],
];

/** Functions of times, all in UTC. What is no time gives null. */
export const timeFunctions: readonly (readonly [name: string, QueryFunction])[] = [
  ['now', fixed(0, () => BigInt(Date.now()) * 1000n)],
  ['toDateTime', ofTime((time) => time)],
  ['toDate', ofTime((time) => textOf(time).slice(0, 10))],
  ['toYear', ofDate((date) => date.getUTCFullYear())],
  ['toMonth', ofDate((date) => date.getUTCMonth() + 1)],
  ['toDayOfMonth', ofDate((date) => date.getUTCDate())],
  // Monday is 1.
  ['toDayOfWeek', ofDate((date) => ((date.getUTCDay() + 6) % 7) + 1)],
  ['toHour', ofDate((date) => date.getUTCHours())],
  ['toMinute', ofDate((date) => date.getUTCMinutes())],
  ['toStartOfHour', ofTime((time) => floorTo(time, 3600n * second))],
  ['toStartOfDay', ofTime((time) => floorTo(time, 86_400n * second))],
  ['toStartOfMonth', ofTime((time) => timeOf(`${textOf(time).slice(0, 7)}-01`) ?? null)],
  ['dateDiff', fixed(3, dateDiff)],
  ...spans.map(([unit, length]) => [`toInterval${unit}`, fixed(1, (value) => span(value, length))] as const),
];

function ofTime(apply: (time: Time) => unknown): QueryFunction {
  return fixed(1, (value) => {
    const time = timeOf(value);
    return time === undefined ? null : apply(time);
  });
}

function ofDate(apply: (date: Date) => number): QueryFunction {
  return ofTime((time) => apply(new Date(Number(floorTo(time, 1000n) / 1000n))));
}

function span(value: unknown, length: Time): Time | null {
  const number = numberOf(value);
  return number === undefined ? null : (timeWithin(BigInt(Math.trunc(number)) * length) ?? null);
}

/** The last multiple of `length` that is not after `time`. */
function floorTo(time: Time, length: Time): Time {
  const rest = time % length;
  return rest < 0n ? time - rest - length : time - rest;
}

/** The number of borders of the unit between two times. */
function dateDiff(unit: unknown, start: unknown, end: unknown): number | null {
  const length = spans.find(([name]) => name.toLowerCase() === unit)?.[1];
  const [from, to] = [timeOf(start), timeOf(end)];
  if (length === undefined || from === undefined || to === undefined) return null;
  return Number((floorTo(to, length) - floorTo(from, length)) / length);
}
