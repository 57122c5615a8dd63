import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputType,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isListType,
  isNonNullType,
  Kind,
  type ValueNode,
} from 'graphql';
import { mostFiles } from '../graphql/mutation-body.ts';
import { visitFields } from '../look-ahead/operation-trees.ts';
import { isNoun, type NodeType } from '../rest/nouns.ts';
import type { ToolOperation } from './tool-cost.ts';

/** The kind of objects that an id names: one type, any type, or the tile of a dashboard. Undefined if it is no id. */
export type IdType = NodeType | 'any' | 'tile' | undefined;

/** A place of a document in which a variable stands: an argument, or a field of an input object. */
export interface VariableUse {
  readonly place: GraphQLArgument | GraphQLInputField;
  readonly idType: IdType;
  /** True if an id must name the owner of its object itself, because no field beside it does. */
  readonly mustBeGlobal: boolean;
  /**
   * The kind of page whose size the variable gives. A table is a page that is answered as one value instead of a
   * connection, and has at least one row.
   */
  readonly page: 'connection' | 'table' | undefined;
  /** The maximum number of items of the variable's value, if that value is a list with a limit. */
  readonly maxItems: number | undefined;
  readonly isRequired: boolean;
}

export type VariableUses = ReadonlyMap<string, readonly VariableUse[]>;

/** The places of each variable in arguments of an operation, including those in its fragments. */
export function variableUses(scope: ToolOperation): VariableUses {
  const uses = new Map<string, VariableUse[]>();
  const add = (value: ValueNode, type: GraphQLInputType, use: Omit<VariableUse, 'isRequired'>): void => {
    const known = getNullableType(type);
    const named = getNamedType(type);
    if (value.kind === Kind.VARIABLE) {
      const maxItems = isListType(known) ? use.maxItems : undefined;
      const { value: name } = value.name;
      uses.set(name, [...(uses.get(name) ?? []), { ...use, maxItems, isRequired: isNonNullType(type) }]);
    } else if (value.kind === Kind.LIST && isListType(known)) {
      for (const item of value.values) add(item, known.ofType, use);
    } else if (value.kind === Kind.OBJECT && isInputObjectType(named)) {
      const isOwned = value.fields.some(({ name }) => isOwner(name.value));
      for (const { name, value: member } of value.fields) {
        const place = named.getFields()[name.value];
        if (place === undefined) continue;
        const mustBeGlobal = place.name === 'id' && !isOwned;
        const maxItems = mostItems[place.name];
        add(member, place.type, {
          place,
          idType: idTypeOf(place, named.name),
          mustBeGlobal,
          page: undefined,
          maxItems,
        });
      }
    }
  };
  visitFields(scope, ({ field, origin, nodes: [node] }) => {
    for (const { name, value } of node?.arguments ?? []) {
      const place = field.args.find((one) => one.name === name.value);
      if (place === undefined) continue;
      const isPage = place.name === 'first' || place.name === 'last';
      const page = isPage ? (origin.kind === 'table' ? 'table' : 'connection') : undefined;
      const maxItems = place.name === 'ids' ? scope.maxPageSize : undefined;
      add(value, place.type, { place, idType: idTypeOf(place, '', field), mustBeGlobal: false, page, maxItems });
    }
  });
  return uses;
}

/** True if a variable determines the size of the answer at this place: the size of a page, or the number of ids. */
export function setsSize({ page, place }: VariableUse): boolean {
  return page !== undefined || place.name === 'ids';
}

/** The maximum number of items of lists in inputs, by the names of the fields that take the lists. */
export const mostItems: Readonly<Record<string, number>> = { files: mostFiles, deletedFiles: mostFiles };

/**
 * The kind of objects that an id in a place names. The place is an argument of `field`. Without `field`, the place is a
 * field of the input type `parent`.
 */
export function idTypeOf(
  { name, type }: VariableUse['place'],
  parent: string,
  field?: GraphQLField<unknown, unknown>,
): IdType {
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
