import {
  type DirectiveNode,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type VariableValues,
  visit,
} from 'graphql';
import { memoize } from '../memoize.ts';
import {
  type ObjectSelection,
  type OperationPart,
  type OperationScope,
  type SelectedField,
  type Selection,
  SelectionTree,
} from './selection-tree.ts';

type Coerced = Readonly<Record<string, unknown>>;

/**
 * The selection on the root of an operation; undefined if the schema has no operations of its kind. Without coerced
 * variables, it has everything that may be selected.
 */
export function rootOf(
  scope: OperationScope,
  coerced: Coerced | undefined,
  part?: OperationPart,
): ObjectSelection | undefined {
  const type = scope.schema.getRootType(scope.operation.operation);
  return isObjectType(type) ? treesOf(scope).of(coerced, part).root.on(type) : undefined;
}

/** The names of the variables that affect which fields an operation selects. */
export function conditionsOf(scope: OperationScope): readonly string[] {
  return treesOf(scope).conditions;
}

/** The selection below the field that is being executed. */
export function selectionOf(info: ExecutionInfo): Selection {
  return executedTree(info).at(info.fieldNodes);
}

/** The tree of the operation that is being executed. */
export function executedTree(info: ExecutionInfo): SelectionTree {
  const trees = treesOf(info);
  return trees.of(trees.conditions.length === 0 ? {} : variablesOf(info).coerced);
}

/** The `info` of a resolver. `plainVariables` is true for graphql-jit, which gives variables without their sources. */
export type ExecutionInfo = GraphQLResolveInfo & { readonly plainVariables?: boolean };

/** The variables of an execution. */
export function variablesOf({ variableValues, plainVariables }: ExecutionInfo): VariableValues {
  return plainVariables === true ? { sources: {}, coerced: { ...variableValues } } : variableValues;
}

const treesBySchema = memoize((_schema: GraphQLSchema) => new WeakMap<OperationDefinitionNode, Trees>());

/** The trees that were used last. The resolvers of an operation ask for the same trees one after the other. */
let last: Trees | undefined;

function treesOf(scope: OperationScope): Trees {
  const { schema, operation } = scope;
  if (last?.scope.operation === operation && last.scope.schema === schema) return last;
  const ofSchema = treesBySchema(schema);
  last = ofSchema.get(operation) ?? new Trees({ schema, operation, fragments: scope.fragments });
  ofSchema.set(operation, last);
  return last;
}

/** The maximum number of trees that are kept for one operation. */
const mostTrees = 16;

/** The trees of one operation: one if it has no directives, or else one for each set of values of `conditions`. */
class Trees {
  readonly scope: OperationScope;
  /** The names of the variables in directives. */
  readonly conditions: readonly string[];
  readonly #trees = new Map<string, SelectionTree>();
  /** The only tree, if the operation has no directives. */
  readonly #whole: SelectionTree | undefined;

  constructor(scope: OperationScope) {
    this.scope = scope;
    const { names, hasDirectives } = findConditions(scope);
    this.conditions = names;
    if (!hasDirectives) this.#whole = new SelectionTree(scope, undefined, 'whole');
  }

  of(coerced: Coerced | undefined, part: OperationPart = 'whole'): SelectionTree {
    if (this.#whole !== undefined) return this.#whole;
    const values = coerced === undefined ? 'any' : this.conditions.map((name) => String(coerced[name])).join();
    const key = `${part} ${values}`;
    let tree = this.#trees.get(key);
    if (tree === undefined) {
      if (this.#trees.size >= mostTrees) this.#trees.clear();
      tree = new SelectionTree(this.scope, coerced && this.#variables(coerced), part);
      this.#trees.set(key, tree);
    }
    return tree;
  }

  #variables(coerced: Coerced): VariableValues {
    const given = this.conditions.filter((name) => name in coerced);
    return { sources: {}, coerced: Object.fromEntries(given.map((name) => [name, coerced[name]])) };
  }
}

/** The variables in directives of an operation and of all fragments, even of those that it does not spread. */
function findConditions({ operation, fragments }: OperationScope): {
  readonly names: readonly string[];
  readonly hasDirectives: boolean;
} {
  const names = new Set<string>();
  let hasDirectives = false;
  const note = ({ arguments: given = [] }: DirectiveNode): void => {
    hasDirectives = true;
    for (const { value } of given) if (value.kind === Kind.VARIABLE) names.add(value.name.value);
  };
  for (const { selectionSet } of [operation, ...Object.values(fragments)]) visit(selectionSet, { Directive: note });
  return { names: [...names], hasDirectives };
}

/** Visits once each field that an operation may select, with the first path at which the field occurs. */
export function visitFields(scope: OperationScope, onField: (selected: SelectedField, path: string) => void): void {
  const visited = new Set<ObjectSelection>();
  const enter = (selection: ObjectSelection, above: string): void => {
    if (visited.has(selection)) return;
    visited.add(selection);
    for (const selected of selection.fields) {
      const path = above === '' ? selected.responseKey : `${above}.${selected.responseKey}`;
      onField(selected, path);
      for (const inside of selected.possible) enter(inside, path);
    }
  };
  const root = rootOf(scope, undefined);
  if (root !== undefined) enter(root, '');
}
