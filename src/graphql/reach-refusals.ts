import { current } from '../rest/paths.ts';
import type { Reach, Rights } from '../rest/reach.ts';
import { UserInputError } from './input-error.ts';

/** An action that the caller may not perform. The message does not disclose what exists. */
export class ForbiddenError extends Error {
  override readonly name = 'ForbiddenError';
  readonly code = 'FORBIDDEN';
}

/** The reach of a mutation; undefined if only the API key limits it. Throws if the caller may not run the mutation. */
export function mutationReach(rights: Rights | undefined, name: string): Reach | undefined {
  if (rights === undefined || rights.mutations.has(name)) return rights?.mutations.get(name);
  throw new ForbiddenError(`The caller is not allowed to run \`${name}\`.`);
}

/** The error for an object that is out of reach, or that does not exist. A caller cannot tell the two apart. */
export function outOfReachError(): ForbiddenError {
  return new ForbiddenError('The caller may not reach what the mutation is about.');
}

/**
 * Refuses `@current` for a caller with limited reach. It stands for what the user of the API key has open, and that
 * user is not the caller.
 */
export function refuseCurrent(reach: Reach | undefined, id: string | null | undefined, argument: string): void {
  if (reach === undefined || id !== current) return;
  throw new UserInputError(`Expected \`${argument}\` to be an id, but got ${current}, which this tenant may not use.`);
}

/**
 * Refuses the input `name` for a caller with limited reach. It might name an object of another project, and only the
 * upstream could tell.
 */
export function refuseUnknownOwner(reach: Reach | undefined, name: string, expected: string): void {
  if (reach !== undefined) throw new ForbiddenError(`The tenant may not use \`${name}\` here${expected}.`);
}
