import type { GraphQLField, GraphQLInputField } from 'graphql';
import type { View } from '../loaders/row-store.ts';
import { views } from '../rest/generated/views.ts';
import { isRestOperationId, type RestOperationId } from '../rest/rest-operations.ts';

/** The types whose scalar fields are columns of a REST row. */
export type RowType = keyof typeof views;

/**
 * The mapping of a field of an object type to the REST API. `@column` and `@rest` in the SDL are its only source. `type`
 * is the name of the object type. `column` answers the field, or holds the key of the object that it refers to. `view`
 * is the smallest view that has the column.
 */
export function mappingOf(field: GraphQLField<unknown, unknown>): {
  readonly type: string;
  readonly column: string | undefined;
  readonly view: View | undefined;
  readonly operation: RestOperationId | undefined;
} {
  const type = field.parentType?.name ?? '';
  const operation = directiveArgument(field, 'rest', 'operation');
  const named = directiveArgument(field, 'column', 'name');
  const column = named ?? (operation === undefined ? snakeCase(field.name) : undefined);
  const isKnown = column !== undefined && isRowType(type) && has(views[type].detail, column);
  return {
    type,
    column: isKnown ? column : undefined,
    view: isKnown && isRowType(type) ? viewOfColumn(type, column) : undefined,
    operation: operation !== undefined && isRestOperationId(operation) ? operation : undefined,
  };
}

/** The REST name of a field that is a column. */
export function restNameOf(field: GraphQLField<unknown, unknown> | GraphQLInputField): string {
  return directiveArgument(field, 'column', 'name') ?? snakeCase(field.name);
}

/** True for the name of a type whose scalar fields are columns of a REST row. */
export function isRowType(name: string): name is RowType {
  return Object.hasOwn(views, name);
}

function viewOfColumn(type: RowType, column: string): View {
  return has(views[type].list, column) ? 'list' : 'detail';
}

function has(columns: readonly string[], column: string): boolean {
  return columns.includes(column);
}

/** Converts a name from camelCase to snake_case, which is the spelling of REST. */
export function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function directiveArgument(
  { astNode }: GraphQLField<unknown, unknown> | GraphQLInputField,
  directive: string,
  argument: string,
): string | undefined {
  const node = astNode?.directives?.find(({ name }) => name.value === directive);
  const value = node?.arguments?.find(({ name }) => name.value === argument)?.value;
  return value?.kind === 'StringValue' ? value.value : undefined;
}
