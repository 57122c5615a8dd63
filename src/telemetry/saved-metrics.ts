import type { Registry } from 'prom-client';
import type { SavedCalls } from '../loaders/saved-calls.ts';
import { ageBounds } from '../rest/cache/cache-counts.ts';
import type { RestCache } from '../rest/cache/rest-cache.ts';
import type { UpstreamHealth } from '../rest/resilience/upstream-resources.ts';
import { counter, gauge, histogram } from './instruments.ts';

/** The parts that save REST calls and count the saved ones. */
export interface Savers {
  readonly upstream: () => Pick<UpstreamHealth, 'sharedReads'>;
  readonly shared: { readonly savedCalls: number };
  readonly saved: SavedCalls;
  /** Undefined if nothing is cached. */
  readonly cache: RestCache | undefined;
}

/** Counts the REST calls that were not made. */
export function measureSavedCalls(registers: Registry[], { upstream, shared, saved, cache }: Savers): void {
  counter(
    registers,
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
export function measureCache(registers: Registry[], { counts, answers, texts }: RestCache): void {
  counter(
    registers,
    'gateway_cache_reads_total',
    'Reads whose answers are cached, by noun and by what became of them.',
    ['noun', 'result'],
    () =>
      [...counts.all].flatMap(([noun, results]) =>
        Object.entries(results).map(([result, count]): [Record<'noun' | 'result', string>, number] => [
          { noun, result },
          count,
        ]),
      ),
  );
  histogram(
    registers,
    'gateway_cache_answer_age_seconds',
    'Time since the upstream had given an answer that the cache gave again.',
    undefined,
    ageBounds,
    () => new Map([['', counts.ages]]),
  );
  counter(
    registers,
    'gateway_reused_operations_total',
    'Operations answered with what an equal one was answered with, made of cached answers that are all in time.',
    [],
    () => [[{}, texts.reused]],
  );
  gauge(
    registers,
    'gateway_cache_bytes',
    'Memory that cached answers take, estimated.',
    () => answers.bytes + texts.bytes,
  );
}
