import { type GraphQLResolveInfo, getNamedType, isObjectType } from 'graphql';
import type { GatewayContext } from '../context.ts';
import { namesGlobally, toGlobalId } from '../graphql/ids.ts';
import { refuseCurrent, refuseOutside } from '../graphql/narrowing.ts';
import { type RowRecord, toRecord } from '../graphql/records.ts';
import { answersScopes } from '../look-ahead/needs.ts';
import { scopeOf } from '../look-ahead/selection.ts';
import { type Collection, current, type Key } from '../rest/paths.ts';
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

/** What a write is aimed at: an object, or the collection of a new one. */
type Target = { readonly key: Key } | { readonly collection: Collection };

/** The id of the project or organization that a mutation is about, as it was given. */
interface GivenOwner {
  readonly type: 'Project' | 'Organization';
  readonly id: string | null | undefined;
  readonly input: object;
}

/**
 * What a write is made of, by the id of its project or organization. If that is `@current`, and the payload answers
 * global ids or a global id is given beside it, what `@current` stands for is read first, and the write goes to just
 * that: by the time it has been made, the user may have opened another project. What is out of the tenant's reach is
 * refused.
 */
export async function addressed<T extends Target>(
  { type, id, input }: GivenOwner,
  make: (id: string | null | undefined) => T,
  { loaders, tenant }: GatewayContext,
  info: GraphQLResolveInfo,
): Promise<T> {
  refuseCurrent(tenant?.reach, id, 'id');
  const made = make(id);
  refuseOutside(tenant?.reach, 'key' in made ? made.key : { ...made.collection, id: '' });
  if (id !== current) return made;
  const payload = getNamedType(info.returnType);
  const isTold = isObjectType(payload) && answersScopes(payload, info.fieldNodes, scopeOf(info));
  return isTold || namesGlobally(input) ? make(await loaders.fetchCurrentId(type)) : made;
}

/** The global id of an object that was deleted; null if its owner is `@current`, which was not read. */
export function deletedId({ noun, scope, id }: Key): string | null {
  if (scope === current || id === current) return null;
  return toGlobalId({ type: noun, scope, id });
}
