import { type GraphQLResolveInfo, getNamedType } from 'graphql';
import type { GatewayContext } from '../context.ts';
import { namesGlobally, toGlobalId } from '../graphql/ids.ts';
import {
  type CheckedWrite,
  checkedWrite,
  ownerArgumentOf,
  textIn,
  type WriteTarget,
} from '../graphql/mutation-body.ts';
import { mutationReach, outOfReachError } from '../graphql/reach-refusals.ts';
import { type RowRecord, toRecord } from '../graphql/records.ts';
import { answersOwnerIds } from '../look-ahead/needs.ts';
import { selectionOf } from '../look-ahead/operation-trees.ts';
import type { RestApi } from '../rest/api.ts';
import { isNotFound } from '../rest/errors.ts';
import { type Noun, ownerTypeOf } from '../rest/nouns.ts';
import { type Collection, current, type Key } from '../rest/paths.ts';
import { idText, type Row } from '../rest/values.ts';

/** Runs a write. After it, even if it has failed, nothing that was read before it is used any more. */
export async function write<T>({ loaders }: GatewayContext, send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } finally {
    loaders.forget();
  }
}

/** Runs a write that answers the row it wrote. */
export async function writeRow(
  collection: Collection,
  context: GatewayContext,
  send: () => Promise<Row>,
): Promise<RowRecord> {
  return writtenRecord(collection, await write(context, send), context);
}

/** The record of a row that a write answered, in the detail view. The row need not be read again. */
export function writtenRecord(collection: Collection, row: Row, { loaders }: GatewayContext): RowRecord {
  const id = idText(row['id']);
  if (id !== undefined) loaders.store.learn({ ...collection, id }, { row, view: 'detail' });
  return toRecord(collection, { row, view: 'detail' });
}

/**
 * The write that an input asks for. `plan/mutation-plans.ts` predicts its reads:
 *   - The real id behind `@current`, if the payload answers global ids, or if the input has a global id beside
 *     `@current`. The write goes to the real id, because the user may open another project meanwhile.
 *   - The changed object and the dashboards that the input names, if the caller has limited reach. Each is read below
 *     the owner that its id names. Otherwise a forged id could name any dashboard.
 */
export async function prepareWrite(
  target: WriteTarget,
  { loaders, rest, rights }: GatewayContext,
  info: GraphQLResolveInfo,
): Promise<CheckedWrite> {
  const owner = textIn(target.input, ownerArgumentOf(target.noun));
  const reach = mutationReach(rights, info.fieldName);
  const checked = checkedWrite(target, owner, info, reach);
  await Promise.all(checked.keysToRead.map((key) => confirmExists(key, rest)));
  if (owner !== current) return checked;
  const answersIds = answersOwnerIds(selectionOf(info).onNamed(getNamedType(info.returnType).name));
  if (!answersIds && !namesGlobally(target.input)) return checked;
  const real = await loaders.fetchCurrentId(ownerTypeOf(target.noun) ?? 'Project');
  return checkedWrite(target, real, info, reach);
}

/** Refuses an object that the upstream does not show below its owner. */
async function confirmExists(key: Key, rest: RestApi): Promise<void> {
  try {
    await rest.fetchRow(key);
  } catch (error) {
    throw isNotFound(error) ? outOfReachError() : error;
  }
}

/** Makes the object that an input describes. */
export async function createRow(
  noun: Noun,
  input: object,
  context: GatewayContext,
  info: GraphQLResolveInfo,
  action?: 'create_from_template_json',
): Promise<RowRecord> {
  const { key, body } = await prepareWrite({ noun, isNew: true, input }, context, info);
  return writeRow(key, context, () => context.rest.createRow(key, body, action));
}

/** Changes an object as an input says. */
export async function changeRow(
  noun: Noun,
  input: object,
  context: GatewayContext,
  info: GraphQLResolveInfo,
  action?: 'move_tile',
): Promise<RowRecord> {
  const { key, body } = await prepareWrite({ noun, isNew: false, input }, context, info);
  return writeRow(key, context, () => context.rest.changeRow(key, body, action));
}

/** The global id of a deleted object; null if `@current` names it or its owner, because the real id was not read. */
export function deletedId({ noun, scope, id }: Key): string | null {
  if (scope === current || id === current) return null;
  return toGlobalId({ type: noun, scope, id });
}
