import type { MaybePromise } from '../../maybe-promise.ts';
import type { Surface } from '../operation-ids.ts';

/** The account that a call counts against. */
export interface Account {
  /** The sharing key of the upstream key. It is the same for all keys if they have one budget. */
  readonly key: string;
  readonly surface: Surface;
}

/** A call that counts. All logs that count it share this object. */
export interface CountedCall {
  /** Unique among the calls of all gateways. */
  readonly id: string;
  /** The user of a tenant who makes the call; empty without one. */
  readonly subject: string;
  /** In milliseconds, as is `endedAt`. */
  readonly beganAt: number;
  /** Infinite while it is in flight. */
  endedAt: number;
}

/** A call that counts, with its account. */
export interface AccountCall {
  readonly account: Account;
  readonly call: CountedCall;
}

/** Numbers of calls, or shares of windows, by surface. */
export type Counts = Readonly<Partial<Record<Surface, number>>>;

/** Calls of one operation with one key that begin together, or not at all. */
export interface Want {
  readonly key: string;
  /** The user of a tenant who makes them, if users have a share each; otherwise empty. */
  readonly subject: string;
  /** True if they leave the last fifth of each window to others. */
  readonly isBackground: boolean;
  /** True if calls are held for this want until it begins: later wants must not use them. */
  readonly holds: boolean;
  readonly counts: Counts;
}

/** The decision on a want. */
export type WantDecision =
  // All of its calls begin. `left` is the least share of a window that is left then, from 0 to 1, by surface.
  | { readonly kind: 'begin'; readonly calls: readonly AccountCall[]; readonly left: Counts }
  // All of its calls may begin in `turnMs` milliseconds if the calls in flight end soon; infinite means never.
  // `surface` is the surface that lacks calls.
  | { readonly kind: 'wait'; readonly turnMs: number; readonly surface: Surface };

/** The decision on a want about which the ledger has sent no answer. */
export const never: WantDecision = { kind: 'wait', turnMs: Number.POSITIVE_INFINITY, surface: 'rest' };

/** One window of an account, as clients see it. */
export interface WindowStatus {
  readonly ms: number;
  readonly limit: number;
  /** Calls that may begin now. */
  readonly remaining: number;
  /** Milliseconds until `limit` calls may begin, if no call begins before. */
  readonly resetsInMs: number;
}

/** A question about an account as one user meets it. */
export interface Question {
  readonly account: Account;
  readonly subject: string;
}

/** The windows of an account, shortest first. */
export type Outlook = readonly WindowStatus[];

/** The end of a call. */
export interface End extends AccountCall {
  /** True if the upstream answered as it does only to a key that it knows. */
  readonly provesKey: boolean;
}

/** The place where calls are counted. An answer from another process comes as a promise. No method fails. */
export interface Ledger {
  /** Reserves calls for wants, in their order. */
  readonly reserve: (wants: readonly Want[]) => MaybePromise<readonly WantDecision[]>;
  /** Reports calls that have ended. */
  readonly end: (ends: readonly End[]) => void;
  /** Takes back a reserved call that is not sent. */
  readonly drop: (account: Account, call: CountedCall) => void;
  /** Reads the state of accounts, in the order of the questions. */
  readonly look: (questions: readonly Question[]) => MaybePromise<readonly Outlook[]>;
}
