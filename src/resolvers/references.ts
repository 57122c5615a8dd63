import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../context.ts';
import type { OrganizationRecord, RowRecord } from '../graphql/records.ts';
import type { Collection } from '../rest/paths.ts';
import { reaches } from '../rest/reach.ts';
import { idText } from '../rest/values.ts';
import { fetchRecord } from './by-id.ts';

/** The organization that a column of a row names; null if it names none, or one out of reach. Costs no call. */
export function organizationIn(record: RowRecord, column: string, context: GatewayContext): OrganizationRecord | null {
  const id = namedOrganization(record, column);
  return id === undefined ? null : organizationRecord({ id }, context);
}

/** The id of the organization that a column of a row names; undefined if it names none. */
export function namedOrganization(record: RowRecord, column: string): string | undefined {
  return referredId(record, column)?.toLowerCase();
}

/** An organization by its id; null if it is out of the tenant's reach. Costs no call. */
export function organizationRecord(
  organization: Omit<OrganizationRecord, 'noun'>,
  { tenant }: GatewayContext,
): OrganizationRecord | null {
  const record = { noun: 'Organization', ...organization } as const;
  return reaches(tenant?.reach, { noun: 'Organization', scope: '', id: record.id }) ? record : null;
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

function referredId({ row, failure }: RowRecord, column: string): string | undefined {
  const value = row[column];
  if (value === undefined && failure !== undefined) throw failure;
  return idText(value);
}
