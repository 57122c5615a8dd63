import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../context.ts';
import type { OrganizationResolvers } from '../graphql/generated/resolvers.ts';
import { toGlobalId } from '../graphql/ids.ts';
import { entriesIn, itemsIn, pluginsIn } from '../graphql/plugin-results.ts';
import { type OrganizationRecord, type RowRecord, toRecord } from '../graphql/records.ts';
import { countAnswered } from '../look-ahead/object-weight.ts';
import { toError, UpstreamError } from '../rest/errors.ts';
import { type Collection, current } from '../rest/paths.ts';
import { reaches } from '../rest/reach.ts';
import type { Row } from '../rest/values.ts';
import { fetchRecord, fetchWithin, referredId, reportedRecord } from './by-id.ts';
import { listConnection } from './list-fields.ts';

/** The fields of an organization. It has no row: its fields are read from its plugins and from paths below them. */
export const Organization: OrganizationResolvers = {
  id: (organization, _args, context) => withRealId(organization, context, globalIdOf),
  upstreamId: (organization, _args, context) => withRealId(organization, context, (id) => id),
  name: (organization, _args, context) => fetchName(organization, context),
  plugins: ({ id }, args, context, info) => listConnection(pluginsOf(id), args, context, info),
  plugin: (organization, { id }, context, info) => fetchWithin(pluginsOf(organization.id), id, context, info),
  pluginActivity: async ({ id }, { after }, context, info) => {
    countAnswered(1, context, info);
    const query = typeof after === 'string' ? context.cursors.decodeQuery('activity', after, 'after') : undefined;
    return { body: await context.loaders.memoized.fetchPluginsReport(id, 'activity', query) };
  },
  pluginExportsUnsubscribeConfigs: async ({ id }, _args, { loaders, answerCounter }) => {
    answerCounter.addValue();
    return required(itemsIn(await loaders.memoized.fetchPluginsReport(id, 'exports_unsubscribe_configs')));
  },
  pluginRepository: async ({ id }, _args, context, info) => {
    const entries = required(entriesIn(await context.loaders.memoized.fetchPluginsReport(id, 'repository')));
    countAnswered(entries.length, context, info);
    return entries;
  },
  unusedPlugins: ({ id }, _args, context, info) => fetchUnused(pluginsOf(id), context, info),
};

/** The id of the organization that a column of a row names; undefined if it names none. */
export function namedOrganization(record: RowRecord, column: string): string | undefined {
  return referredId(record, column)?.toLowerCase();
}

/** An organization by its id; null if it is out of the caller's reach. Costs no call. */
export function organizationRecord(
  organization: Omit<OrganizationRecord, 'noun'>,
  { rights }: GatewayContext,
): OrganizationRecord | null {
  const record = { noun: 'Organization', ...organization } as const;
  return reaches(rights?.reach, { noun: 'Organization', scope: '', id: record.id }) ? record : null;
}

/** Answers with the real id of an organization. The id behind `@current` is read. */
function withRealId(
  { id }: OrganizationRecord,
  { loaders }: GatewayContext,
  answer: (id: string) => string,
): string | Promise<string> {
  return id === current ? loaders.fetchCurrentId('Organization').then(answer) : answer(id);
}

function globalIdOf(id: string): string {
  return toGlobalId({ type: 'Organization', scope: '', id });
}

function pluginsOf(organizationId: string): Collection {
  return { noun: 'Plugin', scope: organizationId };
}

/** The name of an organization, from the row of any of its plugins: a known row, or else one that is read for it. */
async function fetchName(
  { id, name: known }: OrganizationRecord,
  { loaders, answerCounter }: GatewayContext,
): Promise<string | null> {
  if (known !== undefined) return known;
  answerCounter.addValue();
  const collection = pluginsOf(id);
  const nameAtHand = (): string | undefined => {
    const row = loaders.store.findIn(collection, (one) => nameIn(one, id) !== undefined);
    return row === undefined ? undefined : nameIn(row, id);
  };
  do {
    const name = nameAtHand();
    if (name !== undefined) return name;
  } while (await loaders.rows.settlePending(collection));
  await loaders.windows.load({ list: collection, at: { offset: 0 }, limit: 1 });
  return nameAtHand() ?? null;
}

/** The organization's name in the row of a plugin; undefined if the plugin may belong to another organization. */
function nameIn(row: Row, organizationId: string): string | undefined {
  const { organization_id: owner, organization_name: name, is_global: isGlobal } = row;
  const isForeign =
    organizationId === current
      ? isGlobal === true
      : typeof owner === 'string' && owner.toLowerCase() !== organizationId;
  return typeof name === 'string' && !isForeign ? name : undefined;
}

async function fetchUnused(
  collection: Collection,
  context: GatewayContext,
  info: GraphQLResolveInfo,
): Promise<RowRecord[]> {
  const named = pluginsIn(await context.loaders.memoized.fetchPluginsReport(collection.scope, 'unused'));
  // The report may name plugins by their ids alone. Each of these plugins is counted when it is read.
  const rows = named.filter((plugin) => typeof plugin !== 'string');
  countAnswered(rows.length, context, info, collection.scope.length);
  const records = named.map(async (plugin) => {
    if (typeof plugin !== 'string')
      return reportedRecord(toRecord(collection, { row: plugin, view: 'detail' }), context, info);
    const key = { ...collection, id: plugin };
    // A plugin that cannot be read loses its columns, but the list keeps its other plugins.
    return fetchRecord(key, 'assumed', context, info).catch((failure: unknown) =>
      reportedRecord(toRecord(key, { id: plugin, failure: toError(failure) }), context, info),
    );
  });
  return (await Promise.all(records)).filter((record) => record !== null);
}

function required<T>(answer: T | null): T {
  if (answer === null) throw new UpstreamError('UPSTREAM_INVALID_RESPONSE');
  return answer;
}
