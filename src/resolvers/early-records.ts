import type { GraphQLObjectType, GraphQLResolveInfo } from 'graphql';
import { type RowRecord, type Started, toRecord } from '../graphql/records.ts';
import { fieldsOfPart } from '../look-ahead/deferral.ts';
import { completedLater } from '../look-ahead/deferred-records.ts';
import { type Existence, type Needs, needsOfFields, ownView } from '../look-ahead/needs.ts';
import type { Key } from '../rest/paths.ts';

/**
 * The record of an object of an answer in parts, whose `row` is being read. It comes without the row if the part that it
 * is of needs none of its columns, and knows otherwise that the object exists; if the row decides that, it is awaited.
 */
export function fetchEarly(
  type: GraphQLObjectType,
  key: Key,
  existence: Existence,
  { row, started }: { readonly row: Promise<RowRecord | null>; readonly started: Started },
  info: GraphQLResolveInfo,
): Promise<RowRecord | null> {
  const needs = needsOfFields(type, fieldsOfPart(type, info));
  if (ownView({ ...key, type: key.noun }, needs, existence) !== undefined) return row;
  const early = completedLater(toRecord(key, { id: key.id, started }), { row });
  if (existence === 'assumed') return Promise.resolve(early);
  // The row may show first that it does not exist.
  const exists = Promise.race([isAnswered(needs, started), row.then(() => false)]);
  return exists.then((isAnsweredFirst) => (isAnsweredFirst ? early : row));
}

/** Whether a relation answers that proves the object. One that fails proves nothing as long as the row may decide. */
function isAnswered({ relations }: Needs, started: Started): Promise<boolean> {
  const answers = relations.filter(({ proves }) => proves).map(({ responseKey }) => started.get(responseKey));
  const proofs = answers.map(async (answer) => {
    const value = await answer;
    if (value === null || value === undefined) throw new Error('no proof');
  });
  return Promise.any(proofs).then(
    () => true,
    () => false,
  );
}
