import { type GraphQLField, type GraphQLObjectType, type GraphQLSchema, isObjectType } from 'graphql';
import { UpstreamError } from '../rest/errors.ts';
import { idText, type Row } from '../rest/values.ts';
import { converterOf } from './column-values.ts';
import { factsOf, isRowType, type RowType } from './facts.ts';
import { toGlobalId } from './ids.ts';
import { RowRecord, recordClasses } from './records.ts';

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
  const isNode = type.name !== 'User';
  if (isNode && field.name === 'id') return globalIdOf;
  if (isNode && field.name === 'upstreamId') return upstreamIdOf;
  const { column, operation } = factsOf(type, field);
  if (column === undefined || operation !== undefined) {
    throw new Error(`${type.name}.${field.name} has neither a resolver nor a REST column`);
  }
  const convert = converterOf(field.type);
  return ({ row, failure }) => {
    const value = row[column];
    if (value === undefined) return failure ?? null;
    return value === null ? null : convert(value);
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
  return known ?? idText(record.row['id']) ?? new UpstreamError('UPSTREAM_INVALID_RESPONSE');
}
