import { Kind, parse } from 'graphql';
import type { Tenants } from '../../rest/tenants.ts';
import { ManifestError } from './manifest.ts';

/**
 * Throws a ManifestError if a role may run an operation that is in no document. `texts` are the texts of all listed
 * documents. They are parsed only if a role names an operation.
 */
export function checkRoleDocuments(tenants: Tenants, texts: () => Iterable<string>): void {
  const named = [...tenants.values()].flatMap(({ name: tenant, roles }) =>
    [...(roles ?? [])].flatMap(([role, { documents }]) =>
      [...(documents ?? [])].map((name) => ({ tenant, role, name })),
    ),
  );
  if (named.length === 0) return;
  const known = new Set([...texts()].flatMap(namesIn));
  const missing = named.find(({ name }) => !known.has(name));
  if (missing === undefined) return;
  const { tenant, role, name } = missing;
  const place = `the role ${JSON.stringify(role)} of ${JSON.stringify(tenant)}`;
  throw new ManifestError(
    `UPSTREAM_KEYS: expected ${name} in ${place} to be an operation of a listed document, but there is none`,
  );
}

/** The names of the operations in a document. A text that is not GraphQL has none. */
function namesIn(text: string): readonly string[] {
  try {
    const { definitions } = parse(text, { noLocation: true });
    return definitions.flatMap((one) => (one.kind === Kind.OPERATION_DEFINITION ? (one.name?.value ?? []) : []));
  } catch {
    return [];
  }
}
