import type { Surface } from '../operation-ids.ts';
import type { Outlook } from './ledger.ts';
import type { CountingState } from './redis-counts.ts';

/** A REST call that asks for its place in the budget. */
export interface Demand {
  /** Stands for the upstream key. */
  readonly key: string;
  readonly surface: Surface;
  /** Calls with one of these take turns with those of others. */
  readonly queueKey: string;
  /** The user of a tenant; empty without one. */
  readonly subject: string;
  /** How long it can wait, in milliseconds. */
  readonly waitMs: number;
  /** True if no client waits for it: it leaves the last fifth of each window to others, and does not wait itself. */
  readonly isBackground: boolean;
}

/** The end of a call that was sent. */
export type CallEnd =
  // Answered in a way in which the upstream answers only to a key that it knows.
  | 'proof'
  // Answered in another way, or failed without an answer.
  | 'failure'
  // Given up: the upstream may still count it, until no call can last any longer.
  | 'given up';

/** A call that may be sent. One of the two is called, once. */
export interface Permit {
  /** True if it had to wait for others to count no more. */
  readonly waited: boolean;
  /** The least share of a window of its surface that is left, from 0 to 1. */
  readonly left: number;
  readonly end: (how: CallEnd) => void;
  /** The call is not sent after all. */
  readonly giveBack: () => void;
}

/** A demand that is being decided. */
export interface Claim {
  /** Rejects with a Refusal if no call can be had in time, or if it has left. */
  readonly permit: Promise<Permit>;
  /** It waits no more. */
  readonly leave: () => void;
}

/** What can be called with one key, by one user: of each surface that was asked about and has a budget. */
export type Outlooks = ReadonlyMap<Surface, Outlook>;

/** The budget of REST calls, wherever they are counted. */
export interface CallBudget {
  /**
   * Asks for a call. All that ask in one turn of the event loop are decided together. Of these, calls with the same `operation`
   * begin together, or not at all.
   */
  readonly claim: (demand: Demand, operation: object) => Claim;
  /** The windows of surfaces, as they are now. */
  readonly look: (who: Pick<Demand, 'key' | 'subject'>, asked: readonly Surface[]) => Promise<Outlooks> | Outlooks;
  /** True if calls of a surface are counted at all. */
  readonly covers: (surface: Surface) => boolean;
  /** How calls are counted with a Redis; undefined if this process does not know. */
  readonly counting?: (() => CountingState) | undefined;
  readonly close: () => void;
}
