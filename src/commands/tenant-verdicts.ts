import { type DocumentNode, type GraphQLSchema, type OperationDefinitionNode, visit } from 'graphql';
import { rootOf } from '../look-ahead/operation-trees.ts';
import { fragmentsOf } from '../look-ahead/selection-tree.ts';
import { current } from '../rest/paths.ts';
import { runningOperation, type Tenant, withRoles } from '../rest/tenants.ts';
import { readTenantsSetting } from '../settings/config.ts';
import { authSettings } from '../settings/declaration.ts';
import type { SettingsReader } from '../settings/settings.ts';
import { ConfigError } from '../settings/settings.ts';

/**
 * The tenant with a name, limited to some of its roles. Throws a ConfigError if there is no such tenant, if its entry
 * lacks a role, or if UPSTREAM_KEYS cannot be read.
 */
export function tenantCalled(name: string, roles: readonly string[], settings: SettingsReader): Tenant {
  settings.need(authSettings.tenants, 'the option --tenant is given');
  const tenants = readTenantsSetting(settings, true);
  settings.finish();
  const tenant = tenants?.get(name);
  if (tenant !== undefined) return tenantWith(tenant, roles);
  const names = [...(tenants?.keys() ?? [])].join(', ');
  throw new ConfigError(`--tenant: expected one of the tenants in UPSTREAM_KEYS (${names}), but got ${name}`);
}

function tenantWith(tenant: Tenant, roles: readonly string[]): Tenant {
  const { name, roles: known } = tenant;
  const [first] = roles;
  if (known === undefined && first !== undefined)
    throw new ConfigError(`--role: expected none, because the entry of ${name} has no roles, but got ${first}`);
  const expected = `one of the roles of ${name} (${[...(known?.keys() ?? [])].join(', ')})`;
  const unknown = roles.find((role) => known?.has(role) === false);
  if (unknown !== undefined) throw new ConfigError(`--role: expected ${expected}, but got ${unknown}`);
  const found = withRoles(tenant, roles);
  if (found === undefined)
    throw new ConfigError(`--role: expected ${expected}, because its entry has roles, but got none`);
  return found;
}

/**
 * The reasons why a tenant may not run an operation, one line each; empty if it may. The operation's document counts as
 * listed.
 */
export function refusalsFor(
  tenant: Tenant,
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): readonly string[] {
  const { name } = tenant;
  const running = runningOperation(tenant, operation.name?.value);
  if (running === undefined) return [`no role of ${name} that is asked about may run it`];
  const { mutations, reach } = running;
  const isMutation = operation.operation === 'mutation';
  const root = rootOf({ schema, fragments: fragmentsOf(document), operation }, undefined);
  const fields = new Set(isMutation ? root?.fields.map(({ field }) => field.name) : []);
  const refusals = [...fields].flatMap((field) => (mutations.has(field) ? [] : [`${name} may not run \`${field}\``]));
  const reaches = isMutation ? [...fields].map((field) => mutations.get(field)) : [reach];
  const isNarrowed = reaches.some((one) => one !== undefined);
  if (isNarrowed && namesCurrent(document)) refusals.push(`${name} may not name ${current}`);
  return refusals;
}

function namesCurrent(document: DocumentNode): boolean {
  let isNamed = false;
  visit(document, { StringValue: ({ value }) => void (isNamed ||= value === current) });
  return isNamed;
}
