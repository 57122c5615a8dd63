import type { Surface } from '../operation-ids.ts';
import type { Account, Outlooks } from './ledger.ts';
import type { CountingState } from './redis-counts.ts';

/** A REST call that asks for a place in the budget. */
export interface Demand extends Account {
  readonly surface: Surface;
  /** The queue of the call. Calls of different queues take turns. */
  readonly queueKey: string;
  /** The longest that it can wait, in milliseconds. */
  readonly waitMs: number;
  /** True if no client waits for it: it leaves the last fifth of each window to others, and does not wait itself. */
  readonly isBackground: boolean;
}

/**
 * The permission to send one call. At most one of `end` and `giveBack` is called. A call that the gateway gives up gets
 * neither: it counts for the longest time that a call can last, because the upstream may still have it.
 */
export interface Permit {
  /** True if the call had to wait until older calls had left their windows. */
  readonly waited: boolean;
  /** The smallest share that is left in a window of its surface, from 0 to 1. */
  readonly left: number;
  /** The call has ended, with `proof` if the upstream answered as it does only to a key that it knows. */
  readonly end: (how: 'proof' | 'failure') => void;
  /** The call is not sent after all. */
  readonly giveBack: () => void;
}

/** A demand that awaits its decision. */
export interface Claim {
  /** Rejects with a Refusal if no call is available in time. It also rejects after the call has left. */
  readonly permit: Promise<Permit>;
  /** Removes the call from the queue. */
  readonly leave: () => void;
}

/** The budget of REST calls, counted in this process, in the first process or in Redis. */
export interface CallBudget {
  /**
   * Asks for a call. All calls that ask in one turn of the event loop are decided together. Those of the same `operation`
   * begin together, or not at all.
   */
  readonly claim: (demand: Demand, operation: object) => Claim;
  /** Reads the present state of the windows of surfaces. */
  readonly look: (account: Account, asked: readonly Surface[]) => Promise<Outlooks>;
  /** True if calls of a surface are counted at all. */
  readonly covers: (surface: Surface) => boolean;
  /** The present way of counting with a Redis; undefined if this process does not know. */
  readonly counting?: (() => CountingState) | undefined;
  readonly close: () => void;
}
