import { getNamedType, getNullableType, isListType, Kind, type ValueNode, type VariableValues } from 'graphql';
import { pageSizeOf } from '../graphql/connections.ts';
import { isRowType } from '../graphql/field-mapping.ts';
import { listView, suffices } from '../loaders/row-store.ts';
import { needsOf } from '../look-ahead/needs.ts';
import { rootOf } from '../look-ahead/operation-trees.ts';
import { type ObjectSelection, type OperationScope, type SelectedField } from '../look-ahead/selection-tree.ts';
import { memoize } from '../memoize.ts';
import { isNoun } from '../rest/nouns.ts';

/**
 * The most that an operation answers and reads if every record is distinct, every page is full, and no read is shared.
 * It is found much faster than a plan. An operation whose estimate is within the limits needs no plan.
 */
export interface Estimate extends Readonly<Sums> {
  /** The response path with the most objects, and their number; empty and 0 if there are none. */
  readonly fullest: { readonly path: string; readonly objects: number };
  /** True if the operation also reads the schema. Objects of the schema are not counted. */
  readonly introspects: boolean;
}

interface Sums {
  /**
   * The number of JSON objects, without those in JSON values. `look-ahead/object-weight.ts` counts the same objects
   * while the answer is made.
   */
  objects: number;
  /** The number of deferred fragments, counted on each object that has them; infinite in a list of unknown length. */
  deferrals: number;
  /** The number of REST calls; infinite for mutations, subscriptions, and objects by global id. */
  calls: number;
  /** The number of rows that the REST calls ask for. */
  rows: number;
}

/** An operation that is estimated. Its document is valid. */
export interface EstimateRequest extends OperationScope {
  readonly maxPageSize: number;
  /** If undefined, the estimate holds for any variables. */
  readonly variableValues: VariableValues | undefined;
}

/** The estimate of an operation. */
export function estimateOf(request: EstimateRequest): Estimate {
  const root = rootOf(request, request.variableValues?.coerced);
  if (root === undefined) return { ...noSums, fullest: { path: '', objects: 0 }, introspects: false };
  const estimating = new Estimating(request);
  const sums = estimating.ofObject(root, undefined);
  // `ofObject` counts the root, too, which is no object of the answer. Integers above the maximum would not be exact.
  const objects = Math.min(sums.objects - 1, Number.MAX_SAFE_INTEGER);
  return { ...sums, objects, fullest: estimating.fullestPlace(root), introspects: root.introspects };
}

const noSums: Readonly<Sums> = { objects: 0, deferrals: 0, calls: 0, rows: 0 };

/** The objects that a field answers on one object. */
interface Answered {
  readonly inside: readonly ObjectSelection[];
  readonly items: number;
  /** True if only the upstream's answer says how many items there are. */
  readonly isOpenEnded: boolean;
  /** The number of rows of the page, if the field is a connection. */
  readonly page: number | undefined;
}

/** The estimate of one tree. It visits each selection once, so that nested fragments cannot multiply the work. */
class Estimating {
  readonly #request: EstimateRequest;
  /** The sums of each selection. The key of the inner map is the number of rows of the page, if there is one. */
  readonly #known = memoize((_selection: ObjectSelection) => new Map<number | undefined, Sums>());

  constructor(request: EstimateRequest) {
    this.#request = request;
  }

  /** The sums of an object and all that is below it. `page` is the number of rows of a connection. */
  ofObject(selection: ObjectSelection, page: number | undefined): Readonly<Sums> {
    const sums = this.#known(selection);
    const known = sums.get(page);
    if (known !== undefined) return known;
    const own = readsOwnRow(selection) ? 1 : 0;
    const total = { objects: 1, deferrals: selection.deferrals, calls: own, rows: own };
    for (const selected of selection.fields) this.#add(total, selected, this.#answered(selected, page));
    sums.set(page, total);
    return total;
  }

