import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLDeferDirective,
  type GraphQLField,
  GraphQLIncludeDirective,
  type GraphQLObjectType,
  type GraphQLSchema,
  GraphQLSkipDirective,
  getArgumentValues,
  getDirectiveValues,
  getNamedType,
  isAbstractType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  type SelectionNode,
  type SelectionSetNode,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
  type ValueNode,
  type VariableValues,
} from 'graphql';
import { memoize } from '../memoize.ts';
import { type FieldOrigin, originOf } from './field-origins.ts';

// The selection tree of an operation says which fields are selected on which objects. Fragments are spread in, fields
// with the same response key are merged, and `@skip`, `@include` and `@defer` are decided. The tree grows when a field
// is first visited. Facts about a selection are memoized functions of a node (see `needs.ts`).

/** An operation, with the fragments of its document and its schema. */
export interface OperationScope {
  readonly schema: GraphQLSchema;
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>;
  readonly operation: OperationDefinitionNode;
}

const noVariables: VariableValues = { sources: {}, coerced: {} };

/** Something that has a selection: a field, or the operation. */
type Selecting = FieldNode | OperationDefinitionNode;

/** The part of an operation that a tree has. */
export type OperationPart =
  | 'whole'
  // Without deferred fragments.
  | 'first'
  // Only fields and fragments without directives.
  | 'unconditional';

/** A use of `@defer` at one place of the answer. */
export interface DeferUsage {
  readonly around: DeferUsage | undefined;
}

/** The selections of an operation, or of a part of it, for some values of its variables. */
export class SelectionTree {
  readonly scope: OperationScope;
  readonly part: OperationPart;
  readonly root: Selection;
  readonly #conditions: VariableValues | undefined;
  /**
   * The known selections. The first key is the `@defer` around the nodes, or the tree itself if there is none. The
   * second key is the nodes. A field node that several places of the answer share has one selection.
   */
  readonly #selections = memoize((_around: object) => new WeakMap<object, Selection>());
  #last: { readonly nodes: readonly Selecting[]; readonly selection: Selection } | undefined;

  /** `conditions` are the variables in directives. If undefined, the tree has all that may be selected. */
  constructor(scope: OperationScope, conditions: VariableValues | undefined, part: OperationPart) {
    this.scope = scope;
    this.part = part;
    this.#conditions = conditions;
    this.root = this.at([scope.operation]);
  }

  /** True if the directives of a node let it be selected. */
  includes(node: SelectionNode): boolean {
    const conditions = this.#conditions;
    if (conditions === undefined) return this.part !== 'unconditional';
    if (getDirectiveValues(GraphQLSkipDirective, node, conditions)?.['if'] === true) return false;
    return getDirectiveValues(GraphQLIncludeDirective, node, conditions)?.['if'] !== false;
  }

