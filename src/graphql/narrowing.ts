import { current } from '../rest/paths.ts';
import type { Reach, Tenant } from '../rest/tenants.ts';
import { UserInputError } from './input-error.ts';

/**
 * The error of an action that a tenant may not perform (`FORBIDDEN`), found before any REST call. The message names the
 * action, and does not disclose what exists.
 */
export class ForbiddenError extends Error {
  override readonly name = 'ForbiddenError';
  readonly code = 'FORBIDDEN';
}

/**
 * The reach of a mutation of a tenant; undefined if the mutation reaches all that the key sees, as it does without a
 * tenant. Throws a ForbiddenError if the tenant may not run the mutation.
 */
export function mutationReach(tenant: Tenant | undefined, name: string): Reach | undefined {
  if (tenant === undefined || tenant.mutations.has(name)) return tenant?.mutations.get(name);
  throw new ForbiddenError(`The caller is not allowed to run \`${name}\`.`);
}

/** The refusal of an object that is out of reach, or that does not exist: a tenant cannot tell them apart. */
export function outside(): ForbiddenError {
  return new ForbiddenError('The caller may not reach what the mutation is about.');
}

/** Refuses `@current` for a narrowed tenant, because only the user of the key knows what it stands for. */
export function refuseCurrent(reach: Reach | undefined, id: string | null | undefined, argument: string): void {
  if (reach === undefined || id !== current) return;
  throw new UserInputError(`Expected \`${argument}\` to be an id, but got ${current}, which this tenant may not use.`);
}

/** Refuses, for a narrowed tenant, what might name an object of another project: only the upstream could tell. */
export function refuseUnknownOwner(reach: Reach | undefined, name: string, expected: string): void {
  if (reach !== undefined) throw new ForbiddenError(`The tenant may not use \`${name}\` here${expected}.`);
}
