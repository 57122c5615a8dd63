import { EventLoopYield } from '../../src/event-loop-yield.ts';
import type { CacheOptions } from '../../src/rest/cache/answer-cache.ts';
import type { Caller } from '../../src/rest/caller.ts';
import type { RestClient } from '../../src/rest/client.ts';
import { UpstreamError } from '../../src/rest/errors.ts';
import { operations } from '../../src/rest/generated/views.ts';
import type { Reuse } from '../../src/rest/read-your-writes.ts';
import type { UpstreamOptions } from '../../src/rest/resilience/upstream-resources.ts';
import type { RestRun } from '../../src/rest/rest-run.ts';
import { createUpstream, type Upstream } from '../../src/rest/upstream.ts';
import { isObject } from '../../src/rest/values.ts';
import { cacheSettings } from './cache.ts';
import { runOf } from './runs.ts';

/** The REST side of a gateway that caches, without the GraphQL side. */
export function connectCached(
  url: string,
  { epochs, ...caching }: Partial<CacheOptions> & Pick<UpstreamOptions, 'epochs'> = {},
): Upstream {
  const bodyRoomLimits = { operation: 2 ** 20, process: 2 ** 27 };
  const options = { url, connections: 100, maxInFlight: 100, bodyRoomLimits };
  const log = (): undefined => undefined;
  return createUpstream(
    { ...options, epochs, eventLoop: new EventLoopYield(), log },
    { ...cacheSettings, refreshMs: 5000, ...caching },
  );
}

/** A caller who brings this key. */
export function callerWith(key: string): Caller {
  const sharingKey = `hash of ${key}`;
  return { key, sharingKey, queueKey: sharingKey };
}

/** One operation that has begun. */
export interface Operation extends RestClient, Pick<RestRun, 'deadline' | 'calls'> {}

/** Begins an operation. */
export async function begin(upstream: Upstream, caller: Caller, reuse: Reuse = 'normal'): Promise<Operation> {
  const run = runOf(caller, { epoch: await upstream.epochOf(caller, reuse) });
  const client = upstream.clientFor(run);
  return {
    deadline: run.deadline,
    calls: run.calls,
    read: (operation, target, format) => client.read(operation, target, format),
    write: (operation, target, body) => client.write(operation, target, body),
  };
}

/** The outcome of an operation's read of a project: the name, or the code of the failure. */
export function readName(operation: Operation, target: string): Promise<unknown> {
  return operation.read(operations.getProject, target).then(nameIn).catch(codeOf);
}

/** The name in a row. */
export function nameIn(row: unknown): unknown {
  return isObject(row) ? row['name'] : row;
}

/** The code of a failure; throws anything else. */
export function codeOf(error: unknown): string {
  if (error instanceof UpstreamError) return error.code;
  throw error;
}
