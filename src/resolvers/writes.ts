import type { GatewayContext } from '../context.ts';
import { toGlobalId } from '../graphql/ids.ts';
import { type RowRecord, toRecord } from '../graphql/records.ts';
import type { Collection, Key } from '../rest/paths.ts';
import { idText, type Row } from '../rest/values.ts';

/** Runs a write. Whatever became of it, nothing that was read before it answers anything after it. */
export async function write<T>({ loaders }: GatewayContext, send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } finally {
    loaders.forget();
  }
}

/** Runs a write that answers the row it wrote, in the detail view: it need not be read again. */
export async function writeRow(
  collection: Collection,
  context: GatewayContext,
  send: () => Promise<Row>,
): Promise<RowRecord> {
  const row = await write(context, send);
  const id = idText(row['id']);
  if (id !== undefined) context.loaders.store.learn({ ...collection, id }, { row, view: 'detail' });
  return toRecord(collection, { row, view: 'detail' });
}

/** The global id of an object that was deleted. */
export function deletedId({ kind, scope, id }: Key): string {
  return toGlobalId({ type: kind, scope, id });
}
