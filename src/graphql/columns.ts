import type { GraphQLField, GraphQLSchema } from 'graphql';
import { UpstreamError } from '../rest/errors.ts';
import { current } from '../rest/paths.ts';
import { idText } from '../rest/values.ts';
import { objectFields } from './attach-resolvers.ts';
import { isRowType, mappingOf } from './field-mapping.ts';
import { columnGetters } from './generated/columns.ts';
import { isUpstreamId, toGlobalId } from './ids.ts';
import { type RowRecord, recordClasses } from './records.ts';

type Getter = (this: RowRecord) => unknown;

/**
 * Gives the records of every REST noun a getter for each field that has no resolver. The getter answers the object's
 * id, or the column that the SDL names. Getters are faster than resolvers, because executors make no arguments and no
 * info for them. Throws for a field that is neither an id nor a column, so a forgotten field stops the gateway from
 * starting.
 */
export function attachColumns(schema: GraphQLSchema): void {
  for (const field of objectFields(schema)) {
    const type = field.parentType?.name ?? '';
    if (!isRowType(type) || field.resolve !== undefined) continue;
    const get = getterOf(field, columnGetters[type]);
    Object.defineProperty(recordClasses[type].prototype, field.name, { configurable: true, get });
  }
}

function getterOf(field: GraphQLField<unknown, unknown>, getters: Readonly<Record<string, Getter>>): Getter {
  const { type, column, operation } = mappingOf(field);
  const isNode = type !== 'User';
  if (isNode && field.name === 'id') return globalIdOf;
  if (isNode && field.name === 'upstreamId') return upstreamIdOf;
  const getter = getters[field.name];
  if (column === undefined || operation !== undefined || getter === undefined)
    throw new Error(`${String(field)} has neither a resolver nor a REST column`);
  return getter;
}

function globalIdOf(this: RowRecord): string | Error {
  const id = upstreamIdOf.call(this);
  if (typeof id !== 'string') return id;
  const scope = this.realOwnerId ?? this.scope;
  if (typeof scope !== 'string') return scope;
  // An id that is not in the form of its type gets no global id. The gateway would refuse such a global id later.
  return isUpstreamId(this.noun, id) ? toGlobalId({ type: this.noun, scope, id }) : unreadable;
}

const unreadable = new UpstreamError('UPSTREAM_INVALID_RESPONSE');

/** Returns an Error instead of throwing it: executors treat a returned Error as a failed field. */
function upstreamIdOf(this: RowRecord): string | Error {
  const { knownId, row, failure } = this;
  if (knownId !== undefined && knownId !== current) return knownId;
  return idText(row['id']) ?? failure ?? new UpstreamError('UPSTREAM_INVALID_RESPONSE');
}
