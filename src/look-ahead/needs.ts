import { type FieldNode, type GraphQLObjectType, getNamedType, isLeafType, isObjectType } from 'graphql';
import type { Wanted } from '../graphql/connections.ts';
import { isRowType, mappingOf } from '../graphql/field-mapping.ts';
import type { View } from '../loaders/row-store.ts';
import { current } from '../rest/paths.ts';
import { Remembered } from './remembered.ts';
import { isConstant, type SelectedField, type SelectionScope, selectedFields } from './selection.ts';

/** What a selection on one object needs of its own row, and what else it reads. */
export interface Needs {
  /** The poorest view that has every column selected; undefined if none is. */
  readonly view: View | undefined;
  /** Relations that can be read as soon as the object's key is known. */
  readonly relations: readonly Relation[];
  /** Whether the global id is selected, which names the object's project or organization. */
  readonly globalId: boolean;
  readonly upstreamId: boolean;
}

/** A selected relation. */
export interface Relation extends SelectedField {
  /** Whether its answer proves that the object exists: its REST path lies below the object's own. */
  readonly proves: boolean;
}

/** The needs of a selection, for as long as its document lives. */
const known = new Remembered<Needs>();

/** The needs of what nodes select on an object of a REST noun. Worked out once if no variable decides about it. */
export function needsOf(type: GraphQLObjectType, nodes: readonly FieldNode[], scope: SelectionScope): Needs {
  const [node] = nodes;
  const cacheable = node !== undefined && nodes.length === 1;
  const cached = cacheable ? known.get(type, node) : undefined;
  if (cached !== undefined) return cached;
  const needs = needsOfFields(type, selectedFields(type, nodes, scope));
  if (cacheable && isConstant(node, scope)) known.set(type, node, needs);
  return needs;
}

/** The needs of fields that are selected on an object of a REST noun. */
export function needsOfFields(type: GraphQLObjectType, fields: readonly SelectedField[]): Needs {
  let view: View | undefined;
  const relations: Relation[] = [];
  for (const selected of fields) {
    const mapping = mappingOf(type, selected.field);
    if (mapping.column !== undefined && selected.field.name !== 'id') {
      if (view !== 'detail') view = mapping.view;
    } else if (mapping.operation !== undefined) {
      relations.push({ ...selected, proves: !isOwner(selected) });
    }
  }
  const isSelected = (name: string): boolean => fields.some(({ field }) => field.name === name);
  return { view, relations, globalId: isSelected('id'), upstreamId: isSelected('upstreamId') };
}

/** A field without arguments that refers to an object by a key at hand: the owner of the one it stands on. */
function isOwner({ field }: SelectedField): boolean {
  const type = getNamedType(field.type);
  return field.args.length === 0 && !isLeafType(type) && type.name === 'Project';
}

/**
 * Whether a connection or a payload answers global ids that name a project or an organization: of its rows, or of what
 * was deleted. A project names itself.
 */
export function answersScopes(type: GraphQLObjectType, nodes: readonly FieldNode[], scope: SelectionScope): boolean {
  return selectedFields(type, nodes, scope).some(({ field, nodes: inner }) => {
    if (field.name === 'deletedId') return true;
    const answer = getNamedType(field.type);
    if (!isObjectType(answer) || answer.name === 'Project') return false;
    return isRowType(answer.name) ? needsOf(answer, inner, scope).globalId : answersScopes(answer, inner, scope);
  });
}

/** What fields selected on a connection want of it. */
export function wantedOf(fields: readonly SelectedField[]): Wanted {
  if (fields.some(({ field }) => field.name === 'pageInfo')) return 'page';
  return fields.some(({ field }) => field.name !== 'totalCount') ? 'rows' : 'count';
}

/** Whether an object is known to exist. */
export type Existence =
  // The client named its id, which may be anything.
  | 'unknown'
  // A row refers to it, or its owner is at hand.
  | 'assumed';

/** What is known of an object without its row. */
interface Own {
  readonly type: string;
  readonly id: string | undefined;
  /** The id of its project or organization. */
  readonly scope: string | undefined;
}

/** The view of its own row that has to be read before an object can be answered; undefined if none has. */
export function ownView(own: Own, needs: Needs, existence: Existence): View | undefined {
  const { view, relations } = needs;
  if (view !== undefined) return view;
  if (isNamedByRow(own, needs, existence)) return 'list';
  return existence === 'assumed' || relations.some(({ proves }) => proves) ? undefined : 'list';
}

/**
 * Whether ids are selected that only the row has: of the project that is `@current`, and of a plugin below `@current`. If a
 * report names the plugins, one read of that project does for all of them instead.
 */
function isNamedByRow({ type, id, scope }: Own, { globalId, upstreamId }: Needs, existence: Existence): boolean {
  if (type === 'Project') return id === current && (globalId || upstreamId);
  return type === 'Plugin' && scope === current && globalId && existence === 'unknown';
}
