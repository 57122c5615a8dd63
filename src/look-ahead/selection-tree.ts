import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLDeferDirective,
  type GraphQLField,
  GraphQLIncludeDirective,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  GraphQLSkipDirective,
  getDirectiveValues,
  getNamedType,
  isAbstractType,
  isObjectType,
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  type SelectionNode,
  type SelectionSetNode,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
  type VariableValues,
} from 'graphql';
import { type Role, roleOf } from './roles.ts';

// The selection tree of an operation: which fields are selected on which objects, with fragments spread in, fields of one
// response key merged, and `@skip`, `@include` and `@defer` decided. It grows where somebody looks, once, and is kept with the
// document. All that is worked out from a selection is a `fold` over it.

/** An operation of a document, and what its names mean. */
export interface OperationScope {
  readonly schema: GraphQLSchema;
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>;
  readonly operation: OperationDefinitionNode;
}

type Coerced = Readonly<Record<string, unknown>>;

/**
 * What is selected on the root of an operation with its coerced variables; undefined if the schema has no operations of its
 * kind. Without variables, it is all that any may select. For the `first part` of an answer, what is deferred is left out.
 */
export function rootOf(
  scope: OperationScope,
  coerced: Coerced | undefined,
  part?: 'first part',
): ObjectSelection | undefined {
  const type = scope.schema.getRootType(scope.operation.operation);
  return isObjectType(type) ? treesOf(scope).of(coerced, part).root.on(type) : undefined;
}

/** True if no variable decides about what an operation selects. */
export function isConstant(scope: OperationScope): boolean {
  return treesOf(scope).isOne;
}

/** What is selected below the field that is being executed. */
export function selectionOf(info: ExecutionInfo): Selection {
  return executedTree(info).at(info.fieldNodes);
}

/** The tree of the operation that is being executed. */
export function executedTree(info: ExecutionInfo): SelectionTree {
  const trees = treesOf(info);
  return trees.of(trees.isOne ? {} : variablesOf(info).coerced);
}

/** What an executor gives a resolver: graphql-jit gives variables without their sources. */
export type ExecutionInfo = GraphQLResolveInfo & { readonly plainVariables?: boolean };

/** The variables of an execution. */
export function variablesOf({ variableValues, plainVariables }: ExecutionInfo): VariableValues {
  return plainVariables === true ? { sources: {}, coerced: { ...variableValues } } : variableValues;
}

const treesBySchema = new WeakMap<GraphQLSchema, WeakMap<OperationDefinitionNode, Trees>>();

/** The trees that were asked for last: the resolvers of one operation ask one after the other. */
let last: Trees | undefined;

function treesOf(scope: OperationScope): Trees {
  const { schema, operation } = scope;
  if (last?.scope.operation === operation && last.scope.schema === schema) return last;
  const ofSchema = treesBySchema.get(schema) ?? new WeakMap<OperationDefinitionNode, Trees>();
  treesBySchema.set(schema, ofSchema);
  last = ofSchema.get(operation) ?? new Trees({ schema, operation, fragments: scope.fragments });
  ofSchema.set(operation, last);
  return last;
}

/** So many trees of one operation are kept, each for other values of its conditions. */
const mostTrees = 16;

/** The trees of one operation: one, unless variables decide about what is selected. */
class Trees {
  readonly scope: OperationScope;
  readonly #conditions: readonly string[];
  readonly #trees = new Map<string, SelectionTree>();
  #whole: SelectionTree | undefined;

  constructor(scope: OperationScope) {
    this.scope = scope;
    this.#conditions = conditionsOf(scope);
  }

  /** True if no variable decides. */
  get isOne(): boolean {
    return this.#conditions.length === 0;
  }

  of(coerced: Coerced | undefined, part?: 'first part'): SelectionTree {
    if (!this.isOne || part !== undefined) return this.#ofConditions(coerced, part);
    this.#whole ??= new SelectionTree(this.scope, this.#decisions(coerced, part));
    return this.#whole;
  }

