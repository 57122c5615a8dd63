import { endpointOf } from '../endpoints.ts';
import { nounNames, nouns } from '../nouns.ts';
import type { RestOperation } from '../operation-ids.ts';

/** The noun of event values. They have no rows, and they change more slowly than events. */
const values = 'values';

/** The nouns of `CACHE_TTL` and of metrics: those of the API's paths, and the values of events. */
export const cacheNouns: readonly string[] = [...nounNames.map((name) => nouns[name].path), values];

/**
 * The cache noun of an operation's answers. A path below a row or a collection counts as the noun of that row or collection.
 */
export function cacheNounOf({ id, surface }: RestOperation): string {
  return surface === values ? values : nouns[endpointOf(id).noun].path;
}
