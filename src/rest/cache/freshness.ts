import { operations } from '../generated/views.ts';
import { nounNames, nouns } from '../nouns.ts';
import type { Reuse } from '../read-your-writes.ts';
import type { RestOperation } from '../rest-operations.ts';

/** The noun of event values. They have no rows, and they change more slowly than events. */
const values = 'values';

/** The names in `CACHE_TTL` and metrics: the path segment of each noun, and `values` for the values of events. */
export const cacheNouns: readonly string[] = [...nounNames.map((name) => nouns[name].path), values];

/** The milliseconds for which the answers of one REST operation are used. */
export interface Freshness {
  readonly noun: string;
  readonly freshMs: number;
  /** The time until an answer is too old to be given even stale. */
  readonly usableMs: number;
}

/** The freshness of each REST operation whose answers are kept, from times in seconds. */
export function freshnessByOperation(
  ttls: Readonly<Record<string, number>>,
  staleSeconds: number,
): ReadonlyMap<RestOperation, Freshness> {
  const freshness = new Map<RestOperation, Freshness>();
  for (const endpoint of Object.values<RestOperation>(operations)) {
    const noun = nounOf(endpoint);
    const seconds = Object.hasOwn(ttls, noun) ? ttls[noun] : undefined;
    if (seconds === undefined) continue;
    freshness.set(endpoint, { noun, freshMs: seconds * 1000, usableMs: (seconds + staleSeconds) * 1000 });
  }
  return freshness;
}

/** The noun of an operation's answers. Paths below a row or a collection have the noun of that row or collection. */
function nounOf({ noun, surface }: RestOperation): string {
  return surface === values ? values : nouns[noun].path;
}

/** The reuse that the `Cache-Control` of a request asks for (RFC 9111 §5.2.1). Other directives are ignored. */
export function reuseOf(cacheControl: string | undefined): Reuse {
  if (cacheControl === undefined) return 'normal';
  const directives = directivesOf(cacheControl);
  if (directives.includes('no-store')) return 'none';
  return directives.includes('no-cache') ? 'reload' : 'normal';
}

/** True if the `Cache-Control` of an answer forbids keeping it (RFC 9111 §5.2.2.5). */
export function forbidsKeeping(cacheControl: string | undefined): boolean {
  return cacheControl !== undefined && directivesOf(cacheControl).includes('no-store');
}

function directivesOf(cacheControl: string): readonly string[] {
  return cacheControl
    .toLowerCase()
    .split(',')
    .map((directive) => directive.trim());
}