  #ofConditions(coerced: Coerced | undefined, part: 'first part' | undefined): SelectionTree {
    const key = `${part ?? ''} ${this.#keyOf(coerced)}`;
    const tree = this.#trees.get(key);
    if (tree !== undefined) return tree;
    if (this.#trees.size >= mostTrees) this.#trees.clear();
    const made = new SelectionTree(this.scope, this.#decisions(coerced, part));
    this.#trees.set(key, made);
    return made;
  }

  #keyOf(coerced: Coerced | undefined): string {
    return coerced === undefined ? 'any' : this.#conditions.map((name) => String(coerced[name])).join();
  }

  #decisions(coerced: Coerced | undefined, part: 'first part' | undefined): Decisions {
    const given = this.#conditions.filter((name) => coerced !== undefined && name in coerced);
    // No more is kept of the variables than what decides.
    const variables = { sources: {}, coerced: Object.fromEntries(given.map((name) => [name, coerced?.[name]])) };
    const isAny = coerced === undefined;
    return {
      includes: (node) => isAny || isIncluded(node, variables),
      defers: (node) => getDirectiveValues(GraphQLDeferDirective, node, variables),
      isFirstPart: part !== undefined,
    };
  }
}

/** The variables that decide about what an operation selects, those of fragments that it does not spread included. */
function conditionsOf({ operation, fragments }: OperationScope): readonly string[] {
  const names = new Set<string>();
  const find = ({ selections }: SelectionSetNode): void => {
    for (const node of selections) {
      for (const { arguments: given = [] } of node.directives ?? [])
        for (const { value } of given) if (value.kind === 'Variable') names.add(value.name.value);
      if ('selectionSet' in node && node.selectionSet !== undefined) find(node.selectionSet);
    }
  };
  find(operation.selectionSet);
  for (const { selectionSet } of Object.values(fragments)) find(selectionSet);
  return [...names];
}

/** Decides about the directives of one tree. */
interface Decisions {
  readonly includes: (node: SelectionNode) => boolean;
  /** The arguments of the `@defer` of a fragment; undefined if it has none. */
  readonly defers: (node: SelectionNode) => Readonly<Record<string, unknown>> | undefined;
  /** True if deferred fragments are left out. */
  readonly isFirstPart: boolean;
}

function isIncluded(node: SelectionNode, variables: VariableValues): boolean {
  if (getDirectiveValues(GraphQLSkipDirective, node, variables)?.['if'] === true) return false;
  return getDirectiveValues(GraphQLIncludeDirective, node, variables)?.['if'] !== false;
}

/** Something that has a selection: a field, or the operation. */
type Selecting = FieldNode | OperationDefinitionNode;

/** A use of `@defer` at one place of the answer, and the one around it. */
export interface DeferUsage {
  readonly around: DeferUsage | undefined;
}

/** What an operation selects. */
export class SelectionTree {
  readonly scope: OperationScope;
  readonly decisions: Decisions;
  /** What is selected on the root. */
  readonly root: Selection;
  /** By the use of `@defer` around them; the tree stands for none. Fields that several places share are one. */
  readonly #selections = new WeakMap<object, WeakMap<object, Selection>>();

  constructor(scope: OperationScope, decisions: Decisions) {
    this.scope = scope;
    this.decisions = decisions;
    this.root = this.at([scope.operation]);
  }

  /** What nodes of one field select together. `usages` are the uses of `@defer` around them, if there are any. */
  at(nodes: readonly Selecting[], usages?: readonly (DeferUsage | undefined)[]): Selection {
    const [node] = nodes;
    const key = node !== undefined && nodes.length === 1 ? node : nodes;
    const around = (nodes.length === 1 ? usages?.[0] : usages) ?? this;
    let selections = this.#selections.get(around);
    if (selections === undefined) {
      selections = new WeakMap();
      this.#selections.set(around, selections);
    }
    let found = selections.get(key);
    if (found === undefined) {
      found = new Selection(this, nodes, usages);
      selections.set(key, found);
    }
    return found;
  }
}

