import type { Endpoint } from '../look-ahead/endpoints.ts';
import type { SelectedField } from '../look-ahead/selection.ts';
import type { Arguments, Draft } from './draft.ts';
import type { Moment } from './moments.ts';
import { collectionText, most, type Objects } from './objects.ts';

/** A field on its way into the plan. */
export interface Step {
  readonly draft: Draft;
  readonly selected: SelectedField;
  readonly endpoint: Endpoint;
  /** The objects that it is a field of; undefined for a field of the query itself. */
  readonly parent: Objects | undefined;
  readonly moment: Moment;
  readonly certain: boolean;
  readonly path: string;
}

/** At how many objects the field is, at most. */
export function ownersOf({ parent }: Step): number {
  return parent === undefined ? 1 : most(parent);
}

/** The collection below the field's objects that its operation is about. */
export function collectionOf({ endpoint, parent }: Step): string {
  return collectionText(endpoint.kind, parent);
}

/** Plans a field with its arguments. */
export type PlanStep = (step: Step, args: Arguments) => void;
