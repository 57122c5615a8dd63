import type { ListRef } from '../../src/rest/pages.ts';
import type { Row } from '../../src/rest/values.ts';

/** Something that a field needs to know of the upstream. */
export type Fact =
  | { readonly kind: 'row'; readonly path: string; readonly id: string; readonly view: 'list' | 'detail' }
  | { readonly kind: 'window'; readonly list: ListRef; readonly offset: number; readonly limit: number }
  // The number of rows of a list.
  | { readonly kind: 'count'; readonly list: ListRef }
  // Any row of an organization's own plugins.
  | { readonly kind: 'any'; readonly path: string; readonly organization: string }
  | { readonly kind: 'report'; readonly target: string };

/** A part of a list. */
export interface ListPart {
  readonly rows: readonly Row[];
  readonly count: number | undefined;
  readonly goesOn: boolean;
}

/** A source of facts: undefined stands for a fact that is not known yet, null for an object that does not exist. */
export interface Source {
  readonly row: (fact: Fact & { readonly kind: 'row' }) => Row | null | undefined;
  readonly window: (fact: Fact & { readonly kind: 'window' }) => ListPart | null | undefined;
  readonly count: (fact: Fact & { readonly kind: 'count' }) => ListPart | null | undefined;
  readonly any: (fact: Fact & { readonly kind: 'any' }) => Row | null | undefined;
  readonly report: (fact: Fact & { readonly kind: 'report' }) => unknown;
}
