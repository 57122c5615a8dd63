import type { GatewayContext } from '../context.ts';
import { foreign } from '../graphql/ids.ts';
import { type RowRecord, withIdScope } from '../graphql/records.ts';
import { toError } from '../rest/errors.ts';
import { ownerTypeOf } from '../rest/nouns.ts';
import { type Collection, current, type Key } from '../rest/paths.ts';
import type { Row } from '../rest/values.ts';

// Global ids name real projects and organizations. Objects below `@current` are read under that name, without waiting for
// its real id. The real id is read at the same time, and only if one of their global ids is selected.
// `plan/object-plans.ts` and `plan/connection-plans.ts` predict that read.

/**
 * Starts to read what `@current` stands for, for ids of objects of the collection. The rows of most plugins
 * name their organization.
 */
export function startIdScope({ noun, scope }: Collection, { loaders }: GatewayContext): void {
  if (scope !== current || noun === 'Plugin') return;
  loaders.fetchCurrentId('Project').catch(() => undefined);
}

/** The record of an object below `@current` with the scope for its id. `rows` are of its list, or just its own. */
export async function withRealScope(
  record: RowRecord,
  rows: readonly Row[],
  { loaders }: GatewayContext,
): Promise<RowRecord> {
  try {
    const isPlugin = record.noun === 'Plugin';
    const named = isPlugin ? rows.map(ownerIn).find((id) => id !== undefined) : undefined;
    return withIdScope(record, named ?? (await loaders.fetchCurrentId(isPlugin ? 'Organization' : 'Project')));
  } catch (error) {
    return withIdScope(record, toError(error));
  }
}

/** The organization whose list has a plugin's row. Only a global plugin may belong to another organization. */
function ownerIn({ organization_id: owner, is_global: isGlobal }: Row): string | undefined {
  return typeof owner === 'string' && isGlobal !== true ? owner.toLowerCase() : undefined;
}

/** Refuses an object, named by its global id, that is not of the project or organization that `@current` stands for. */
export async function confirmScope({ noun, scope }: Key, argument: string, { loaders }: GatewayContext): Promise<void> {
  const real = await loaders.fetchCurrentId(ownerTypeOf(noun) ?? 'Project');
  if (real !== scope) throw foreign(noun, argument);
}
