import { type BackoffOf, backoffBy } from '../live/pace.ts';
import { type StreamLimits, Streams } from '../live/streams.ts';
import { Tails } from '../live/tails.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import { MemoryRoom } from '../memory.ts';
import type { CallBudget } from '../rest/budget/call-budget.ts';
import type { Caller } from '../rest/caller.ts';
import type { OperationEpoch } from '../rest/epochs.ts';
import type { CreateContext } from './contexts.ts';
import {
  type CreateStreamContext,
  createSubscribe,
  type Subscribe,
  type SubscriptionsOptions,
} from './subscriptions.ts';

/** Settings of subscriptions. */
export interface LiveSettings extends StreamLimits {
  /** Time between two polls, in milliseconds. */
  readonly pollMs: number;
  /** Memory for messages that wait for slow clients, in bytes; by default 96 MiB. */
  readonly waitingBytes?: number;
  /** The polling backoff of each key; by default the backoff of the budget of REST calls. */
  readonly backoffOf?: BackoffOf | undefined;
}

/** Subscriptions of one process. */
export interface Live {
  readonly streams: Streams;
  readonly tails: Tails;
  readonly subscribe: Subscribe;
}

interface LiveParts extends Omit<SubscriptionsOptions, 'streams' | 'tails' | 'createContext'> {
  readonly createContext: CreateContext;
  /**
   * Returns the epoch for the reads of a caller's stream, which get no kept answers; undefined if there are no epochs.
   */
  readonly epochOf: ((caller: Caller) => MaybePromise<OperationEpoch>) | undefined;
  readonly maxPageSize: number;
  readonly memory: MemoryRoom;
  readonly callBudget: CallBudget | undefined;
}

const waitingBytes = 96 * 2 ** 20;

/** Makes the subscriptions of one process. */
export function createLive(settings: LiveSettings, parts: LiveParts): Live {
  const { maxPageSize, operationDeadlineMs: deadlineMs, callBudget, epochOf } = parts;
  const createContext: CreateStreamContext = async (request, deadline, calls) => {
    const epoch = request.caller && (await epochOf?.(request.caller));
    return parts.createContext(request, deadline, calls, epoch);
  };
  const streams = new Streams(settings);
  const tails = new Tails({
    pollMs: settings.pollMs,
    room: new MemoryRoom(settings.waitingBytes ?? waitingBytes, { within: parts.memory }),
    backoffOf: settings.backoffOf ?? (callBudget && backoffBy(callBudget)),
    maxPageSize,
    deadlineMs,
    restFor: async (caller, deadline, calls) =>
      (await createContext({ caller, trace: {}, spans: undefined }, deadline, calls)).rest,
  });
  return { streams, tails, subscribe: createSubscribe({ ...parts, createContext, streams, tails }) };
}
