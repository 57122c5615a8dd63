import { type DocumentNode, type GraphQLSchema, type OperationDefinitionNode, visit } from 'graphql';
import { rootOf } from '../look-ahead/operation-trees.ts';
import { fragmentsOf } from '../look-ahead/selection-tree.ts';
import { current } from '../rest/paths.ts';
import type { Tenant } from '../rest/tenants.ts';
import { authSettings, readTenantsSetting } from '../settings/auth-settings.ts';
import type { SettingsReader } from '../settings/reader.ts';
import { ConfigError } from '../settings/settings.ts';

/** The tenant of a name. Throws a ConfigError if there is none, or if UPSTREAM_KEYS cannot be read. */
export function tenantCalled(name: string, settings: SettingsReader): Tenant {
  settings.need(authSettings.tenants, 'the option --tenant is given');
  const tenants = readTenantsSetting(settings);
  settings.finish();
  const tenant = tenants?.get(name);
  if (tenant !== undefined) return tenant;
  const names = [...(tenants?.keys() ?? [])].join(', ');
  throw new ConfigError(`--tenant: expected one of the tenants in UPSTREAM_KEYS (${names}), but got ${name}`);
}

/** Why an operation is refused to a tenant, whatever its variables are, one line each; empty if it may run. */
export function refusalsFor(
  { name, mutations, reach }: Tenant,
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): readonly string[] {
  const refusals: string[] = [];
  if (operation.operation === 'mutation') {
    const root = rootOf({ schema, fragments: fragmentsOf(document), operation }, undefined);
    const fields = (root?.fields ?? []).map(({ field }) => field.name);
    const refused = [...new Set(fields)].filter((field) => !mutations.has(field));
    refusals.push(...refused.map((field) => `${name} may not run \`${field}\``));
  }
  if (reach !== undefined && namesCurrent(document)) refusals.push(`${name} may not name ${current}`);
  return refusals;
}

function namesCurrent(document: DocumentNode): boolean {
  let isNamed = false;
  visit(document, { StringValue: ({ value }) => void (isNamed ||= value === current) });
  return isNamed;
}
