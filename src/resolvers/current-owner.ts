import type { GatewayContext } from '../context.ts';
import { foreignOwnerError } from '../graphql/ids.ts';
import { type RowRecord, withOwnerId } from '../graphql/records.ts';
import { withLaterForms, withRow } from '../look-ahead/early-records.ts';
import { toError } from '../rest/errors.ts';
import { ownerTypeOf } from '../rest/nouns.ts';
import { type Collection, current, type Key } from '../rest/paths.ts';
import type { Row } from '../rest/values.ts';

// Objects below `@current` are read without waiting for the real id of their owner. Their global ids contain the real
// id. If a global id is selected, the real id is read at the same time as the objects. `plan/field-plans.ts` and
// `plan/connection-plans.ts` predict that read.

/** Starts to read the id behind `@current`. Not for plugins, because most of their rows name their owner. */
export function prefetchOwnerId({ noun, scope }: Collection, { loaders }: GatewayContext): void {
  if (scope !== current || noun === 'Plugin') return;
  loaders.fetchCurrentId('Project').catch(() => undefined);
}

/**
 * The record with the real id of its owner; its global id contains that id. The rows in `page` may name the owner.
 * Without a `page`, only the record's own row may name it. In an answer in parts, only the field `id` waits for the
 * owner. The `id` of a plugin without a `page` waits for the plugin's row first: if that row names the owner, the call
 * that looks up the owner is saved.
 */
export function addOwnerId(
  record: RowRecord,
  page: readonly Row[] | undefined,
  context: GatewayContext,
): Promise<RowRecord> | RowRecord {
  const withOwner = (known: RowRecord): Promise<RowRecord> => fetchOwnerId(known, page ?? [known.row], context);
  if (context.parts === undefined) return withOwner(record);
  const row = page === undefined && record.noun === 'Plugin' ? withRow(record) : undefined;
  const ownerId = row === undefined ? withOwner(record) : row.then((known) => withOwner(known ?? record));
  return withLaterForms(record, { ownerId });
}

/** Adds the owner's real id to the record of an object below `@current`. One of `rows` may name a plugin's owner. */
export async function fetchOwnerId(
  record: RowRecord,
  rows: readonly Row[],
  { loaders }: GatewayContext,
): Promise<RowRecord> {
  try {
    const isPlugin = record.noun === 'Plugin';
    const named = isPlugin ? rows.map(ownerIn).find((id) => id !== undefined) : undefined;
    return withOwnerId(record, named ?? (await loaders.fetchCurrentId(isPlugin ? 'Organization' : 'Project')));
  } catch (error) {
    return withOwnerId(record, toError(error));
  }
}

/** The organization that a plugin's row names; undefined for a global plugin, which another organization may own. */
function ownerIn({ organization_id: owner, is_global: isGlobal }: Row): string | undefined {
  return typeof owner === 'string' && isGlobal !== true ? owner.toLowerCase() : undefined;
}

/** Refuses an object that a global id names, unless `@current` stands for the project or organization that owns it. */
export async function confirmOwner({ noun, scope }: Key, argument: string, { loaders }: GatewayContext): Promise<void> {
  const real = await loaders.fetchCurrentId(ownerTypeOf(noun) ?? 'Project');
  if (real !== scope) throw foreignOwnerError(noun, argument);
}
