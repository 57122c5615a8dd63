import type { SavedCalls } from '../loaders/saved-calls.ts';
import type { AnswerCache } from '../rest/cache/answer-cache.ts';
import { ageBounds } from '../rest/cache/cache-counts.ts';
import type { UpstreamHealth } from '../rest/resilience/upstream-resources.ts';
import type { Instruments } from './instruments.ts';

/** The sources of saved REST calls, with their counts. */
export interface Savers {
  readonly upstream: () => Pick<UpstreamHealth, 'sharedReads'>;
  readonly shared: { readonly savedCalls: number };
  readonly saved: SavedCalls;
  /** The cache of REST answers; undefined if nothing is cached. */
  readonly cache: AnswerCache | undefined;
}

/** Counts the REST calls that were saved, and measures what is kept to save them. */
export function measureSavedCalls(instruments: Instruments, { upstream, shared, saved, cache }: Savers): void {
  if (cache !== undefined) measureCache(instruments, cache);
  instruments.counter(
    'gateway_rest_calls_saved_total',
    'REST calls that were not made, at least, by what saved them.',
    ['by'],
    () => [
      [{ by: 'windows' }, saved.windows],
      [{ by: 'totals' }, saved.totals],
      [{ by: 'known_rows' }, saved.knownRows],
      [{ by: 'views' }, saved.views],
      [{ by: 'shared_reads' }, upstream().sharedReads],
      [{ by: 'shared_operations' }, shared.savedCalls],
      [{ by: 'cache' }, cache?.counts.answered ?? 0],
    ],
  );
}

/** Measures the use and the memory of the cache of REST answers. */
function measureCache(instruments: Instruments, cache: AnswerCache): void {
  instruments.counter(
    'gateway_cache_reads_total',
    'Reads whose answers are cached, by noun and by what became of them.',
    ['noun', 'result'],
    () =>
      [...cache.counts.all].flatMap(([noun, results]) =>
        Object.entries(results).map(([result, count]): [Record<'noun' | 'result', string>, number] => [
          { noun, result },
          count,
        ]),
      ),
  );
  instruments.histogram(
    'gateway_cache_answer_age_seconds',
    'Time since the upstream had given an answer that the cache gave again.',
    undefined,
    ageBounds,
    () => new Map([['', cache.counts.ages]]),
  );
  instruments.total(
    'gateway_reused_operations_total',
    'Operations answered with what an equal one was answered with, made of cached answers that are all in time.',
    () => cache.whole.reused,
  );
  instruments.gauge('gateway_cache_bytes', 'Memory that cached answers take, estimated.', () => cache.bytes);
}
