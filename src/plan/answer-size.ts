import {
  type FieldNode,
  type GraphQLObjectType,
  getNamedType,
  getNullableType,
  isInterfaceType,
  isListType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type ValueNode,
} from 'graphql';
import { pageSizeOf } from '../graphql/connections.ts';
import { Remembered } from '../look-ahead/remembered.ts';
import { roleOf } from '../look-ahead/roles.ts';
import {
  possibleFields,
  type SelectedField,
  type Selecting,
  type SelectionScope,
  selectedFields,
} from '../look-ahead/selection.ts';

/** How many JSON objects an operation answers at most. */
export interface AnswerSize {
  readonly objects: number;
  /** The place with the most of them, and how many are there; empty and 0 if there is none. */
  readonly path: string;
  readonly objectsThere: number;
}

/** What is sized: an operation of a valid document. */
export interface AnswerSizeRequest extends Pick<SelectionScope, 'schema' | 'fragments'> {
  readonly operation: OperationDefinitionNode;
  readonly maxPageSize: number;
  /** The coerced variables; undefined: the size holds for any. */
  readonly variableValues: SelectionScope['variableValues'] | undefined;
  /** How many items a list has whose length only the upstream's answer says; by default as many as the largest page. */
  readonly openListLength?: number;
}

/**
 * The size of an answer with every record distinct and every page full. Records, connections, edges, `pageInfo` and
 * payloads count, what is inside a JSON value does not; `look-ahead/object-weight.ts` counts the same while the answer is
 * made. Introspection is apart (see `introspectionSize`).
 */
export function answerSizeOf(request: AnswerSizeRequest): AnswerSize {
  const type = request.schema.getRootType(request.operation.operation);
  if (!isObjectType(type)) return { objects: 0, path: '', objectsThere: 0 };
  const walk = new Walk(request, () => 1);
  return { objects: walk.below(type, [request.operation], undefined), ...walk.fullestPlace(type, request.operation) };
}

/**
 * The sum of what is counted at each object of an answer, its root included, with every record distinct and every page full.
 * `countAt` counts at one object what its nodes select. Introspection is apart.
 */
export function sumOverObjects(request: AnswerSizeRequest, countAt: CountAt): number {
  const type = request.schema.getRootType(request.operation.operation);
  if (!isObjectType(type)) return 0;
  const nodes = [request.operation];
  return atMost(countAt(nodes) + new Walk(request, countAt).below(type, nodes, undefined));
}

/** Counts something at one object, by the nodes that select on it. */
export type CountAt = (nodes: readonly Selecting[]) => number;

/** Larger numbers would not be exact. */
const largest = Number.MAX_SAFE_INTEGER;

/** What one field answers at one object of its parent. */
interface Answered extends Pick<SelectedField, 'responseKey' | 'nodes'> {
  /** The types that its objects may have. */
  readonly types: readonly GraphQLObjectType[];
  readonly items: number;
  /** The number of rows in the page, if it is a connection. */
  readonly page: number | undefined;
}

/** A walk over one operation. It counts each field once, so that fragments that spread fragments cannot multiply it. */
class Walk {
  readonly #request: AnswerSizeRequest;
  readonly #countAt: CountAt;
  /** By the number of rows in the page that an object is; undefined if it is no page. */
  readonly #known = new Map<number | undefined, Remembered<number>>();
  readonly #fields = new Remembered<readonly SelectedField[]>();

  constructor(request: AnswerSizeRequest, countAt: CountAt) {
    this.#request = request;
    this.#countAt = countAt;
  }

