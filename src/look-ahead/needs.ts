import { getNamedType, isLeafType } from 'graphql';
import type { Wanted } from '../graphql/connections.ts';
import { isRowType } from '../graphql/field-mapping.ts';
import type { View } from '../loaders/row-store.ts';
import { memoize } from '../memoize.ts';
import type { Noun } from '../rest/nouns.ts';
import { current } from '../rest/paths.ts';
import { type ObjectSelection, type SelectedField } from './selection-tree.ts';

/** The needs of a selection on one object: columns of the object's own row, and other reads. */
export interface Needs {
  /** The smallest view that has every selected column; undefined if no column is selected. */
  readonly view: View | undefined;
  /** Relations that can be read as soon as the object's key is known. */
  readonly relations: readonly SelectedField[];
  /** True if the global id is selected. A global id names the object's project or organization. */
  readonly globalId: boolean;
  readonly upstreamId: boolean;
}

/** The needs of a selection on an object of a REST noun. */
export const needsOf = memoize(({ fields }: ObjectSelection) => needsOfFields(fields));

/** The needs of some of the fields that are selected on such an object. */
export function needsOfFields(fields: readonly SelectedField[]): Needs {
  let view: View | undefined;
  const relations: SelectedField[] = [];
  for (const selected of fields) {
    const { origin } = selected;
    if ('view' in origin) view = view === 'detail' ? view : origin.view;
    else if ('endpoint' in origin) relations.push(selected);
  }
  const isSelected = (name: string): boolean => fields.some(({ field }) => field.name === name);
  return { view, relations, globalId: isSelected('id'), upstreamId: isSelected('upstreamId') };
}

/**
 * True if the answer of a relation proves that its object exists, because the relation's REST path is below the
 * object's. The project that owns an object proves nothing.
 */
export function proves({ field }: SelectedField): boolean {
  const type = getNamedType(field.type);
  return field.args.length > 0 || isLeafType(type) || type.name !== 'Project';
}

/**
 * True if a connection or a payload answers global ids that contain the id of an owner: ids of deleted objects, and of
 * all rows but projects.
 */
export const answersOwnerIds: (selection: ObjectSelection) => boolean = memoize(({ fields }) =>
  fields.some(({ field, inside }) => {
    if (field.name === 'deletedId') return true;
    if (inside === undefined || inside.type.name === 'Project') return false;
    return isRowType(inside.type.name) ? needsOf(inside).globalId : answersOwnerIds(inside);
  }),
);

/** The part of a connection that is selected. */
export const wantedOf = memoize(({ fields }: ObjectSelection): Wanted => {
  if (fields.some(({ field }) => field.name === 'pageInfo')) return 'page';
  return fields.some(({ field }) => field.name !== 'totalCount') ? 'rows' : 'count';
});

/** The reason to believe that an object exists. */
export type Existence =
  // The client named its id, which may be wrong.
  | 'unknown'
  // A row refers to it, or its owner is known.
  | 'assumed';

/** The facts about an object that are known without its row. */
interface Own {
  readonly noun: Noun;
  readonly id: string | undefined;
  readonly scope: string | undefined;
}

/** The view in which an object's row has to be read before the object is answered; undefined if no row is needed. */
export function ownView(own: Own, needs: Needs, existence: Existence): View | undefined {
  const { view, relations } = needs;
  if (view !== undefined) return view;
  if (isNamedByRow(own, needs, existence)) return 'list';
  return existence === 'assumed' || relations.some(proves) ? undefined : 'list';
}

/**
 * True if the selection has an id that only the object's row shows: an id of the `@current` project, or the global id
 * of a plugin below `@current`. A plugin that a report names needs no row: the row of the current project names the
 * organization, which is the missing part of the plugin's global id.
 */
function isNamedByRow({ noun, id, scope }: Own, { globalId, upstreamId }: Needs, existence: Existence): boolean {
  if (noun === 'Project') return id === current && (globalId || upstreamId);
  return noun === 'Plugin' && scope === current && globalId && existence === 'unknown';
}
