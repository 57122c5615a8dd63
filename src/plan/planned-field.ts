import { type SelectedField } from '../look-ahead/selection-tree.ts';
import type { Endpoint } from '../rest/endpoints.ts';
import { collectionText, most, type Objects, type Stage } from './objects.ts';
import type { Arguments, PlanBuilder } from './plan-builder.ts';

/** A field that has a read of its own, and the objects below which it is read. */
export interface PlannedField {
  readonly builder: PlanBuilder;
  readonly selected: SelectedField;
  readonly endpoint: Endpoint;
  /** The objects that have the field; undefined for a field of the query itself. */
  readonly parent: Objects | undefined;
  readonly stage: Stage;
  readonly certain: boolean;
  readonly path: string;
}

/** The most objects that have the field. */
export function ownersOf({ parent }: PlannedField): number {
  return parent === undefined ? 1 : most(parent);
}

/** The collection below the field's objects that its REST operation concerns. */
export function collectionOf({ endpoint, parent }: PlannedField): string {
  return collectionText(endpoint.noun, parent);
}

/** Plans a field with its arguments. */
export type PlanField = (planned: PlannedField, args: Arguments) => void;

/** A read that answers a field as a whole. */
export interface Read {
  /** A name that is equal for reads that are one call at the same object. */
  readonly name: string;
  /** The number of rows that the read asks for. */
  readonly rows: number;
  /** The most objects for which the read is made, if it is not made for all of them. */
  readonly atMost?: number;
}

/** Plans one read for each object of the field. Equal reads are one call. */
export function planRead(
  { builder, endpoint, parent, stage, certain, path }: PlannedField,
  { name, rows, atMost = Number.POSITIVE_INFINITY }: Read,
): void {
  if (parent === undefined) return;
  const count = Math.min(builder.calls.claim(name, parent), atMost);
  const lower = certain ? count : 0;
  builder.calls.add({ endpoint, stage, lower, upper: count, rows: rows * count, paths: [path] });
}
