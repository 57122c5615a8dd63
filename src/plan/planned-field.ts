import type { SelectedField } from '../look-ahead/selection.ts';
import type { Endpoint } from '../rest/endpoints.ts';
import { collectionText, most, type Objects } from './objects.ts';
import type { Arguments, PlanBuilder } from './plan-builder.ts';
import type { Stage } from './schedule.ts';

/** A field on its way into the plan. */
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
