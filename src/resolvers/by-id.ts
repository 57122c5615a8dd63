import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../context.ts';
import { parseIdWithin } from '../graphql/ids.ts';
import { type RowRecord, type StartedRelations, toRecord } from '../graphql/records.ts';
import { type KnownRow, listView, suffices } from '../loaders/row-store.ts';
import { fieldsOfPart, withLaterForms } from '../look-ahead/early-records.ts';
import { type Existence, type Needs, needsOf, needsOfFields, ownView, proves } from '../look-ahead/needs.ts';
import { countAnswered } from '../look-ahead/object-weight.ts';
import { selectionOf } from '../look-ahead/operation-trees.ts';
import { readAhead, startRelations } from '../look-ahead/read-ahead.ts';
import { isNotFound, toError } from '../rest/errors.ts';
import { type Collection, current, type Key } from '../rest/paths.ts';
import { reaches } from '../rest/reach.ts';
import { idText, type Row } from '../rest/values.ts';
import { addOwnerId, confirmOwner, fetchOwnerId, prefetchOwnerId } from './current-owner.ts';

/**
 * The record of an object by its key; null if it is out of the caller's reach. An object that the client named by its
 * id is also null if it does not exist. An object that a row refers to keeps its record if its own row is gone. The row
 * is awaited only if the selection needs a column of it, and all other reads of the selection are started before.
 * `isCounted` is true if the object already counts towards the limits of the answer. `plan/field-plans.ts` predicts
 * these reads.
 */
export function fetchRecord(
  key: Key,
  existence: Existence,
  context: GatewayContext,
  info: GraphQLResolveInfo,
  isCounted = false,
): Promise<RowRecord | null> {
  if (!reaches(context.rights?.reach, key)) return Promise.resolve(null);
  if (!isCounted) countAnswered(1, context, info, key.scope.length + key.id.length, key.noun);
  const needs = needsOf(selectionOf(info).onNamed(key.noun));
  const needsOwnerId = key.scope === current && needs.globalId;
  if (needsOwnerId) prefetchOwnerId(key, context);
  const view = ownView(key, needs, existence);
  const row = view === undefined ? undefined : context.loaders.rows.load(key, view);
  const started = startRelations(needs.relations, toRecord(key, { id: key.id }), context, info);
  let record: Promise<RowRecord | null>;
  if (row !== undefined) {
    readAhead(needs.relations, started, row, context, info);
    record = awaitRow(key, row, started, existence);
    if (context.parts !== undefined) record = answerEarly(key, existence, { row: record, started }, info);
  } else if (existence === 'assumed') {
    record = Promise.resolve(toRecord(key, { id: key.id, started }));
  } else {
    record = provesExistence(needs, started, isNotAbsence).then((proved) =>
      proved
        ? toRecord(key, { id: key.id, started })
        : awaitRow(key, context.loaders.rows.load(key, 'list'), started, existence),
    );
  }
  return needsOwnerId ? record.then((known) => known && addOwnerId(known, undefined, context)) : record;
}

/** The record of an object of a collection. `id` is its upstream id or its global id. */
export function fetchWithin(
  collection: Collection,
  id: string,
  context: GatewayContext,
  info: GraphQLResolveInfo,
): Promise<RowRecord | null> {
  const key = parseIdWithin(collection, id, 'id');
  if (key.scope === collection.scope) return fetchRecord(key, 'unknown', context, info);
  return confirmOwner(key, 'id', context).then(() => fetchRecord(key, 'unknown', context, info));
}

/** The object of a collection that a column of a row names; null if it names none. */
export async function fetchReferred(
  record: RowRecord,
  column: string,
  collection: Collection,
  context: GatewayContext,
  info: GraphQLResolveInfo,
): Promise<RowRecord | null> {
  const id = referredId(record, column);
  return id === undefined ? null : fetchRecord({ ...collection, id }, 'assumed', context, info);
}

/** The id in a column; undefined if there is none. Throws if the column could not be read. */
export function referredId({ row, failure }: RowRecord, column: string): string | undefined {
  const value = row[column];
  if (value === undefined && failure !== undefined) throw failure;
  return idText(value);
}

/**
 * The record of an object in an answer in parts, while `row` is still being read. It waits for the row only if the
 * current part needs a column of it, or if nothing else shows that the object exists.
 */
