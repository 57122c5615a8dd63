import { toTimestamp } from '../timestamps.ts';

/** The moment at which the demonstration data ends, in microseconds since 1970. */
export const seedEnd = Date.UTC(2026, 10, 20, 12) * 1000;

/** One day in microseconds. */
export const day = 86_400_000_000;

/** When something was done, some days before the data ends; the fraction makes it look like a clock's. */
export function daysBeforeEnd(days: number): string {
  return toTimestamp(seedEnd - Math.round(days * day) - (Math.round(days * 104_729) % 1_000_000));
}
