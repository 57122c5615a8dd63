import type { GatewayContext } from '../context.ts';
import type { OrganizationResolvers } from '../graphql/generated/resolvers.ts';
import { parseIdWithin, toGlobalId } from '../graphql/ids.ts';
import { toPluginResult } from '../graphql/plugin-results.ts';
import type { PluginsReport } from '../rest/api.ts';
import type { Collection } from '../rest/paths.ts';
import type { Row } from '../rest/values.ts';
import { fetchRecord } from './by-id.ts';
import { listConnection } from './lists.ts';

export const Organization: OrganizationResolvers = {
  id: ({ id }) => toGlobalId({ type: 'Organization', scope: '', id }),
  upstreamId: ({ id }) => id,
  name: ({ id }, _args, context) => fetchName(id, context),
  plugins: ({ id }, args, context, info) => listConnection(plugins(id), args, context, info),
  plugin: (organization, { id }, context, info) =>
    fetchRecord(parseIdWithin(plugins(organization.id), id, 'id'), 'unknown', context, info),
  pluginActivity: ({ id }, _args, context) => fetchReport(id, 'activity', context),
  pluginExportsUnsubscribeConfigs: ({ id }, _args, context) => fetchReport(id, 'exports_unsubscribe_configs', context),
  pluginRepository: ({ id }, _args, context) => fetchReport(id, 'repository', context),
  unusedPlugins: ({ id }, _args, context) => fetchReport(id, 'unused', context),
};

function plugins(organizationId: string): Collection {
  return { kind: 'Plugin', scope: organizationId };
}

/** Only plugins tell the name of their organization; any row of them will do. */
async function fetchName(id: string, { loaders }: GatewayContext): Promise<string | null> {
  const known = loaders.store.findIn(plugins(id), (row) => nameIn(row, id) !== undefined);
  if (known !== undefined) return nameIn(known, id) ?? null;
  const page = await loaders.windows.load({ list: plugins(id), at: { offset: 0 }, limit: 1, countOnly: true });
  return page.rows.map((row) => nameIn(row, id)).find((name) => name !== undefined) ?? null;
}

/** The name in a plugin row, unless the row is a global plugin of another organization. */
function nameIn(row: Row, organizationId: string): string | undefined {
  const { organization_id: owner, organization_name: name } = row;
  const foreign = typeof owner === 'string' && !organizationId.startsWith('@') && owner !== organizationId;
  return typeof name === 'string' && !foreign ? name : undefined;
}

async function fetchReport(organizationId: string, report: PluginsReport, { rest }: GatewayContext) {
  return toPluginResult(organizationId, await rest.fetchPluginsReport(organizationId, report));
}