function answerEarly(
  key: Key,
  existence: Existence,
  { row, started }: { readonly row: Promise<RowRecord | null>; readonly started: StartedRelations },
  info: GraphQLResolveInfo,
): Promise<RowRecord | null> {
  const needs = needsOfFields(fieldsOfPart(key.noun, info));
  if (ownView(key, needs, existence) !== undefined) return row;
  const early = withLaterForms(toRecord(key, { id: key.id, started }), { row });
  if (existence === 'assumed') return Promise.resolve(early);
  // A failed relation proves nothing here, because the row may still show that the object is gone.
  const exists = Promise.race([provesExistence(needs, started, () => false), row.then(() => false)]);
  return exists.then((isAnsweredFirst) => (isAnsweredFirst ? early : row));
}

/** True if a relation shows that the object exists, by its answer or by a failure for which `failureProves` is true. */
function provesExistence(
  { relations }: Needs,
  started: StartedRelations,
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

/**
 * The records of rows of a list. If the selection needs columns that lists lack, the own row of each object is read,
 * and all other reads of the selection are started before. `page` has all rows that were read together.
 */
export function listedRecords(
  collection: Collection,
  rows: readonly Row[],
  context: GatewayContext,
  info: GraphQLResolveInfo,
  page = rows,
): (RowRecord | Promise<RowRecord>)[] {
  const view = listView(collection.noun);
  const needs = needsOf(selectionOf(info).onNamed(collection.noun));
  const isListed = needs.view === undefined || suffices(view, needs.view);
  const records = rows.map((row) => {
    const listed = toRecord(collection, { row, view });
    return isListed ? listed : detailedRecord(listed, needs, context, info);
  });
  if (collection.scope !== current || !needs.globalId) return records;
  return records.map(async (record) => addOwnerId(await record, page, context));
}

/** The record of an object that came with the answer of a report. */
export function reportedRecord(
  record: RowRecord,
  context: GatewayContext,
  info: GraphQLResolveInfo,
): RowRecord | Promise<RowRecord> {
  const isComplete = record.scope !== current || !needsOf(selectionOf(info).onNamed(record.noun)).globalId;
  return isComplete ? record : fetchOwnerId(record, [record.row], context);
}

function detailedRecord(
  listed: RowRecord,
  { relations }: Needs,
  context: GatewayContext,
  info: GraphQLResolveInfo,
): Promise<RowRecord> | RowRecord {
  const started = startRelations(relations, listed, context, info);
  const record = fetchDetail(listed, started, context);
  readAhead(relations, started, record, context, info);
  if (context.parts === undefined) return record;
  const { row, view } = listed;
  return withLaterForms(toRecord(listed, { row, view, started }), { row: record });
}

async function fetchDetail(
  listed: RowRecord,
  started: StartedRelations,
  { loaders }: GatewayContext,
): Promise<RowRecord> {
  const { row, view } = listed;
  try {
    const known = await loaders.rows.load(listed.key, 'detail');
    // The object may have been deleted since the list was read.
    return toRecord(listed, { row: known?.row ?? row, view: known?.view ?? view, started });
  } catch (error) {
    return toRecord(listed, { row, view, started, failure: toError(error) });
  }
}

/** True for every error but a 404, which may mean that the object itself is missing. */
function isNotAbsence(error: unknown): boolean {
  return !isNotFound(error);
}

async function awaitRow(
  key: Key,
  row: Promise<KnownRow | undefined>,
  started: StartedRelations,
  existence: Existence,
): Promise<RowRecord | null> {
  try {
    const known = await row;
    if (known !== undefined) return toRecord(key, { id: key.id, row: known.row, view: known.view, started });
    return existence === 'assumed' && key.id !== current ? toRecord(key, { id: key.id, started }) : null;
  } catch (error) {
    // The data of the relations that have answered is kept. Each selected column of the row then fails on its own.
    if (await hasAnyAnswer(started)) return toRecord(key, { id: key.id, failure: toError(error), started });
    throw error;
  }
}

async function hasAnyAnswer(started: StartedRelations): Promise<boolean> {
  const answers = await Promise.allSettled(started.values());
  return answers.some((answer) => answer.status === 'fulfilled' && (answer.value ?? null) !== null);
}
