import { type ArgumentNode, getNamedType, isObjectType, Kind, type OperationDefinitionNode } from 'graphql';
import { listView, suffices, type View } from '../loaders/row-store.ts';
import { needsOf } from './needs.ts';
import { roleOf } from './roles.ts';
import { isConstant, type SelectedField, type SelectionScope, selectedFields } from './selection.ts';

/** What an operation costs at most, whatever its variables are. */
export interface Bound {
  readonly calls: number;
  readonly rows: number;
}

/** What is bounded: an operation of a valid document. */
export interface BoundRequest extends Pick<SelectionScope, 'schema' | 'fragments'> {
  readonly operation: OperationDefinitionNode;
  readonly maxPageSize: number;
}

const nothing: Bound = { calls: 0, rows: 0 };

/**
 * A bound of every plan of an operation: as if nothing were shared, and every page as large as it may be. Worked out once
 * for an operation, it spares the plans of those that cannot exceed a limit. Undefined where only a plan can tell:
 * mutations, objects by global id, and selections that variables decide about.
 */
export function boundOf({ operation, maxPageSize, ...document }: BoundRequest): Bound | undefined {
  const scope: SelectionScope = { ...document, variableValues: { sources: {}, coerced: {} } };
  const type = scope.schema.getQueryType();
  if (operation.operation !== 'query' || type === null || type === undefined || !isConstant(operation, scope))
    return undefined;
  return sum(selectedFields(type, [operation], scope).map((field) => boundOfField(type.name, field, undefined)));

  function boundOfField(typeName: string, selected: SelectedField, view: View | undefined): Bound | undefined {
    const parent = scope.schema.getType(typeName);
    if (!isObjectType(parent)) return undefined;
    const role = roleOf(parent, selected.field);
    switch (role.kind) {
      case 'free':
        return inside(selected, view);
      case 'column':
        return nothing;
      case 'organization':
      case 'organizationOf':
        return inside(selected, undefined);
      case 'byId':
      case 'owner':
      case 'reference':
        return sum([rowRead(true), inside(selected, 'detail')]);
      case 'list': {
        const size = pageSizeOf(selected);
        const page = isTail(selected) ? { calls: 2, rows: maxPageSize + size } : { calls: 1, rows: size };
        return sum([page, times(size, inside(selected, listView(role.endpoint.kind)))]);
      }
      case 'anyRow':
        return { calls: 1, rows: 1 };
      case 'table':
        return { calls: 1, rows: maxPageSize };
      case 'report':
        return sum([{ calls: 1, rows: 0 }, inside(selected, 'detail')]);
      case 'node':
      case 'write':
        return undefined;
    }
  }

  /** What is selected on objects that come in a view; undefined for those that are no rows. */
  function inside(selected: SelectedField, view: View | undefined): Bound | undefined {
    const type = getNamedType(selected.field.type);
    if (!isObjectType(type)) return nothing;
    if (!selected.nodes.every((node) => isConstant(node, scope))) return undefined;
    const needs = needsOf(type, selected.nodes, scope).view;
    const isPoorer = view !== undefined && needs !== undefined && !suffices(view, needs);
    const fields = selectedFields(type, selected.nodes, scope);
    return sum([isPoorer ? rowRead(false) : nothing, ...fields.map((field) => boundOfField(type.name, field, view))]);
  }

  /** A row by its key, and where lists have it too, a page of its list beside it. */
  function rowRead(isInLists: boolean): Bound {
    return isInLists ? { calls: 2, rows: 1 + maxPageSize } : { calls: 1, rows: 1 };
  }

  function pageSizeOf({ field, nodes }: SelectedField): number {
    const given = nodes[0]?.arguments?.find(({ name }) => name.value === 'first' || name.value === 'last')?.value;
    const isBounded = field.args.some(({ name }) => name === 'first') && given?.kind === Kind.INT;
    return isBounded ? Math.min(Math.max(Number(given.value), 1), maxPageSize) : maxPageSize;
  }
}

function isTail({ nodes }: SelectedField): boolean {
  return nodes[0]?.arguments?.some(({ name }: ArgumentNode) => name.value === 'last') === true;
}

function sum(parts: readonly (Bound | undefined)[]): Bound | undefined {
  let calls = 0;
  let rows = 0;
  for (const part of parts) {
    if (part === undefined) return undefined;
    calls += part.calls;
    rows += part.rows;
  }
  return { calls, rows };
}

function times(count: number, bound: Bound | undefined): Bound | undefined {
  return bound === undefined ? undefined : { calls: count * bound.calls, rows: count * bound.rows };
}
