import { type DocumentNode, type GraphQLSchema, type OperationDefinitionNode, visit } from 'graphql';
import { fragmentsOf, rootOf } from '../look-ahead/selection-tree.ts';
import { current } from '../rest/paths.ts';
import type { Tenant } from '../rest/tenants.ts';
import type { Config } from '../settings/config.ts';
import { ConfigError } from '../settings/settings.ts';

/** The tenant of a name. Throws a ConfigError if there is none, or if the gateway holds no keys. */
export function tenantCalled(name: string, { auth }: Config): Tenant {
  if (auth === undefined) throw new ConfigError('--tenant: expected AUTH=jwt, which has tenants');
  const tenant = auth.tenants.get(name);
  if (tenant !== undefined) return tenant;
  const names = [...auth.tenants.keys()].join(', ');
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