  /** The sum over all objects below one object of a type; `page` is its number of rows, if it is a connection. */
  below(type: GraphQLObjectType, nodes: readonly Selecting[], page: number | undefined): number {
    const counts = this.#known.get(page) ?? new Remembered<number>();
    this.#known.set(page, counts);
    return counts.of(type, nodes, () => this.#countBelow(type, nodes, page));
  }

  /** Follows the field that answers the most objects down to one below which there are no others. */
  fullestPlace(root: GraphQLObjectType, operation: OperationDefinitionNode): Omit<AnswerSize, 'objects'> {
    const path: string[] = [];
    let objectsThere = 1;
    let fullest = this.#fullestOf(this.#answers(root, [operation], undefined));
    for (; fullest !== undefined; fullest = this.#fullestOf(this.#inside(fullest))) {
      path.push(fullest.responseKey);
      objectsThere = atMost(objectsThere * fullest.items);
    }
    return { path: path.join('.'), objectsThere: path.length === 0 ? 0 : objectsThere };
  }

  #countBelow(type: GraphQLObjectType, nodes: readonly Selecting[], page: number | undefined): number {
    let count = 0;
    for (const answered of this.#answers(type, nodes, page)) count += this.#countOf(answered);
    return atMost(count);
  }

  #countOf({ types, nodes, items, page }: Answered): number {
    return atMost(items * (this.#countAt(nodes) + Math.max(...types.map((type) => this.below(type, nodes, page)))));
  }

  #fullestOf(all: readonly Answered[]): Answered | undefined {
    const filled = all.filter(({ items }) => items > 0);
    return filled.toSorted((one, other) => this.#countOf(other) - this.#countOf(one))[0];
  }

  #inside({ types, nodes, page }: Answered): readonly Answered[] {
    return types.flatMap((type) => this.#answers(type, nodes, page));
  }

  /** The fields that answer objects. */
  #answers(type: GraphQLObjectType, nodes: readonly Selecting[], page: number | undefined): readonly Answered[] {
    const fields = this.#fields.of(type, nodes, () => this.#select(type, nodes));
    return fields.flatMap((selected) => {
      const types = this.#typesOf(selected);
      if (types.length === 0) return [];
      const role = roleOf(type, selected.field).kind;
      const isList = isListType(getNullableType(selected.field.type));
      // How many items a report lists, only the upstream's answer says.
      const { maxPageSize, openListLength = maxPageSize } = this.#request;
      const length = role === 'node' ? this.#idsOf(selected) : (page ?? openListLength);
      const items = isList ? length : 1;
      const { responseKey, nodes: own } = selected;
      return [{ responseKey, nodes: own, types, items, page: role === 'list' ? this.#pageOf(selected) : undefined }];
    });
  }

  #select(type: GraphQLObjectType, nodes: readonly Selecting[]): readonly SelectedField[] {
    const { variableValues } = this.#request;
    if (variableValues !== undefined) return selectedFields(type, nodes, { ...this.#request, variableValues });
    return possibleFields(type, nodes, { ...this.#request, variableValues: { sources: {}, coerced: {} } });
  }

  #typesOf({ field }: SelectedField): readonly GraphQLObjectType[] {
    const type = getNamedType(field.type);
    if (isInterfaceType(type)) return this.#request.schema.getPossibleTypes(type);
    return isObjectType(type) ? [type] : [];
  }

  /** How many rows a page has at most. One that is larger than any page may be is refused. */
  #pageOf({ nodes: [node] }: SelectedField): number {
    const { maxPageSize } = this.#request;
    const given = ['first', 'last'].map((name) => this.#numberIn(argumentOf(node, name)));
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

  /** How many ids are given, each as often as it is. */
  #idsOf({ nodes: [node] }: SelectedField): number {
    const { variableValues, maxPageSize } = this.#request;
    const value = argumentOf(node, 'ids');
    if (value?.kind === Kind.LIST) return Math.min(value.values.length, maxPageSize);
    if (value?.kind !== Kind.VARIABLE) return 1;
    const ids = variableValues?.coerced[value.name.value];
    return Array.isArray(ids) ? Math.min(ids.length, maxPageSize) : maxPageSize;
  }
}

function argumentOf(node: FieldNode | undefined, name: string): ValueNode | undefined {
  return node?.arguments?.find((argument) => argument.name.value === name)?.value;
}

function atMost(count: number): number {
  return Math.min(count, largest);
}