  /** True if a fragment is deferred, or may be. */
  defers(node: SelectionNode): boolean {
    const given = getDirectiveValues(GraphQLDeferDirective, node, this.#conditions ?? noVariables);
    return given !== undefined && given['if'] !== false;
  }

  /** The selection of all nodes of one field. `usages` are the uses of `@defer` around the nodes. */
  at(nodes: readonly Selecting[], usages?: readonly (DeferUsage | undefined)[]): Selection {
    // A resolver asks for the same nodes for each object.
    if (usages === undefined && this.#last?.nodes === nodes) return this.#last.selection;
    const [node] = nodes;
    const isOne = node !== undefined && nodes.length === 1;
    const selections = this.#selections((isOne ? usages?.[0] : usages) ?? this);
    const key = isOne ? node : nodes;
    let selection = selections.get(key);
    if (selection === undefined) {
      selection = new Selection(this, nodes, usages);
      selections.set(key, selection);
    }
    if (usages === undefined) this.#last = { nodes, selection };
    return selection;
  }
}

/** The selection at one place of the answer, on objects of any type. All items of a list are one place. */
export class Selection {
  readonly tree: SelectionTree;
  readonly nodes: readonly Selecting[];
  /** The innermost `@defer` around each of the nodes; undefined if there is none at all. */
  readonly usages: readonly (DeferUsage | undefined)[] | undefined;
  readonly #byType = new Map<GraphQLObjectType, ObjectSelection>();

  constructor(tree: SelectionTree, nodes: readonly Selecting[], usages?: readonly (DeferUsage | undefined)[]) {
    this.tree = tree;
    this.nodes = nodes;
    this.usages = usages;
  }

  /** The fields that are selected on objects of a type. */
  on(type: GraphQLObjectType): ObjectSelection {
    const known = this.#byType.get(type);
    if (known !== undefined) return known;
    const found = collect(this, type);
    this.#byType.set(type, found);
    return found;
  }

  onNamed(name: string): ObjectSelection {
    const type = this.tree.scope.schema.getType(name);
    if (!isObjectType(type)) throw new Error(`the schema has no object type ${name}`);
    return this.on(type);
  }
}

/** A selection on objects of one type. */
export interface ObjectSelection {
  readonly type: GraphQLObjectType;
  /** The fields, except `__typename` and introspection, which cost nothing. */
  readonly fields: readonly SelectedField[];
  readonly typenames: readonly string[];
  readonly introspects: boolean;
  /** The number of deferred fragments on each object, including nested ones. */
  readonly deferrals: number;
}

/** One field of the answer. All of its nodes have the same response key. */
export class SelectedField {
  readonly parent: GraphQLObjectType;
  readonly responseKey: string;
  readonly field: GraphQLField<unknown, unknown>;
  readonly nodes: FieldNode[] = [];
  /** The innermost `@defer` around each of the nodes; undefined if there is none at all. */
  usages: (DeferUsage | undefined)[] | undefined;
  readonly #tree: SelectionTree;
  #below: Selection | undefined;
  #arguments: Readonly<Record<string, unknown>> | undefined;

  constructor(
    tree: SelectionTree,
    parent: GraphQLObjectType,
    responseKey: string,
    field: GraphQLField<unknown, unknown>,
  ) {
    this.#tree = tree;
    this.parent = parent;
    this.responseKey = responseKey;
    this.field = field;
  }

  get origin(): FieldOrigin {
    return originOf(this.field);
  }

  /** The value of an argument in the document: a literal, a variable, or a literal that holds variables. */
  argumentNode(name: string): ValueNode | undefined {
    return this.nodes[0]?.arguments?.find((argument) => argument.name.value === name)?.value;
  }

  /** The coerced arguments. Throws a GraphQLError if they do not fit. */
  argumentsWith(variables: () => VariableValues): Readonly<Record<string, unknown>> {
    const [node] = this.nodes;
    if (this.#arguments !== undefined || node === undefined) return this.#arguments ?? {};
    if (node.arguments?.some(({ value }) => holdsVariable(value)) === true)
      return getArgumentValues(this.field, node, variables());
    this.#arguments = getArgumentValues(this.field, node);
    return this.#arguments;
  }

  get below(): Selection {
    this.#below ??= this.#tree.at(this.nodes, this.usages);
    return this.#below;
  }

  /** The selections on its objects, one for each possible type; none for leaves. */
  get possible(): readonly ObjectSelection[] {
    const type = getNamedType(this.field.type);
    if (isObjectType(type)) return [this.below.on(type)];
    return isAbstractType(type) ? this.#tree.scope.schema.getPossibleTypes(type).map((one) => this.below.on(one)) : [];
  }

  /** The selection on its objects; undefined if they may have several types, or if it is a leaf. */
  get inside(): ObjectSelection | undefined {
    const type = getNamedType(this.field.type);
    return isObjectType(type) ? this.below.on(type) : undefined;
  }
}

/** True if a value of a document is a variable, or holds one. */
export function holdsVariable(value: ValueNode): boolean {
  if (value.kind === Kind.LIST) return value.values.some(holdsVariable);
  if (value.kind === Kind.OBJECT) return value.fields.some((field) => holdsVariable(field.value));
  return value.kind === Kind.VARIABLE;
}

/** The most deferred fragments on one object that are told apart. Others count as part of the fragment around them. */
const mostDeferrals = 10_000;

/**
 * Collects the fields of a selection on objects of a type (GraphQL specification §6.3.2, CollectFields). A fragment is
 * entered once for each `@defer` around its spreads. A fragment that was entered without a `@defer` around it is never
 * entered again.
 */
function collect({ tree, nodes, usages }: Selection, type: GraphQLObjectType): ObjectSelection {
  const { schema, fragments } = tree.scope;
  const fields = new Map<string, SelectedField>();
  const typenames = new Set<string>();
  /** The uses of `@defer` around the spreads of each fragment. */
  const visited = new Map<string, Set<DeferUsage | undefined>>();
  let introspects = false;
  let deferrals = 0;
  const applies = (condition: string | undefined): boolean => {
    if (condition === undefined || condition === type.name) return true;
    const named = schema.getType(condition);
    return named !== undefined && isAbstractType(named) && schema.isSubType(named, type);
  };
  const enter = (set: SelectionSetNode | undefined, around: DeferUsage | undefined): void => {
    for (const node of set?.selections ?? []) {
      const isPlain = node.directives === undefined || node.directives.length === 0;
      if (!isPlain && !tree.includes(node)) continue;
      if (node.kind === 'Field') add(node, around);
      else if (isPlain || !tree.defers(node)) spread(node, around);
      else if (tree.part !== 'first') {
        deferrals += 1;
        spread(node, deferrals <= mostDeferrals ? { around } : around);
      }
    }
  };
  const spread = (node: Exclude<SelectionNode, FieldNode>, around: DeferUsage | undefined): void => {
    if (node.kind === 'InlineFragment') {
      if (applies(node.typeCondition?.name.value)) enter(node.selectionSet, around);
      return;
    }
    const name = node.name.value;
    const fragment = fragments[name];
    if (fragment === undefined || !applies(fragment.typeCondition.name.value)) return;
    const known = visited.get(name) ?? new Set();
    if (known.has(undefined) || known.has(around)) return;
    visited.set(name, known.add(around));
    enter(fragment.selectionSet, around);
  };
  const add = (node: FieldNode, usage: DeferUsage | undefined): void => {
    const name = node.name.value;
    const responseKey = node.alias?.value ?? name;
    const field = type.getFields()[name];
    if (field === undefined) {
      if (name === TypeNameMetaFieldDef.name) typenames.add(responseKey);
      introspects ||= isIntrospection(name);
      return;
    }
    const selected = fields.get(responseKey) ?? new SelectedField(tree, type, responseKey, field);
    fields.set(responseKey, selected);
    if (usage !== undefined) selected.usages ??= selected.nodes.map(() => undefined);
    selected.nodes.push(node);
    selected.usages?.push(usage);
  };
  for (const [index, { selectionSet }] of nodes.entries()) enter(selectionSet, usages?.[index]);
  return { type, fields: [...fields.values()], typenames: [...typenames], introspects, deferrals };
}

/** True for the name of a field that reads the schema. */
export function isIntrospection(name: string): boolean {
  return name === SchemaMetaFieldDef.name || name === TypeMetaFieldDef.name;
}

/** The fragments of a document by their names. */
export const fragmentsOf = memoize((document: DocumentNode): OperationScope['fragments'] => {
  const definitions = document.definitions.filter((one) => one.kind === 'FragmentDefinition');
  const named = Object.fromEntries(definitions.map((one) => [one.name.value, one]));
  // Documents are read before validation. A document may spread a fragment `constructor` without defining it.
  Object.setPrototypeOf(named, null);
  return named;
});