  /** Adds the reads of a field, its objects, and all that is below these objects. */
  #add(total: Sums, selected: SelectedField, { inside, items, isOpenEnded, page }: Answered): void {
    const { calls, rows } = this.#readsOf(selected, page);
    total.calls += calls;
    total.rows += rows;
    if (inside.length === 0 || items === 0) return;
    const all = inside.map((selection) => this.ofObject(selection, page));
    const most = (of: keyof Sums): number => items * Math.max(...all.map((sums) => sums[of]));
    total.objects += most('objects');
    total.deferrals += isOpenEnded && most('deferrals') > 0 ? Number.POSITIVE_INFINITY : most('deferrals');
    total.calls += most('calls');
    total.rows += most('rows');
  }

  /** The REST calls and rows of a field itself. Detail views are counted with the field's objects. */
  #readsOf(selected: SelectedField, page = 0): Pick<Sums, 'calls' | 'rows'> {
    const { maxPageSize } = this.#request;
    const { origin, inside } = selected;
    // 1 if the field's object is read by its key and `ofObject` does not count that read.
    const byKey = inside !== undefined && isNoun(inside.type.name) && !readsOwnRow(inside) ? 1 : 0;
    const has = (argument: string): boolean => selected.argumentNode(argument) !== undefined;
    switch (origin.kind) {
      case 'free':
      case 'column':
      case 'organizationOf':
        return noSums;
      case 'anyRow':
      case 'organization':
        // For `anyRow`, a page of one row. For `organization`, the project that tells what `@current` stands for.
        return { calls: 1, rows: 1 };
      case 'byId':
      case 'owner':
      case 'reference':
        // A page of the object's list, and the object's row.
        return { calls: 1 + byKey, rows: maxPageSize + byKey };
      case 'list': {
        // After a cursor, this window and another one of the list may be read as one larger page.
        const read = has('after') || has('before') ? maxPageSize : Math.max(page, 1);
        return has('last') ? { calls: 2, rows: maxPageSize + read } : { calls: 1, rows: read };
      }
      case 'table':
        return { calls: 1, rows: maxPageSize };
      case 'text':
        // The event, and the project that tells what `@current` stands for.
        return { calls: 2, rows: 2 };
      case 'report':
        // If the report names rows, a page of their list is read, and then each of the rows that the page lacks.
        if (!isRowType(getNamedType(selected.field.type).name)) return { calls: 1, rows: 0 };
        return { calls: 2 + maxPageSize * byKey, rows: maxPageSize * (1 + byKey) };
      case 'node':
      case 'tail':
      case 'write':
        return { calls: Number.POSITIVE_INFINITY, rows: Number.POSITIVE_INFINITY };
    }
  }

  /** Follows, level by level, the field with the most objects in and below it. Stops where no further objects are. */
  fullestPlace(root: ObjectSelection): Estimate['fullest'] {
    const path: string[] = [];
    let objects = 1;
    let fullest = this.#fullestOf([root], undefined);
    for (; fullest !== undefined; fullest = this.#fullestOf(fullest.inside, fullest.page)) {
      path.push(fullest.responseKey);
      objects = Math.min(objects * fullest.items, Number.MAX_SAFE_INTEGER);
    }
    return { path: path.join('.'), objects: path.length === 0 ? 0 : objects };
  }

  #fullestOf(selections: readonly ObjectSelection[], page: number | undefined) {
    const all = selections.flatMap(({ fields }) => fields);
    const counted = all.map((selected) => {
      const answered = this.#answered(selected, page);
      const sums = { ...noSums };
      this.#add(sums, selected, answered);
      return { ...answered, responseKey: selected.responseKey, objects: sums.objects };
    });
    return counted.filter(({ objects }) => objects > 0).toSorted((one, other) => other.objects - one.objects)[0];
  }

  #answered(selected: SelectedField, page: number | undefined): Answered {
    const { origin, possible: inside } = selected;
    const isList = isListType(getNullableType(selected.field.type));
    const isOpenEnded = isList && origin.kind !== 'node' && page === undefined;
    const length = origin.kind === 'node' ? this.#idsOf(selected) : (page ?? this.#request.maxPageSize);
    return {
      inside,
      items: isList ? length : 1,
      isOpenEnded,
      page: origin.kind === 'list' ? this.#pageOf(selected) : undefined,
    };
  }

  /** The maximum number of rows of a page. A larger page than allowed will be refused. */
  #pageOf(selected: SelectedField): number {
    const { maxPageSize } = this.#request;
    const given = ['first', 'last'].map((name) => this.#numberIn(selected.argumentNode(name)));
    const size = given.find((number) => number !== undefined) ?? pageSizeOf('first', undefined, maxPageSize);
    return Math.max(0, Math.min(size, maxPageSize));
  }

  #numberIn(value: ValueNode | undefined): number | undefined {
    if (value?.kind === Kind.INT) return Number(value.value);
    if (value?.kind !== Kind.VARIABLE) return undefined;
    const { variableValues, maxPageSize } = this.#request;
    if (variableValues === undefined) return maxPageSize;
    const number = variableValues.coerced[value.name.value];
    return typeof number === 'number' ? number : undefined;
  }

  /** The number of given ids. Repeated ids count each time. */
  #idsOf(selected: SelectedField): number {
    const { variableValues, maxPageSize } = this.#request;
    const value = selected.argumentNode('ids');
    if (value?.kind === Kind.LIST) return Math.min(value.values.length, maxPageSize);
    if (value?.kind !== Kind.VARIABLE) return 1;
    const ids = variableValues?.coerced[value.name.value];
    return Array.isArray(ids) ? Math.min(ids.length, maxPageSize) : maxPageSize;
  }
}

/** True if the selection has a column that the rows of lists lack. */
function readsOwnRow(selection: ObjectSelection): boolean {
  const { name } = selection.type;
  const { view } = needsOf(selection);
  return isNoun(name) && view !== undefined && !suffices(listView(name), view);
}
