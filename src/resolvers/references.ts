import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../context.ts';
import type { OrganizationRecord, RowRecord } from '../graphql/records.ts';
import type { Collection } from '../rest/paths.ts';
import { idText } from '../rest/values.ts';
import { fetchRecord } from './by-id.ts';

/** The organization that a column of a row names; null where it names none. Costs no call. */
export function organizationIn(record: RowRecord, column: string): OrganizationRecord | null {
  const id = referredId(record, column);
  return id === undefined ? null : { noun: 'Organization', id: id.toLowerCase() };
}

/** The object of a collection that a column of a row names; null where it names none. */
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

function referredId({ row, failure }: RowRecord, column: string): string | undefined {
  const value = row[column];
  if (value === undefined && failure !== undefined) throw failure;
  return idText(value);
}
