import type { Tenants } from '../../rest/tenants.ts';
import { ManifestError, operationNamesIn } from './manifest.ts';

/**
 * Throws a ManifestError if a role may run an operation that no document has. `texts` are those of all listed documents;
 * they are parsed only if a role names any.
 */
export function checkRoleDocuments(tenants: Tenants, texts: () => Iterable<string>): void {
  const named = [...tenants.values()].flatMap(({ name: tenant, roles }) =>
    [...(roles ?? [])].flatMap(([role, { documents }]) =>
      [...(documents ?? [])].map((name) => ({ tenant, role, name })),
    ),
  );
  if (named.length === 0) return;
  const known = operationNamesIn(texts());
  const missing = named.find(({ name }) => !known.has(name));
  if (missing === undefined) return;
  const { tenant, role, name } = missing;
  const place = `the role ${JSON.stringify(role)} of ${JSON.stringify(tenant)}`;
  throw new ManifestError(
    `UPSTREAM_KEYS: expected ${name} in ${place} to be an operation of a listed document, but there is none`,
  );
}
