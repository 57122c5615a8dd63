import {
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isLeafType,
  isObjectType,
} from 'graphql';
import type { GatewayContext } from '../context.ts';
import { UpstreamError } from '../rest/errors.ts';
import { idText, isObject, type Row } from '../rest/values.ts';
import { enumName } from './enums.ts';
import { type FieldFacts, factsOf, isRowType } from './facts.ts';
import { RowRecord, type UserRecord } from './records.ts';
import { digitsAsText } from './scalars.ts';

type Resolver = GraphQLFieldResolver<unknown, GatewayContext>;

/**
 * Gives every field of a REST noun that has no resolver of its own the column of its row, named by the SDL. A field that
 * is neither throws: a forgotten one stops the gateway from starting.
 */
export function attachColumns(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || !isRowType(type.name)) continue;
    for (const field of Object.values(type.getFields())) field.resolve ??= columnOf(type, field);
  }
}

function columnOf(type: GraphQLObjectType, field: GraphQLField<unknown, unknown>): Resolver {
  const facts = factsOf(type, field);
  if (facts.column === undefined || facts.operation !== undefined) {
    throw new Error(`${type.name}.${field.name} has neither a resolver nor a REST column`);
  }
  return columnResolver(facts.column, facts.view, converterOf(field));
}

/** Answers a column: from the row if it is there, else from the row that has it, through the loader of its key. */
function columnResolver(column: string, view: FieldFacts['view'], convert: (value: unknown) => unknown): Resolver {
  return (parent, _args, context) => {
    if (!(parent instanceof RowRecord)) return convert(ofUser(parent)[column]);
    const value = parent.row?.[column];
    if (value !== undefined) return convert(value);
    if (hasColumn(parent, view)) return null;
    return fetchColumn(parent, column, view, convert, context);
  };
}

/** Whether the row that came with a record is one that has this column, even where the upstream left it out. */
function hasColumn({ view: has }: RowRecord, need: FieldFacts['view']): boolean {
  return has === 'detail' || (has === 'list' && need === 'list');
}

async function fetchColumn(
  record: RowRecord,
  column: string,
  view: FieldFacts['view'],
  convert: (value: unknown) => unknown,
  { loaders }: GatewayContext,
): Promise<unknown> {
  if (record.failure !== undefined) throw record.failure;
  const known = await loaders.rows.load(record.key, view ?? 'detail');
  return convert(known?.row[column] ?? null);
}

/** What becomes of a column's value, by the field's type; GraphQL's own leaf types check the rest. */
function converterOf(field: GraphQLField<unknown, unknown>): (value: unknown) => unknown {
  const type = getNamedType(field.type);
  if (isEnumType(type)) return orNull((value) => enumName(type.name, value));
  if (type.name === 'ID') return orNull((value) => idText(value) ?? invalid());
  if (type.name === 'String') return digitsAsText;
  if (type.name === 'User') return orNull(toUser);
  if (!isLeafType(type)) throw new Error(`${field.name} is no column: it needs a resolver`);
  return (value) => value;
}

function orNull(convert: (value: unknown) => unknown): (value: unknown) => unknown {
  return (value) => (value === null || value === undefined ? null : convert(value));
}

function toUser(value: unknown): UserRecord {
  return isObject(value) ? { kind: 'User', row: value } : invalid();
}

function ofUser(parent: unknown): Row {
  return isObject(parent) && isObject(parent['row']) ? parent['row'] : {};
}

function invalid(): never {
  throw new UpstreamError('UPSTREAM_INVALID_RESPONSE');
}
