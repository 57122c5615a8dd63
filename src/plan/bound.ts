import {
  type GraphQLNamedType,
  type GraphQLObjectType,
  getNamedType,
  type IntValueNode,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
} from 'graphql';
import { isRowType } from '../graphql/field-mapping.ts';
import { listView, suffices, type View } from '../loaders/row-store.ts';
import { needsOf } from '../look-ahead/needs.ts';
import { Remembered } from '../look-ahead/remembered.ts';
import { type Role, roleOf } from '../look-ahead/roles.ts';
import { isConstant, type SelectedField, type SelectionScope, selectedFields } from '../look-ahead/selection.ts';

/** What an operation costs at most, whatever its variables are. */
export interface Bound {
  readonly calls: number;
  readonly rows: number;
}

/** What is bounded: an operation of a valid document. */
export interface BoundRequest extends Pick<SelectionScope, 'schema' | 'fragments'> {
  readonly operation: OperationDefinitionNode;
  readonly maxPageSize: number;
  /** Whether it is for tenants whose projects are found by their keys. */
  readonly isNarrowed?: boolean;
}

const nothing: Bound = { calls: 0, rows: 0 };
const unbounded: Bound = { calls: Number.POSITIVE_INFINITY, rows: Number.POSITIVE_INFINITY };

/**
 * A bound of every plan of an operation: as if nothing were shared, and every page as large as it may be. Worked out once
 * for an operation, it spares the plans of those that cannot exceed a limit. Infinite if only a plan can tell:
 * mutations, objects by global id or by the keys of a tenant, and selections that variables decide about.
 */
export function boundOf({ operation, maxPageSize, schema, fragments, isNarrowed = false }: BoundRequest): Bound {
  const scope: SelectionScope = { schema, fragments, variableValues: { sources: {}, coerced: {} } };
  const type = schema.getQueryType();
  if (operation.operation !== 'query' || !isConstant(operation, scope)) return unbounded;
  const fields = isObjectType(type) ? selectedFields(type, [operation], scope) : [];
  if (isNarrowed && isObjectType(type) && fields.some(({ field }) => roleOf(type, field).kind === 'list'))
    return unbounded;
  const known = { none: new Remembered<Bound>(), list: new Remembered<Bound>(), detail: new Remembered<Bound>() };
  const bounding = { scope, maxPageSize, known, fields: new Remembered<readonly SelectedField[]>() };
  return sum(fields.map((field) => boundOfField(bounding, type, field, undefined)));
}

interface Bounding {
  readonly scope: SelectionScope;
  readonly maxPageSize: number;
  /** Bounds of objects, by the view that they come in: fragments that spread fragments would multiply the work. */
  readonly known: Readonly<Record<View | 'none', Remembered<Bound>>>;
  readonly fields: Remembered<readonly SelectedField[]>;
}

/** What a field of objects that come in a view costs each of them. */
function boundOfField(
  bounding: Bounding,
  parent: GraphQLNamedType | undefined | null,
  selected: SelectedField,
  view: View | undefined,
): Bound {
  if (!isObjectType(parent)) return nothing;
  const role = roleOf(parent, selected.field);
  switch (role.kind) {
    case 'free':
      return boundInside(bounding, selected, view);
    case 'column':
      return nothing;
    case 'organization':
      // The project that tells which one `@current` is.
      return sum([{ calls: 1, rows: 1 }, boundInside(bounding, selected, undefined)]);
    case 'organizationOf':
      return boundInside(bounding, selected, undefined);
    case 'byId':
    case 'owner':
    case 'reference':
      // The row by its key, and beside it a page of its list.
      return sum([{ calls: 2, rows: 1 + bounding.maxPageSize }, boundInside(bounding, selected, 'detail')]);
    case 'list':
      return boundOfList(bounding, role, selected);
    case 'anyRow':
      return { calls: 1, rows: 1 };
    case 'table':
      return { calls: 1, rows: bounding.maxPageSize };
    case 'text':
      // The event, and the project that tells which one `@current` is.
      return { calls: 2, rows: 2 };
    case 'report':
      return boundOfReport(bounding, selected);
    case 'node':
    case 'tail':
    case 'write':
      return unbounded;
  }
}

/** A report may name rows: then a page of their list is read, and those that are not in it. */
function boundOfReport(bounding: Bounding, selected: SelectedField): Bound {
  const inside = boundInside(bounding, selected, 'detail');
  const { maxPageSize } = bounding;
  if (!isRowType(getNamedType(selected.field.type).name)) return sum([{ calls: 1, rows: 0 }, inside]);
  const named = { calls: maxPageSize * (1 + inside.calls), rows: maxPageSize * (1 + inside.rows) };
  return sum([{ calls: 2, rows: maxPageSize }, named]);
}

function boundOfList(bounding: Bounding, { endpoint }: Role & { kind: 'list' }, selected: SelectedField): Bound {
  const { maxPageSize } = bounding;
  const given = selected.nodes[0]?.arguments ?? [];
  const has = (argument: string): boolean => given.some(({ name }) => name.value === argument);
  const sizes = given.map(({ value }) => value).filter((value): value is IntValueNode => value.kind === Kind.INT);
  // The only integers among the arguments of lists are `first` and `last`.
  const size = sizes.length === 1 ? Math.min(Math.max(Number(sizes[0]?.value), 1), maxPageSize) : maxPageSize;
  // Behind a cursor, one page may reach from another window of the list to this one.
  const read = has('after') || has('before') ? maxPageSize : size;
  const page = has('last') ? { calls: 2, rows: maxPageSize + read } : { calls: 1, rows: read };
  const { calls, rows } = boundInside(bounding, selected, listView(endpoint.noun));
  return sum([page, { calls: size * calls, rows: size * rows }]);
}

/** What is selected on objects that come in a view; undefined for those that are no rows. */
function boundInside(bounding: Bounding, { field, nodes }: SelectedField, view: View | undefined): Bound {
  const type = getNamedType(field.type);
  if (!isObjectType(type)) return nothing;
  return bounding.known[view ?? 'none'].of(type, nodes, () => boundOfObject(bounding, type, nodes, view));
}

function boundOfObject(
  bounding: Bounding,
  type: GraphQLObjectType,
  nodes: SelectedField['nodes'],
  view: View | undefined,
): Bound {
  const { scope, fields } = bounding;
  if (!nodes.every((node) => isConstant(node, scope))) return unbounded;
  const need = needsOf(type, nodes, scope).view;
  const own = view !== undefined && need !== undefined && !suffices(view, need) ? { calls: 1, rows: 1 } : nothing;
  const selected = fields.of(type, nodes, () => selectedFields(type, nodes, scope));
  return sum([own, ...selected.map((field) => boundOfField(bounding, type, field, view))]);
}

function sum(parts: readonly Bound[]): Bound {
  let calls = 0;
  let rows = 0;
  for (const part of parts) {
    calls += part.calls;
    rows += part.rows;
  }
  return { calls, rows };
}
