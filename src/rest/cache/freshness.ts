import { operations } from '../generated/views.ts';
import type { RestOperation } from '../operation-ids.ts';
import { cacheNounOf } from './cache-nouns.ts';

/** The times for which the answers of one REST operation are used, in milliseconds. */
export interface Freshness {
  readonly noun: string;
  readonly freshMs: number;
  readonly staleMs: number;
}

/** The freshness of each REST operation; `ttls` are in seconds by noun. Answers of nouns without one are not kept. */
export function freshnessByOperation(
  ttls: Readonly<Record<string, number>>,
  staleMs: number,
): ReadonlyMap<RestOperation, Freshness> {
  const freshness = new Map<RestOperation, Freshness>();
  for (const operation of Object.values<RestOperation>(operations)) {
    const noun = cacheNounOf(operation);
    const seconds = Object.hasOwn(ttls, noun) ? ttls[noun] : undefined;
    if (seconds !== undefined) freshness.set(operation, { noun, freshMs: seconds * 1000, staleMs });
  }
  return freshness;
}
