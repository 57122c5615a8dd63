import {
  defaultFieldResolver,
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  getArgumentValues,
  getNamedType,
  isObjectType,
  type OperationDefinitionNode,
} from 'graphql';
import { introspectionFields } from '../look-ahead/meta-fields.ts';
import { type SelectedField, type SelectionScope, selectedFields } from '../look-ahead/selection.ts';

/** What a selection of the schema answers. */
export interface IntrospectionSize {
  /** JSON objects. */
  readonly objects: number;
  /** Bytes of their JSON text. */
  readonly bytes: number;
  /** The field of the query with the most bytes; empty if none is selected. */
  readonly path: string;
}

/** An operation with its coerced variables; undefined: the size holds for any. */
export interface IntrospectionRequest extends Pick<SelectionScope, 'schema' | 'fragments'> {
  readonly operation: OperationDefinitionNode;
  readonly variableValues: SelectionScope['variableValues'] | undefined;
}

const noVariables: SelectionScope['variableValues'] = { sources: {}, coerced: {} };

/**
 * The size of what an operation answers below `__schema` and `__type`: exact, but as large as can be if variables may
 * decide about it and are not known. Each element of the schema is measured once for each field that selects it, however
 * often it is answered, which takes far less than the answer itself.
 */
export function introspectionSize({ operation, ...request }: IntrospectionRequest): IntrospectionSize {
  const { variableValues = noVariables } = request;
  const scope = { ...request, variableValues };
  const isOpen = request.variableValues === undefined && (operation.variableDefinitions ?? []).length > 0;
  const fields = introspectionFields(operation, scope, isOpen ? 'possible' : 'selected');
  if (isOpen && fields.length > 0) return { ...unbounded, path: '' };
  const measuring = new Measuring(scope, operation);
  const sizes = fields.map((selected) => ({ ...measuring.field(undefined, selected), path: selected.responseKey }));
  const [largest] = sizes.toSorted((one, other) => other.bytes - one.bytes);
  return { ...sum(sizes), path: largest?.path ?? '' };
}

type Size = Omit<IntrospectionSize, 'path'>;

/** What surrounds a member of an object: quotes, colon and comma. */
const punctuation = 4;

/** An answer with so many objects is larger than any that is allowed: it is not measured to its end. */
const mostVisits = 200_000;

class Measuring {
  readonly #scope: SelectionScope;
  readonly #operation: OperationDefinitionNode;
  readonly #known = new Map<FieldNode, Map<unknown, Size>>();
  #visits = 0;

  constructor(scope: SelectionScope, operation: OperationDefinitionNode) {
    this.#scope = scope;
    this.#operation = operation;
  }

  /** A field of an element of the schema; undefined stands for the query. */
  field(source: unknown, selected: SelectedField): Size {
    const { field, nodes, responseKey } = selected;
    const [node] = nodes;
    if (node === undefined) return nothing;
    const { variableValues } = this.#scope;
    const resolve = field.resolve ?? defaultFieldResolver;
    const value: unknown = resolve(
      source,
      getArgumentValues(field, node, variableValues),
      undefined,
      this.#infoOf(selected),
    );
    const type = getNamedType(field.type);
    const { objects, bytes } = isObjectType(type) ? this.#value(value, type, nodes) : leaf(value);
    return { objects, bytes: bytes + responseKey.length + punctuation };
  }

  #value(value: unknown, type: GraphQLObjectType, nodes: readonly FieldNode[]): Size {
    if (value === null || value === undefined) return leaf(null);
    if (Array.isArray(value)) return sum(value.map((item) => this.#value(item, type, nodes)));
    const [node] = nodes;
    if (node === undefined || nodes.length > 1) return this.#object(value, type, nodes);
    const sizes = this.#known.get(node) ?? new Map<unknown, Size>();
    this.#known.set(node, sizes);
    const size = sizes.get(value) ?? this.#object(value, type, nodes);
    sizes.set(value, size);
    return size;
  }

  #object(value: unknown, type: GraphQLObjectType, nodes: readonly FieldNode[]): Size {
    this.#visits += 1;
    if (this.#visits > mostVisits) return unbounded;
    const { objects, bytes } = sum(selectedFields(type, nodes, this.#scope).map((one) => this.field(value, one)));
    return { objects: Math.min(objects + 1, Number.MAX_SAFE_INTEGER), bytes };
  }

  /** What resolvers of introspection read of an execution is the schema. */
  #infoOf({ field, nodes, responseKey }: SelectedField): GraphQLResolveInfo {
    const { schema, fragments, variableValues } = this.#scope;
    const parentType = schema.getQueryType();
    if (!isObjectType(parentType)) throw new Error('the schema has no query type');
    return {
      fieldName: field.name,
      fieldNodes: nodes,
      returnType: field.type,
      parentType,
      path: { prev: undefined, key: responseKey, typename: parentType.name },
      schema,
      fragments,
      rootValue: undefined,
      operation: this.#operation,
      variableValues,
      getAbortSignal: () => undefined,
      getAsyncHelpers: () => {
        throw new Error('introspection has nothing to wait for');
      },
    };
  }
}

const unbounded: Size = { objects: Number.MAX_SAFE_INTEGER, bytes: Number.MAX_SAFE_INTEGER };
const nothing: Size = { objects: 0, bytes: 0 };

function leaf(value: unknown): Size {
  return { objects: 0, bytes: Buffer.byteLength(JSON.stringify(value ?? null)) };
}

function sum(sizes: readonly Size[]): Size {
  let objects = 0;
  let bytes = punctuation;
  for (const size of sizes) {
    objects = Math.min(objects + size.objects, Number.MAX_SAFE_INTEGER);
    bytes = Math.min(bytes + size.bytes, Number.MAX_SAFE_INTEGER);
  }
  return { objects, bytes };
}
