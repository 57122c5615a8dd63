import type { GraphQLResolveInfo } from 'graphql';
import { type RowRecord, type Started, toRecord } from '../graphql/records.ts';
import { fieldsOfPart } from '../look-ahead/deferral.ts';
import { completedLater } from '../look-ahead/deferred-records.ts';
import { type Existence, type Needs, needsOfFields, ownView, proves } from '../look-ahead/needs.ts';
import type { Key } from '../rest/paths.ts';

/**
 * The record of an object of an answer in parts, whose `row` is being read. The record does not wait for the row if its
 * part needs no column of it, and if something else shows that the object exists.
 */
export function fetchEarly(
  key: Key,
  existence: Existence,
  { row, started }: { readonly row: Promise<RowRecord | null>; readonly started: Started },
  info: GraphQLResolveInfo,
): Promise<RowRecord | null> {
  const needs = needsOfFields(fieldsOfPart(key.noun, info));
  if (ownView({ ...key, type: key.noun }, needs, existence) !== undefined) return row;
  const early = completedLater(toRecord(key, { id: key.id, started }), { row });
  if (existence === 'assumed') return Promise.resolve(early);
  // The row may show first that the object is gone. Until then a failed relation proves nothing.
  const exists = Promise.race([provesExistence(needs, started, () => false), row.then(() => false)]);
  return exists.then((isAnsweredFirst) => (isAnsweredFirst ? early : row));
}

/**
 * True if a relation proves that the object exists. An answer proves it, and a failure does if `failureProves` says so.
 */
export function provesExistence(
  { relations }: Needs,
  started: Started,
  failureProves: (error: unknown) => boolean,
): Promise<boolean> {
  const evidence = relations.filter(proves).map(({ responseKey }) => started.get(responseKey));
  const proofs = evidence.map(async (answer) => {
    const proved = await Promise.resolve(answer).then((value) => value !== null && value !== undefined, failureProves);
    if (!proved) throw new Error('no proof');
  });
  return Promise.any(proofs).then(
    () => true,
    () => false,
  );
}
