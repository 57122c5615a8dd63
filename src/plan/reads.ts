import type { PlannedField } from './planned-field.ts';

/** A read that answers a field as a whole. */
export interface Read {
  /** Equal for reads that are one call at the same object. */
  readonly fact: string;
  /** How many rows it asks for. */
  readonly rows: number;
  /** At how many objects it is made at most, where that is not all of them. */
  readonly atMost?: number;
}

/** One read for each object of the field; equal ones are one. */
export function planRead(
  { builder, endpoint, parent, stage, certain, path }: PlannedField,
  { fact, rows, atMost = Number.POSITIVE_INFINITY }: Read,
): void {
  if (parent === undefined) return;
  const count = Math.min(builder.calls.claim(fact, parent), atMost);
  const lower = certain ? count : 0;
  builder.calls.add({ endpoint, stage, lower, upper: count, rows: rows * count, paths: [path] });
}
