import { type FieldNode, type GraphQLObjectType, getNamedType, isLeafType } from 'graphql';
import { factsOf } from '../graphql/facts.ts';
import type { View } from '../loaders/row-store.ts';
import { isConstant, type SelectedField, type SelectionScope, selectedFields } from './selection.ts';

/** What a selection on one object needs of its own row, and what else it reads. */
export interface Needs {
  /** The poorest view that has every column selected; undefined where none is. */
  readonly view: View | undefined;
  /** Relations that can be read as soon as the object's key is known. */
  readonly relations: readonly Relation[];
}

/** A selected relation. */
export interface Relation extends SelectedField {
  /** Whether its answer proves that the object exists: its REST path lies below the object's own. */
  readonly proves: boolean;
}

/** The needs of a selection, for as long as its document lives. */
const known = new WeakMap<FieldNode, Map<GraphQLObjectType, Needs>>();

/** The needs of what nodes select on an object of a REST noun. Worked out once where no variable decides about it. */
export function needsOf(type: GraphQLObjectType, nodes: readonly FieldNode[], scope: SelectionScope): Needs {
  const [node] = nodes;
  const cacheable = node !== undefined && nodes.length === 1;
  const cached = cacheable ? known.get(node)?.get(type) : undefined;
  if (cached !== undefined) return cached;
  const needs = findNeeds(type, selectedFields(type, nodes, scope));
  if (cacheable && isConstant(node, scope)) {
    const types = known.get(node) ?? new Map<GraphQLObjectType, Needs>();
    known.set(node, types.set(type, needs));
  }
  return needs;
}

function findNeeds(type: GraphQLObjectType, fields: readonly SelectedField[]): Needs {
  let view: View | undefined;
  const relations: Relation[] = [];
  for (const selected of fields) {
    const facts = factsOf(type, selected.field);
    if (facts.column !== undefined && selected.field.name !== 'id') {
      if (view !== 'detail') view = facts.view;
    } else if (facts.operation !== undefined) {
      relations.push({ ...selected, proves: !isOwner(selected) });
    }
  }
  return { view, relations };
}

/** A field without arguments that refers to an object by a key at hand: the owner of the one it stands on. */
function isOwner({ field }: SelectedField): boolean {
  const type = getNamedType(field.type);
  return field.args.length === 0 && !isLeafType(type) && type.name === 'Project';
}

/** Whether a selection on a connection needs rows, and not only the count of its list. */
export function needsRows(fields: readonly SelectedField[]): boolean {
  return fields.some(({ field }) => field.name !== 'totalCount');
}
