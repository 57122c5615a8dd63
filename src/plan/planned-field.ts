import { type SelectedField } from '../look-ahead/selection-tree.ts';
import type { Endpoint } from '../rest/endpoints.ts';
import { collectionText, most, type Objects, type Stage } from './objects.ts';
import type { Arguments, PlanBuilder } from './plan-builder.ts';

/** A field that a read of its own answers, and what it is read below. */
export interface PlannedField {
  readonly builder: PlanBuilder;
  readonly selected: SelectedField;
  readonly endpoint: Endpoint;
  /** The objects that it is a field of; undefined for a field of the query itself. */
  readonly parent: Objects | undefined;
  readonly stage: Stage;
  readonly certain: boolean;
  readonly path: string;
}

/** At how many objects the field is, at most. */
export function ownersOf({ parent }: PlannedField): number {
  return parent === undefined ? 1 : most(parent);
}

/** The collection below the field's objects that its operation is about. */
export function collectionOf({ endpoint, parent }: PlannedField): string {
  return collectionText(endpoint.noun, parent);
}

/** Plans a field with its arguments. */
export type PlanField = (planned: PlannedField, args: Arguments) => void;

/** A read that answers a field as a whole. */
export interface Read {
  /** Equal for reads that are one call at the same object. */
  readonly name: string;
  /** The number of rows it asks for. */
  readonly rows: number;
  /** At how many objects it is made at most, if not at all of them. */
  readonly atMost?: number;
}

/** One read for each object of the field; equal ones are one. */
export function planRead(
  { builder, endpoint, parent, stage, certain, path }: PlannedField,
  { name, rows, atMost = Number.POSITIVE_INFINITY }: Read,
): void {
  if (parent === undefined) return;
  const count = Math.min(builder.calls.claim(name, parent), atMost);
  const lower = certain ? count : 0;
  builder.calls.add({ endpoint, stage, lower, upper: count, rows: rows * count, paths: [path] });
}
