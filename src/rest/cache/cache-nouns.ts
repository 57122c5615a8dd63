import { endpointOf } from '../endpoints.ts';
import { nounNames, nouns } from '../nouns.ts';
import type { RestOperation } from '../operation-ids.ts';

/** What the values of events are called: they are no rows of a noun, and change more slowly than events. */
const values = 'values';

/** What REST answers are told apart by in `CACHE_TTL` and in metrics, as the paths of the API name it. */
export const cacheNouns: readonly string[] = [...nounNames.map((name) => nouns[name].path), values];

/** Which of them the answers of a REST operation are. What lies below a row or a collection counts as its noun. */
export function cacheNounOf({ id, surface }: RestOperation): string {
  return surface === values ? values : nouns[endpointOf(id).noun].path;
}
