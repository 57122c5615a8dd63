import type { Reuse } from '../epochs.ts';
import { operations } from '../generated/views.ts';
import { nounNames, nouns } from '../nouns.ts';
import type { RestOperation } from '../rest-operations.ts';

/** The noun of event values. They have no rows, and they change more slowly than events. */
const values = 'values';

/**
 * The nouns as `CACHE_TTL` and metrics name them: by their segments of paths. The values of events are one more noun.
 */
export const cacheNouns: readonly string[] = [...nounNames.map((name) => nouns[name].path), values];

/** The times for which the answers of one REST operation are used, in milliseconds from their reading. */
export interface Freshness {
  readonly noun: string;
  readonly freshMs: number;
  /** Until they are too old to be given even stale. */
  readonly usableMs: number;
}

/**
 * The freshness of each REST operation; `ttls` are in seconds by noun. Answers without a TTL are not kept. The others are
 * stale for `staleSeconds` after that.
 */
export function freshnessByOperation(
  ttls: Readonly<Record<string, number>>,
  staleSeconds: number,
): ReadonlyMap<RestOperation, Freshness> {
  const freshness = new Map<RestOperation, Freshness>();
  for (const operation of Object.values<RestOperation>(operations)) {
    const noun = nounOf(operation);
    const seconds = Object.hasOwn(ttls, noun) ? ttls[noun] : undefined;
    if (seconds === undefined) continue;
    freshness.set(operation, { noun, freshMs: seconds * 1000, usableMs: (seconds + staleSeconds) * 1000 });
  }
  return freshness;
}

/**
 * The noun of an operation's answers. A path below a row or a collection counts as the noun of that row or collection.
 */
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
export function forbidsKeeping(cacheControl: string): boolean {
  return cacheControl !== '' && directivesOf(cacheControl).includes('no-store');
}

function directivesOf(cacheControl: string): readonly string[] {
  return cacheControl
    .toLowerCase()
    .split(',')
    .map((directive) => directive.trim());
}