/** What is selected at one place of the answer, all items of a list being one, on objects of any type. */
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

  /** What is selected on objects of a type. */
  on(type: GraphQLObjectType): ObjectSelection {
    const known = this.#byType.get(type);
    if (known !== undefined) return known;
    const found = new Collector(this, type).collect();
    this.#byType.set(type, found);
    return found;
  }
}

/** What is selected on objects of one type. */
export interface ObjectSelection {
  readonly type: GraphQLObjectType;
  /** The fields, without `__typename` and its like: they cost nothing. */
  readonly fields: readonly SelectedField[];
  /** The response keys of `__typename`. */
  readonly typenames: readonly string[];
  /** True if the schema is read here. */
  readonly introspects: boolean;
  /** How many deferred fragments there are on each object, those within others included. */
  readonly deferrals: number;
}

/** One field of the answer: all its nodes stand for the same response key. */
export class SelectedField {
  /** The type of the objects that it is selected on. */
  readonly parent: GraphQLObjectType;
  readonly responseKey: string;
  readonly field: GraphQLField<unknown, unknown>;
  readonly nodes: FieldNode[] = [];
  /** The innermost `@defer` around each of the nodes; undefined if there is none at all. */
  usages: (DeferUsage | undefined)[] | undefined;
  readonly #tree: SelectionTree;
  #below: Selection | undefined;

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

  get role(): Role {
    return roleOf(this.parent, this.field);
  }

  /** What is selected below it. */
  get below(): Selection {
    this.#below ??= this.#tree.at(this.nodes, this.usages);
    return this.#below;
  }

  /** What is selected on the objects that it answers, for each type that they may have; none for leaves. */
  get possible(): readonly ObjectSelection[] {
    const type = getNamedType(this.field.type);
    if (isObjectType(type)) return [this.below.on(type)];
    return isAbstractType(type) ? this.#tree.scope.schema.getPossibleTypes(type).map((one) => this.below.on(one)) : [];
  }

  /** What is selected on the objects that it answers; undefined for leaves and interfaces. */
  get inside(): ObjectSelection | undefined {
    const type = getNamedType(this.field.type);
    return isObjectType(type) ? this.below.on(type) : undefined;
  }
}

/** Beyond so many deferred fragments on one object, those within others count as one with them. */
const mostDeferrals = 10_000;

/**
 * Collects the fields that a selection has on objects of a type (GraphQL specification §6.3.2, CollectFields): a fragment
 * counts once, and once more for each `@defer` that it is spread with before it is spread without.
 */
class Collector {
  readonly #selection: Selection;
  readonly #type: GraphQLObjectType;
  readonly #fields = new Map<string, SelectedField>();
  readonly #typenames = new Set<string>();
  readonly #visited = new Map<string, Set<DeferUsage | undefined>>();
  #introspects = false;
  #deferrals = 0;

  constructor(selection: Selection, type: GraphQLObjectType) {
    this.#selection = selection;
    this.#type = type;
  }

  collect(): ObjectSelection {
    const { nodes, usages } = this.#selection;
    for (const [index, { selectionSet }] of nodes.entries()) this.#enter(selectionSet, usages?.[index]);
    return {
      type: this.#type,
      fields: [...this.#fields.values()],
      typenames: [...this.#typenames],
      introspects: this.#introspects,
      deferrals: this.#deferrals,
    };
  }

  #enter(set: SelectionSetNode | undefined, usage: DeferUsage | undefined): void {
    if (set === undefined) return;
    const { decisions } = this.#selection.tree;
    for (const node of set.selections) {
      const isPlain = node.directives === undefined || node.directives.length === 0;
      if (!isPlain && !decisions.includes(node)) continue;
      if (node.kind === 'Field') this.#add(node, usage);
      else if (isPlain) this.#spread(node, usage);
      else this.#spreadWith(decisions, node, usage);
    }
  }

  #spreadWith(decisions: Decisions, node: Exclude<SelectionNode, FieldNode>, around: DeferUsage | undefined): void {
    const defer = decisions.defers(node);
    const isDeferred = defer !== undefined && defer['if'] !== false;
    if (isDeferred && decisions.isFirstPart) return;
    if (isDeferred) this.#deferrals += 1;
    this.#spread(node, isDeferred && this.#deferrals <= mostDeferrals ? { around } : around);
  }

