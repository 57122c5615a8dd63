import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../context.ts';
import { viewOfColumn } from '../graphql/facts.ts';
import type { OrganizationRecord, RowRecord } from '../graphql/records.ts';
import type { Collection } from '../rest/paths.ts';
import { idText } from '../rest/values.ts';
import { fetchRecord } from './by-id.ts';

/** The organization that a column of a row names; null where it names none. Costs no call. */
export async function fetchOrganization(
  record: RowRecord,
  column: string,
  context: GatewayContext,
): Promise<OrganizationRecord | null> {
  const id = await referredId(record, column, context);
  return id === undefined ? null : { kind: 'Organization', id };
}

/** The object of a collection that a column of a row names; null where it names none. */
export async function fetchReferred(
  record: RowRecord,
  column: string,
  collection: Collection,
  context: GatewayContext,
  info: GraphQLResolveInfo,
): Promise<RowRecord | null> {
  const id = await referredId(record, column, context);
  return id === undefined ? null : fetchRecord({ ...collection, id }, 'assumed', context, info);
}

async function referredId(record: RowRecord, column: string, { loaders }: GatewayContext): Promise<string | undefined> {
  if (record.failure !== undefined) throw record.failure;
  const view = viewOfColumn(record.kind, column);
  const at = record.row?.[column];
  if (at !== undefined || record.view === 'detail' || record.view === view) return idText(at);
  return idText((await loaders.rows.load(record.key, view))?.row[column]);
}
