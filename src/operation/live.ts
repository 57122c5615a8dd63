import { slownessBy } from '../live/slowness.ts';
import { type StreamLimits, Streams } from '../live/streams.ts';
import { Tails } from '../live/tails.ts';
import type { CallBudget } from '../rest/budget/call-budget.ts';
import { createSubscribe, type Subscribe, type SubscriptionsOptions } from './subscriptions.ts';

/** Settings of subscriptions. */
export interface LiveSettings extends StreamLimits {
  /** Time between two polls, in milliseconds. */
  readonly pollMs: number;
  /** Memory for messages that wait for slow clients, in bytes; by default that of `WaitingRoom`. */
  readonly waitingBytes?: number;
  /** How many times slower than that a key is polled; by default its budget says it (see `PaceOptions`). */
  readonly slownessOf?: ((sharingKey: string) => number) | undefined;
}

/** Subscriptions of one process. */
export interface Live {
  readonly streams: Streams;
  readonly tails: Tails;
  readonly subscribe: Subscribe;
}

/** What subscriptions are made of, beside their settings. */
interface LiveParts extends Omit<SubscriptionsOptions, 'streams' | 'tails'> {
  /** The most rows that one REST call asks for. */
  readonly maxPageSize: number;
  /** The budget of REST calls, if there is one. */
  readonly callBudget: CallBudget | undefined;
}

/** Makes the subscriptions of one process. */
export function createLive(settings: LiveSettings, parts: LiveParts): Live {
  const { createContext, maxPageSize, operationDeadlineMs: deadlineMs, callBudget } = parts;
  const streams = new Streams(settings);
  const tails = new Tails({
    pollMs: settings.pollMs,
    waitingBytes: settings.waitingBytes,
    slownessOf: settings.slownessOf ?? (callBudget && slownessBy(callBudget)),
    maxPageSize,
    deadlineMs,
    restFor: (caller, deadline, calls) => createContext({ caller, trace: {}, spans: undefined }, deadline, calls).rest,
  });
  return { streams, tails, subscribe: createSubscribe({ ...parts, streams, tails }) };
}