  #spread(node: Exclude<SelectionNode, FieldNode>, usage: DeferUsage | undefined): void {
    if (node.kind === 'InlineFragment') {
      if (this.#applies(node.typeCondition?.name.value)) this.#enter(node.selectionSet, usage);
      return;
    }
    const name = node.name.value;
    const fragment = this.#selection.tree.scope.fragments[name];
    if (fragment === undefined || !this.#applies(fragment.typeCondition.name.value)) return;
    const visited = this.#visited.get(name);
    if (visited === undefined) this.#visited.set(name, new Set([usage]));
    else if (visited.has(undefined) || visited.has(usage)) return;
    else visited.add(usage);
    this.#enter(fragment.selectionSet, usage);
  }

  /** True if a fragment on a type, or on any, applies to the objects. */
  #applies(condition: string | undefined): boolean {
    if (condition === undefined || condition === this.#type.name) return true;
    const { schema } = this.#selection.tree.scope;
    const named = schema.getType(condition);
    return named !== undefined && isAbstractType(named) && schema.isSubType(named, this.#type);
  }

  #add(node: FieldNode, usage: DeferUsage | undefined): void {
    const responseKey = node.alias?.value ?? node.name.value;
    const known = this.#fields.get(responseKey);
    const selected = known ?? this.#select(responseKey, node.name.value);
    if (selected === undefined) return;
    if (usage !== undefined) selected.usages ??= selected.nodes.map(() => undefined);
    selected.nodes.push(node);
    selected.usages?.push(usage);
  }

  #select(responseKey: string, name: string): SelectedField | undefined {
    const field = this.#type.getFields()[name];
    if (field !== undefined) {
      const selected = new SelectedField(this.#selection.tree, this.#type, responseKey, field);
      this.#fields.set(responseKey, selected);
      return selected;
    }
    if (name === TypeNameMetaFieldDef.name) this.#typenames.add(responseKey);
    this.#introspects ||= isIntrospection(name);
    return undefined;
  }
}

/** Visits every field that an operation may select, once, with the path at which it is met first. */
export function visitFields(scope: OperationScope, visit: (selected: SelectedField, path: string) => void): void {
  const visited = new Set<ObjectSelection>();
  const enter = (selection: ObjectSelection, above: string): void => {
    if (visited.has(selection)) return;
    visited.add(selection);
    for (const selected of selection.fields) {
      const path = above === '' ? selected.responseKey : `${above}.${selected.responseKey}`;
      visit(selected, path);
      for (const inside of selected.possible) enter(inside, path);
    }
  };
  const root = rootOf(scope, undefined);
  if (root !== undefined) enter(root, '');
}

/** True for the name of a field that reads the schema. */
export function isIntrospection(name: string): boolean {
  return name === SchemaMetaFieldDef.name || name === TypeMetaFieldDef.name;
}

/** The fragments of a document by their names; worked out once. */
export function fragmentsOf(document: DocumentNode): OperationScope['fragments'] {
  const found = knownFragments.get(document);
  if (found !== undefined) return found;
  const definitions = document.definitions.filter((one) => one.kind === 'FragmentDefinition');
  const named = Object.fromEntries(definitions.map((one) => [one.name.value, one]));
  // Documents are read before they are validated: one may spread a fragment `constructor` that it does not have.
  Object.setPrototypeOf(named, null);
  knownFragments.set(document, named);
  return named;
}

const knownFragments = new WeakMap<DocumentNode, OperationScope['fragments']>();

/** Works something out from what is selected on objects of a type, once for as long as its document lives. */
export function fold<T extends object | boolean | string>(
  find: (selection: ObjectSelection) => T,
): (selection: ObjectSelection) => T {
  const found = new WeakMap<ObjectSelection, T>();
  return (selection) => {
    const known = found.get(selection);
    if (known !== undefined) return known;
    const value = find(selection);
    found.set(selection, value);
    return value;
  };
}
