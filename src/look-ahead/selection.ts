import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  GraphQLIncludeDirective,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  GraphQLSkipDirective,
  getDirectiveValues,
  isAbstractType,
  type SelectionNode,
  type SelectionSetNode,
  type VariableValues,
} from 'graphql';
import { Remembered } from './remembered.ts';

/** What has to be known to read a selection: the document around it and the variables of this run. */
export interface SelectionScope {
  readonly schema: GraphQLSchema;
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>;
  readonly variableValues: VariableValues;
}

/** The fragments of a document by their names; worked out once. */
export function fragmentsOf(document: DocumentNode): SelectionScope['fragments'] {
  const found = knownFragments.get(document);
  if (found !== undefined) return found;
  const definitions = document.definitions.filter((one) => one.kind === 'FragmentDefinition');
  const named = Object.fromEntries(definitions.map((one) => [one.name.value, one]));
  // Documents are read before they are validated: one may spread a fragment `constructor` that it does not have.
  Object.setPrototypeOf(named, null);
  knownFragments.set(document, named);
  return named;
}

const knownFragments = new WeakMap<DocumentNode, SelectionScope['fragments']>();

/** One field of the answer: all its nodes stand for the same response key. */
export interface SelectedField {
  readonly responseKey: string;
  readonly field: GraphQLField<unknown, unknown>;
  readonly nodes: readonly FieldNode[];
}

/** What an executor gives a resolver: graphql-jit gives variables without their sources. */
export type ExecutionInfo = GraphQLResolveInfo & { readonly plainVariables?: boolean };

/** The scope of the selections below a field that is being executed. */
export function scopeOf(info: ExecutionInfo): SelectionScope {
  return new ExecutionScope(info);
}

/** Variables are brought into form only if a selection depends on them, which is seldom. */
class ExecutionScope implements SelectionScope {
  readonly #info: ExecutionInfo;

  constructor(info: ExecutionInfo) {
    this.#info = info;
  }

  get schema(): GraphQLSchema {
    return this.#info.schema;
  }

  get fragments(): SelectionScope['fragments'] {
    return this.#info.fragments;
  }

  get variableValues(): VariableValues {
    const { variableValues, plainVariables } = this.#info;
    return plainVariables === true ? { sources: {}, coerced: { ...variableValues } } : variableValues;
  }
}

/** What can have a selection: a field, or an operation. */
export interface Selecting {
  readonly selectionSet?: SelectionSetNode | undefined;
}

/** What was selected before, for as long as its document lives. */
const knownFields = new Remembered<readonly SelectedField[]>();

/** The fields that nodes select on an object of a type. Worked out once if no variable decides about it. */
export function selectedFields(
  type: GraphQLObjectType,
  nodes: readonly Selecting[],
  scope: SelectionScope,
): readonly SelectedField[] {
  const [node] = nodes;
  if (node === undefined || nodes.length > 1) return collectFields(type, nodes, scope);
  const cached = knownFields.get(type, node);
  if (cached !== undefined) return cached;
  const fields = collectFields(type, nodes, scope);
  if (isConstant(node, scope)) knownFields.set(type, node, fields);
  return fields;
}

/** Which fields are meant: those of this run, or all that any variables may select. */
export type Which = 'selected' | 'possible';

/** All fields that nodes may select on an object of a type, whatever the variables are. */
export function possibleFields(
  type: GraphQLObjectType,
  nodes: readonly Selecting[],
  scope: SelectionScope,
): readonly SelectedField[] {
  if (nodes.every((node) => isConstant(node, scope))) return selectedFields(type, nodes, scope);
  return collectFields(type, nodes, scope, { ...objectFields, isIncluded: inclusionOf('possible') });
}

/** What decides which fields are collected. */
export interface Collecting {
  readonly isIncluded: (node: SelectionNode, scope: SelectionScope) => boolean;
  /** The field of a name; undefined for one that is left out. */
  readonly fieldOf: (type: GraphQLObjectType, name: string) => GraphQLField<unknown, unknown> | undefined;
}

/** Whether a node is included, by the variables or whatever they are. */
export function inclusionOf(which: Which): Collecting['isIncluded'] {
  return which === 'possible' ? () => true : isIncluded;
}

const objectFields: Collecting = { isIncluded, fieldOf: (type, name) => type.getFields()[name] };

/**
 * The fields that nodes select on an object of a type: fragments, type conditions, `@skip` and `@include` resolved
 * (GraphQL specification §6.3.2, CollectFields). `__typename` and its like are left out: they cost nothing.
 */
export function collectFields(
  type: GraphQLObjectType,
  nodes: readonly Selecting[],
  scope: SelectionScope,
  { isIncluded: includes, fieldOf }: Collecting = objectFields,
): readonly SelectedField[] {
  const found = new Map<string, SelectedField & { nodes: FieldNode[] }>();
  const visited = new Set<string>();
  const collect = (set: SelectionSetNode): void => {
    for (const node of set.selections) if (includes(node, scope)) visit(node);
  };
  const visit = (node: SelectionNode): void => {
    if (node.kind === 'Field') return addField(node);
    if (node.kind === 'InlineFragment') {
      if (appliesTo(node.typeCondition?.name.value, type, scope)) collect(node.selectionSet);
      return undefined;
    }
    const fragment = scope.fragments[node.name.value];
    if (fragment === undefined || visited.has(node.name.value)) return undefined;
    visited.add(node.name.value);
    if (appliesTo(fragment.typeCondition.name.value, type, scope)) collect(fragment.selectionSet);
    return undefined;
  };
  const addField = (node: FieldNode): void => {
    const field = fieldOf(type, node.name.value);
    if (field === undefined) return;
    const responseKey = node.alias?.value ?? node.name.value;
    const known = found.get(responseKey);
    if (known === undefined) found.set(responseKey, { responseKey, field, nodes: [node] });
    else known.nodes.push(node);
  };
  for (const { selectionSet } of nodes) if (selectionSet !== undefined) collect(selectionSet);
  return [...found.values()];
}

/** Whether no variable decides about what a node selects: then it selects the same in every run of its document. */
export function isConstant({ selectionSet }: Selecting, { fragments }: SelectionScope): boolean {
  const visited = new Set<string>();
  const constant = (node: SelectionNode): boolean => {
    const conditions = node.directives?.flatMap((directive) => directive.arguments ?? []) ?? [];
    if (conditions.some(({ value }) => value.kind === 'Variable')) return false;
    if (node.kind === 'Field') return true;
    if (node.kind === 'InlineFragment') return node.selectionSet.selections.every(constant);
    if (visited.has(node.name.value)) return true;
    visited.add(node.name.value);
    return fragments[node.name.value]?.selectionSet.selections.every(constant) ?? true;
  };
  return selectionSet?.selections.every(constant) ?? true;
}

function isIncluded(node: SelectionNode, { variableValues }: SelectionScope): boolean {
  if (node.directives === undefined || node.directives.length === 0) return true;
  if (getDirectiveValues(GraphQLSkipDirective, node, variableValues)?.['if'] === true) return false;
  return getDirectiveValues(GraphQLIncludeDirective, node, variableValues)?.['if'] !== false;
}

/** Whether a fragment on a type, or on any, applies to objects of another. */
export function appliesTo(condition: string | undefined, type: GraphQLObjectType, { schema }: SelectionScope): boolean {
  if (condition === undefined || condition === type.name) return true;
  const named = schema.getType(condition);
  return named !== undefined && isAbstractType(named) && schema.isSubType(named, type);
}
