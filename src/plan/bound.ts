import { getNamedType, Kind } from 'graphql';
import { isRowType } from '../graphql/field-mapping.ts';
import { listView, suffices, type View } from '../loaders/row-store.ts';
import { needsOf } from '../look-ahead/needs.ts';
import { rootOf } from '../look-ahead/operation-trees.ts';
import type { Role } from '../look-ahead/roles.ts';
import { type ObjectSelection, type OperationScope, type SelectedField } from '../look-ahead/selection-tree.ts';
import { memoize } from '../memoize.ts';

/** The most that an operation costs, whatever its variables are. */
export interface Bound {
  readonly calls: number;
  readonly rows: number;
}

/** An operation of a valid document that is bounded. */
export interface BoundRequest extends OperationScope {
  readonly maxPageSize: number;
  /** True for tenants whose projects are found by their keys. */
  readonly isNarrowed?: boolean;
}

const nothing: Bound = { calls: 0, rows: 0 };
const unbounded: Bound = { calls: Number.POSITIVE_INFINITY, rows: Number.POSITIVE_INFINITY };

/**
 * A bound of every plan of an operation. It assumes that nothing is shared, that every page has its largest size, and
 * that all fields are selected that the variables may select. It is worked out once for an operation. An operation
 * whose bound is within the limits needs no plan. The bound is infinite for mutations, and for objects by global id or
 * by the keys of a narrowed caller.
 */
export function boundOf(request: BoundRequest): Bound {
  const { operation, maxPageSize, isNarrowed = false } = request;
  const root = rootOf(request, undefined);
  if (operation.operation !== 'query' || root === undefined) return unbounded;
  if (isNarrowed && root.fields.some(({ role }) => role.kind === 'list')) return unbounded;
  return new Bounding(maxPageSize).ofObject(root, undefined);
}

/** The bounding of one operation. Objects are bounded once for each view that they come in. */
class Bounding {
  readonly #maxPageSize: number;
  readonly #known = memoize((_selection: ObjectSelection) => new Map<View | undefined, Bound>());

  constructor(maxPageSize: number) {
    this.#maxPageSize = maxPageSize;
  }

  /** The cost of a selection on an object that comes in a view. `view` is undefined for an object that is no row. */
  ofObject(selection: ObjectSelection, view: View | undefined): Bound {
    const bounds = this.#known(selection);
    const known = bounds.get(view);
    if (known !== undefined) return known;
    const need = needsOf(selection).view;
    const own = view !== undefined && need !== undefined && !suffices(view, need) ? { calls: 1, rows: 1 } : nothing;
    const bound = sum([own, ...selection.fields.map((selected) => this.#ofField(selected, view))]);
    bounds.set(view, bound);
    return bound;
  }

  /** The cost of a field for each object on which it is selected. */
  #ofField(selected: SelectedField, view: View | undefined): Bound {
    const { role } = selected;
    const maxPageSize = this.#maxPageSize;
    switch (role.kind) {
      case 'free':
        return this.#inside(selected, view);
      case 'column':
        return nothing;
      case 'organization':
        // The project that tells what `@current` stands for.
        return sum([{ calls: 1, rows: 1 }, this.#inside(selected, undefined)]);
      case 'organizationOf':
        return this.#inside(selected, undefined);
      case 'byId':
      case 'owner':
      case 'reference':
        // The row by its key, and a page of its list.
        return sum([{ calls: 2, rows: 1 + maxPageSize }, this.#inside(selected, 'detail')]);
      case 'list':
        return this.#ofList(role, selected);
      case 'anyRow':
        return { calls: 1, rows: 1 };
      case 'table':
        return { calls: 1, rows: maxPageSize };
      case 'text':
        // The event, and the project that tells what `@current` stands for.
        return { calls: 2, rows: 2 };
      case 'report':
        return this.#ofReport(selected);
      case 'node':
      case 'tail':
      case 'write':
        return unbounded;
    }
  }

  /**
   * The cost of a report. If it names rows, a page of their list is read, and then each of the rows that the page
   * lacks.
   */
  #ofReport(selected: SelectedField): Bound {
    const inside = this.#inside(selected, 'detail');
    const rows = this.#maxPageSize;
    if (!isRowType(getNamedType(selected.field.type).name)) return sum([{ calls: 1, rows: 0 }, inside]);
    return sum([{ calls: 2, rows }, times(rows, sum([{ calls: 1, rows: 1 }, inside]))]);
  }

  #ofList({ endpoint }: Role & { kind: 'list' }, selected: SelectedField): Bound {
    const maxPageSize = this.#maxPageSize;
    const has = (argument: string): boolean => selected.given(argument) !== undefined;
    const given = selected.given('first') ?? selected.given('last');
    const size = given?.kind === Kind.INT ? Math.min(Math.max(Number(given.value), 1), maxPageSize) : maxPageSize;
    // After a cursor, one page may be merged from this window and another window of the list.
    const read = has('after') || has('before') ? maxPageSize : size;
    const page = has('last') ? { calls: 2, rows: maxPageSize + read } : { calls: 1, rows: read };
    return sum([page, times(size, this.#inside(selected, listView(endpoint.noun)))]);
  }

  #inside({ inside }: SelectedField, view: View | undefined): Bound {
    return inside === undefined ? nothing : this.ofObject(inside, view);
  }
}

function times(count: number, { calls, rows }: Bound): Bound {
  return { calls: count * calls, rows: count * rows };
}

function sum(bounds: readonly Bound[]): Bound {
  let calls = 0;
  let rows = 0;
  for (const bound of bounds) {
    calls += bound.calls;
    rows += bound.rows;
  }
  return { calls, rows };
}
