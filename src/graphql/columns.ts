import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isLeafType,
  isObjectType,
} from 'graphql';
import { UpstreamError } from '../rest/errors.ts';
import { exactDigits, idText, isObject, type Row } from '../rest/values.ts';
import { enumName } from './enums.ts';
import { factsOf, isRowType, type RowType } from './facts.ts';
import { toGlobalId } from './ids.ts';
import { RowRecord, recordClasses, UserRecord } from './records.ts';

/** What a column getter stands on. */
interface WithRow {
  readonly row: Row;
  readonly failure: Error | undefined;
}

/**
 * Gives the records of every REST noun a getter for each field that has no resolver: its id, or the column that the SDL
 * names. A field that is neither throws: a forgotten one stops the gateway from starting.
 */
export function attachColumns(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || !isRowType(type.name)) continue;
    for (const field of Object.values(type.getFields())) {
      if (field.resolve === undefined) defineGetter(type.name, field.name, getterOf(type, field));
    }
  }
}

/** Getters instead of resolvers: executors read a property without making arguments and info for it. */
function defineGetter(type: RowType, name: string, read: (record: WithRow) => unknown): void {
  Object.defineProperty(recordClasses[type].prototype, name, {
    configurable: true,
    get(this: WithRow): unknown {
      return read(this);
    },
  });
}

function getterOf(type: GraphQLObjectType, field: GraphQLField<unknown, unknown>): (record: WithRow) => unknown {
  const isRoot = type.name !== 'User';
  if (isRoot && field.name === 'id') return globalIdOf;
  if (isRoot && field.name === 'upstreamId') return upstreamIdOf;
  const { column, operation } = factsOf(type, field);
  if (column === undefined || operation !== undefined) {
    throw new Error(`${type.name}.${field.name} has neither a resolver nor a REST column`);
  }
  const convert = converterOf(field);
  return ({ row, failure }) => {
    const value = row[column];
    return value === null || value === undefined ? (value === null ? null : (failure ?? null)) : convert(value);
  };
}

function globalIdOf(record: WithRow): string | Error {
  const id = upstreamIdOf(record);
  return record instanceof RowRecord && typeof id === 'string'
    ? toGlobalId({ type: record.kind, scope: record.scope, id })
    : id;
}

/** Executors take an Error for a failed field. */
function upstreamIdOf(record: WithRow): string | Error {
  const known = record instanceof RowRecord ? record.knownId : undefined;
  return known ?? idText(record.row['id']) ?? invalid();
}

/** What becomes of a column's value, by the field's type; GraphQL's own leaf types check the rest. */
function converterOf(field: GraphQLField<unknown, unknown>): (value: unknown) => unknown {
  const type = getNamedType(field.type);
  if (isEnumType(type)) return (value) => enumName(type.name, value);
  if (type.name === 'ID') return (value) => idText(value) ?? invalid();
  if (type.name === 'String') return (value) => (typeof value === 'object' ? (exactDigits(value) ?? value) : value);
  if (type.name === 'User') return (value) => (isObject(value) ? new UserRecord(value) : invalid());
  if (!isLeafType(type)) throw new Error(`${field.name} is no column: it needs a resolver`);
  return (value) => value;
}

function invalid(): UpstreamError {
  return new UpstreamError('UPSTREAM_INVALID_RESPONSE');
}
