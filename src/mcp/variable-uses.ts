import {
  type ASTNode,
  type GraphQLArgument,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLInputField,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { roleOf } from '../look-ahead/roles.ts';
import type { OperationScope } from '../look-ahead/selection-tree.ts';
import { isNoun, type NodeType } from '../rest/nouns.ts';

/** A place of a document in which a variable stands: an argument, or a field of an input object. */
export interface VariableUse {
  readonly argument: GraphQLArgument | GraphQLInputField;
  /** The type of the objects that have the field, or of the input. */
  readonly parent: string;
  /** The field that has the argument; undefined for a field of an input object. */
  readonly field: string | undefined;
  /** The type that the field answers, if it is an object type. */
  readonly answer: string | undefined;
  /** True if the variable is one of the items of a list. */
  readonly isItem: boolean;
  /** The other fields of the same input object that the document writes out. */
  readonly siblings: readonly string[];
  /** True if the field answers a page as one value. Such a page has at least one row. */
  readonly isTable: boolean;
  /** True if the variable is the condition of a directive. */
  readonly isCondition: boolean;
  /** True if the place does not allow null. */
  readonly isRequired: boolean;
}

/** A field of an input object that the document writes out. */
interface Input {
  readonly field: GraphQLInputField | undefined;
  readonly type: string;
  readonly siblings: readonly string[];
}

/** The places of each variable of an operation. */
export type VariableUses = ReadonlyMap<string, readonly VariableUse[]>;

/** The places of each variable of an operation, including places in its fragments. */
export function variableUses({ schema, fragments, operation }: OperationScope): VariableUses {
  const uses = new Map<string, VariableUse[]>();
  const types = new TypeInfo(schema);
  const waiting: ASTNode[] = [operation];
  const seen = new Set<string>();
  /** The fields of input objects around the current node, innermost last. */
  const inputs: Input[] = [];
  /** The fields of the object literals around it. */
  const objects: (readonly string[])[] = [];
  const add = (name: string, parent: unknown): void => {
    const input = inputs.at(-1);
    const isCondition = types.getDirective() !== null;
    const argument = input === undefined ? types.getArgument() : input.field;
    const field = input === undefined && !isCondition ? types.getFieldDef() : undefined;
    if (argument === null || argument === undefined) return;
    const use: VariableUse = {
      argument,
      parent: input?.type ?? types.getParentType()?.name ?? '',
      field: field?.name,
      answer: field === undefined || field === null ? undefined : getNamedType(field.type).name,
      siblings: input?.siblings ?? [],
      isItem: Array.isArray(parent) && isListType(getNullableType(argument.type)),
      isCondition,
      isTable: field !== undefined && field !== null && isTable(types.getParentType(), field),
      isRequired: isNonNullType(types.getInputType()),
    };
    uses.set(name, [...(uses.get(name) ?? []), use]);
  };
  const visitor = visitWithTypeInfo(types, {
    VariableDefinition: () => false,
    FragmentSpread: ({ name: { value } }) => {
      const fragment = fragments[value];
      if (fragment === undefined || seen.has(value)) return;
      seen.add(value);
      waiting.push(fragment);
    },
    ObjectValue: {
      enter: ({ fields }) => void objects.push(fields.map(({ name }) => name.value)),
      leave: () => void objects.pop(),
    },
    ObjectField: {
      enter: (node) => {
        const parent = getNamedType(types.getParentInputType());
        const field = isInputObjectType(parent) ? parent.getFields()[node.name.value] : undefined;
        inputs.push({ field, type: parent?.name ?? '', siblings: objects.at(-1) ?? [] });
      },
      leave: () => void inputs.pop(),
    },
    Variable: ({ name: { value } }, _key, parent) => add(value, parent),
  });
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) visit(next, visitor);
  return uses;
}

function isTable(parent: GraphQLCompositeType | null | undefined, field: GraphQLField<unknown, unknown>): boolean {
  return isObjectType(parent) && roleOf(parent, field).kind === 'table';
}

/** The arguments that give the number of rows. */
const pageSizes: ReadonlySet<string> = new Set(['first', 'last']);

/** True if a place takes the size of a page. */
export function isPageSize({ argument, field }: Pick<VariableUse, 'argument' | 'field'>): boolean {
  return field !== undefined && pageSizes.has(argument.name);
}

/**
 * The type that an id in a place names: one type of objects, any of them, or the tile of a dashboard. Undefined if the
 * place holds no id.
 */
export function namedBy({
  argument,
  parent,
  field,
  answer,
}: Omit<VariableUse, 'isItem' | 'isCondition' | 'isTable' | 'isRequired' | 'siblings'>):
  | NodeType
  | 'any'
  | 'tile'
  | undefined {
  const { name, type } = argument;
  if (getNamedType(type).name !== 'ID') return undefined;
  if (name === 'tileId') return 'tile';
  const ofName = /(project|organization|dashboard|plugin)Id$/i.exec(name)?.[1];
  if (ofName !== undefined) return typeOf(ofName);
  if (field === undefined) return typeOf(/Dashboard|Plugin|Project/.exec(parent)?.[0] ?? '');
  if (answer === 'Node') return 'any';
  if (answer !== undefined && answer !== 'String') return typeOf(answer);
  return typeOf(/^[a-z]+/.exec(field)?.[0] ?? '');
}

/** True if an id must name the owner of its object itself, because no argument beside it does. */
export function isAlone({ argument, field, siblings }: VariableUse): boolean {
  return field === undefined && argument.name === 'id' && !siblings.some(isOwner);
}

/** True if a field of an input names the owner of the object that the `id` beside it identifies. */
export function isOwner(field: string): boolean {
  return field === 'projectId' || field === 'organizationId';
}

function typeOf(word: string): NodeType | 'any' {
  const name = `${word.slice(0, 1).toUpperCase()}${word.slice(1).toLowerCase()}`;
  return isNoun(name) || name === 'Organization' ? name : 'any';
}
