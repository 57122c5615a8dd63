import type { Surface } from '../operation-ids.ts';

/** Whose budget a call counts against. */
export interface Account {
  /** Stands for the upstream key; the same for all if they share one budget. */
  readonly key: string;
  readonly surface: Surface;
}

/** A call that counts. All logs that count it hold the same object. */
export interface CountedCall {
  /** Unlike that of any other call of any gateway. */
  readonly id: string;
  /** The user of a tenant that it is for; empty without one. */
  readonly subject: string;
  /** In milliseconds, as `endedAt`. */
  readonly beganAt: number;
  /** Infinite while it is in flight. */
  endedAt: number;
}

/** A call that counts, and whose it is. */
export interface AccountCall {
  readonly account: Account;
  readonly call: CountedCall;
}

/** A call that wants to begin. */
export interface WantedCall {
  /** The user of a tenant that it is for, if users have a share each; else empty. */
  readonly subject: string;
  /** Whether it leaves the last fifth of each window to others. */
  readonly isBackground: boolean;
}

/** Calls of one account that want to begin now, in the order of their turns. */
export interface Want {
  readonly account: Account;
  readonly calls: readonly WantedCall[];
}

/** What becomes of a call that wants to begin. */
export type Verdict =
  | { readonly kind: 'begin'; readonly call: CountedCall }
  // It may begin in so many milliseconds, if those in flight end soon; infinite: never.
  | { readonly kind: 'wait'; readonly turnMs: number }
  // The key has to prove itself first: an answer of a call in flight decides.
  | { readonly kind: 'prove' };

/** One window of an account, as clients see it. */
export interface WindowStatus {
  readonly ms: number;
  readonly limit: number;
  /** Calls that may begin now. */
  readonly remaining: number;
  /** Milliseconds until all of `limit` may begin, if none does before. */
  readonly resetsInMs: number;
}

/** What is to be known of an account. */
export interface Question {
  readonly account: Account;
  readonly subject: string;
  /** How many calls are to begin. */
  readonly count: number;
}

/** What is known of an account. */
export interface Outlook {
  /** Shortest first. */
  readonly windows: readonly WindowStatus[];
  /** Milliseconds until the last of the calls that were asked about can begin at the earliest; infinite: never. */
  readonly turnMs: number;
}

/** How a call ended. */
export interface End extends AccountCall {
  /** Whether the upstream answered with a success: then it knows the key. */
  readonly isSuccess: boolean;
}

/** Where calls are counted. What is counted by another process comes as a promise. Never fails. */
export interface Ledger {
  /** Lets calls of a wave begin: a verdict for each call of each want. */
  readonly reserve: (
    wants: readonly Want[],
  ) => Promise<readonly (readonly Verdict[])[]> | readonly (readonly Verdict[])[];
  /** Calls have ended. */
  readonly end: (ends: readonly End[]) => void;
  /** A call that was let begin is not made after all. */
  readonly drop: (account: Account, call: CountedCall) => void;
  /** What is known, in the order of the questions. */
  readonly look: (questions: readonly Question[]) => Promise<readonly Outlook[]> | readonly Outlook[];
}
