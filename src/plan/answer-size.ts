import { getNullableType, isListType, Kind, type ValueNode, type VariableValues } from 'graphql';
import { pageSizeOf } from '../graphql/connections.ts';
import { rootOf } from '../look-ahead/operation-trees.ts';
import { type ObjectSelection, type OperationScope, type SelectedField } from '../look-ahead/selection-tree.ts';
import { memoize } from '../memoize.ts';

/** The most JSON objects that an operation answers. */
export interface AnswerSize {
  readonly objects: number;
  /** The response path with the most objects, and their number; empty and 0 if there is none. */
  readonly path: string;
  readonly objectsThere: number;
  /** True if the operation also reads the schema. Objects of the schema are not counted. */
  readonly introspects: boolean;
}

/** An operation of a valid document that is sized. */
export interface AnswerSizeRequest extends OperationScope {
  readonly maxPageSize: number;
  /** The coerced variables. If undefined, the size holds for any variables. */
  readonly variableValues: VariableValues | undefined;
  /** The assumed length of a list whose length only the upstream's answer says; by default that of the largest page. */
  readonly openListLength?: number;
}

/**
 * The size of an answer in which every record is distinct and every page is full. Records, connections, edges,
 * `pageInfo` and payloads count; objects in JSON values and objects of the schema do not. `look-ahead/object-weight.ts`
 * counts the same objects while the answer is made.
 */
export function answerSizeOf(request: AnswerSizeRequest): AnswerSize {
  const root = rootOf(request, request.variableValues?.coerced);
  if (root === undefined) return { objects: 0, path: '', objectsThere: 0, introspects: false };
  const counting = new Counting(request, () => 1);
  const { introspects } = root;
  return { objects: counting.below(root, undefined), ...counting.fullestPlace(root), introspects };
}

/**
 * Sums what `countAt` counts at each object of an answer, including the root. Every record is distinct and every page
 * is full.
 */
export function sumOverObjects(request: AnswerSizeRequest, countAt: CountAt): number {
  const root = rootOf(request, request.variableValues?.coerced);
  return root === undefined ? 0 : atMost(countAt(root) + new Counting(request, countAt).below(root, undefined));
}

type CountAt = (selection: ObjectSelection) => number;

/** Larger numbers would not be exact. */
const largest = Number.MAX_SAFE_INTEGER;

interface Answered {
  readonly responseKey: string;
  /** The selection on its objects, for each type that they may have. */
  readonly inside: readonly ObjectSelection[];
  readonly items: number;
  /** The number of rows in the page, if it is a connection. */
  readonly page: number | undefined;
}

/** A count over one tree. It visits each selection once, so that nested fragments cannot multiply the work. */
class Counting {
  readonly #request: AnswerSizeRequest;
  readonly #countAt: CountAt;
  /** Known counts, by the number of rows of the page that an object is; undefined if it is no page. */
  readonly #known = memoize((_selection: ObjectSelection) => new Map<number | undefined, number>());

  constructor(request: AnswerSizeRequest, countAt: CountAt) {
    this.#request = request;
    this.#countAt = countAt;
  }

  /** The sum over all objects below one object; `page` is its number of rows, if it is a connection. */
  below(selection: ObjectSelection, page: number | undefined): number {
    const counts = this.#known(selection);
    const known = counts.get(page);
    if (known !== undefined) return known;
    let count = 0;
    for (const answered of this.#answers(selection, page)) count += this.#countOf(answered);
    counts.set(page, atMost(count));
    return atMost(count);
  }

  /** Follows the field that answers the most objects, down to a field with no objects below it. */
  fullestPlace(root: ObjectSelection): Pick<AnswerSize, 'path' | 'objectsThere'> {
    const path: string[] = [];
    let objectsThere = 1;
    let fullest = this.#fullestOf(this.#answers(root, undefined));
    for (; fullest !== undefined; fullest = this.#fullestOf(this.#inside(fullest))) {
      path.push(fullest.responseKey);
      objectsThere = atMost(objectsThere * fullest.items);
    }
    return { path: path.join('.'), objectsThere: path.length === 0 ? 0 : objectsThere };
  }

  #countOf({ inside, items, page }: Answered): number {
    return atMost(
      items * Math.max(...inside.map((selection) => this.#countAt(selection) + this.below(selection, page))),
    );
  }

  #fullestOf(all: readonly Answered[]): Answered | undefined {
    const filled = all.filter(({ items }) => items > 0);
    return filled.toSorted((one, other) => this.#countOf(other) - this.#countOf(one))[0];
  }

  #inside({ inside, page }: Answered): readonly Answered[] {
    return inside.flatMap((selection) => this.#answers(selection, page));
  }

  #answers({ fields }: ObjectSelection, page: number | undefined): readonly Answered[] {
    return fields.flatMap((selected) => {
      const inside = selected.possible;
      if (inside.length === 0) return [];
      const role = selected.role.kind;
      const isList = isListType(getNullableType(selected.field.type));
      // Only the upstream's answer says how many items a report lists.
      const { maxPageSize, openListLength = maxPageSize } = this.#request;
      const length = role === 'node' ? this.#idsOf(selected) : (page ?? openListLength);
      const items = isList ? length : 1;
      const { responseKey } = selected;
      return [{ responseKey, inside, items, page: role === 'list' ? this.#pageOf(selected) : undefined }];
    });
  }

  /** The most rows of a page. A page that is larger than allowed will be refused. */
  #pageOf(selected: SelectedField): number {
    const { maxPageSize } = this.#request;
    const given = ['first', 'last'].map((name) => this.#numberIn(selected.given(name)));
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
    const value = selected.given('ids');
    if (value?.kind === Kind.LIST) return Math.min(value.values.length, maxPageSize);
    if (value?.kind !== Kind.VARIABLE) return 1;
    const ids = variableValues?.coerced[value.name.value];
    return Array.isArray(ids) ? Math.min(ids.length, maxPageSize) : maxPageSize;
  }
}

function atMost(count: number): number {
  return Math.min(count, largest);
}
