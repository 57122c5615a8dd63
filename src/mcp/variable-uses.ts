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
  Kind,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { mostFiles } from '../graphql/mutation-body.ts';
import { roleOf } from '../look-ahead/roles.ts';
import { isNoun, type NodeType } from '../rest/nouns.ts';
import type { ToolOperation } from './tool-cost.ts';

/** The kind of objects that an id names: one type, any of them, or the tile of a dashboard. Undefined for no id. */
export type NamedBy = NodeType | 'any' | 'tile' | undefined;

/** A place of a document in which a variable stands: an argument, or a field of an input object. */
export interface VariableUse {
  readonly place: GraphQLArgument | GraphQLInputField;
  readonly named: NamedBy;
  /** True if an id must name the owner of its object itself, because no field beside it does. */
  readonly isAlone: boolean;
  /** The kind of page whose size it is. A table is a page that is answered as one value, and has at least one row. */
  readonly page: 'connection' | 'table' | undefined;
  /** The most items of the list that it is. */
  readonly maxItems: number | undefined;
  /** True if it determines the size of the answer, as the size of a page or a list of ids. */
  readonly isSizing: boolean;
  /** True if the variable is the condition of a directive. */
  readonly isCondition: boolean;
  /** True if the place does not allow null. */
  readonly isRequired: boolean;
}

/** A field of an input object that the document writes out, and the names of all fields that it writes out. */
interface WrittenField {
  readonly field: GraphQLInputField | undefined;
  readonly type: string;
  readonly siblings: readonly string[];
}

/** The places of each variable of an operation. */
export type VariableUses = ReadonlyMap<string, readonly VariableUse[]>;

/** The places of each variable of an operation, including places in its fragments. */
export function variableUses({ schema, fragments, operation, maxPageSize }: ToolOperation): VariableUses {
  const uses = new Map<string, VariableUse[]>();
  const types = new TypeInfo(schema);
  const waiting: ASTNode[] = [operation];
  const seen = new Set<string>();
  /** The fields of input objects around the current node, innermost last. */
  const inputs: WrittenField[] = [];
  const add = (name: string, parent: unknown): void => {
    const input = inputs.at(-1);
    const isCondition = types.getDirective() !== null;
    const place = input === undefined ? types.getArgument() : input.field;
    const field = input === undefined && !isCondition ? (types.getFieldDef() ?? undefined) : undefined;
    if (place === null || place === undefined) return;
    const isItem = Array.isArray(parent) && isListType(getNullableType(place.type));
    const page = field && pageOf(place.name, types.getParentType(), field);
    const maxItems = isItem ? undefined : field && place.name === 'ids' ? maxPageSize : mostItems[place.name];
    const use: VariableUse = {
      place,
      named: namedBy(place, input?.type ?? '', field),
      isAlone: input !== undefined && place.name === 'id' && !input.siblings.some(isOwner),
      page,
      maxItems,
      isSizing: field !== undefined && (page ?? maxItems) !== undefined,
      isCondition,
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
    ObjectField: {
      enter: ({ name }, _key, siblings) => {
        const parent = getNamedType(types.getParentInputType());
        const field = isInputObjectType(parent) ? parent.getFields()[name.value] : undefined;
        const written = [siblings ?? []]
          .flat()
          .flatMap((one) => (one.kind === Kind.OBJECT_FIELD ? [one.name.value] : []));
        inputs.push({ field, type: parent?.name ?? '', siblings: written });
      },
      leave: () => void inputs.pop(),
    },
    Variable: ({ name: { value } }, _key, parent) => add(value, parent),
  });
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) visit(next, visitor);
  return uses;
}

/** Most items of lists in inputs. */
export const mostItems: Readonly<Record<string, number>> = { files: mostFiles, deletedFiles: mostFiles };

function pageOf(
  argument: string,
  parent: GraphQLCompositeType | null | undefined,
  field: GraphQLField<unknown, unknown>,
): VariableUse['page'] {
  if (argument !== 'first' && argument !== 'last') return undefined;
  return isObjectType(parent) && roleOf(parent, field).kind === 'table' ? 'table' : 'connection';
}

/**
 * The kind of objects that an id in a place names. The place is an argument of a field, or else a field of the input
 * `parent`.
 */
export function namedBy(
  { name, type }: VariableUse['place'],
  parent: string,
  field?: GraphQLField<unknown, unknown>,
): NamedBy {
  if (getNamedType(type).name !== 'ID') return undefined;
  if (name === 'tileId') return 'tile';
  const ofName = /(project|organization|dashboard|plugin)Id$/i.exec(name)?.[1];
  if (ofName !== undefined) return typeOf(ofName);
  if (field === undefined) return typeOf(/Dashboard|Plugin|Project/.exec(parent)?.[0] ?? '');
  const answer = getNamedType(field.type).name;
  if (answer === 'Node') return 'any';
  return typeOf(answer === 'String' ? (/^[a-z]+/.exec(field.name)?.[0] ?? '') : answer);
}

/** True if a field of an input names the owner of the object that the `id` beside it identifies. */
export function isOwner(field: string): boolean {
  return field === 'projectId' || field === 'organizationId';
}

function typeOf(word: string): NodeType | 'any' {
  const name = `${word.slice(0, 1).toUpperCase()}${word.slice(1).toLowerCase()}`;
  return isNoun(name) || name === 'Organization' ? name : 'any';
}
