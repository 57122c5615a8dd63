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

/** How many calls, by surface. */
export type Counts = Readonly<Partial<Record<Surface, number>>>;

/** Calls of one operation with one key that begin together, or not at all. */
export interface Want {
  readonly key: string;
  /** The user of a tenant that they are for, if users have a share each; else empty. */
  readonly subject: string;
  /** True if they leave the last fifth of each window to others. */
  readonly isBackground: boolean;
  /** True if wants behind this one leave it its calls if it cannot begin yet. */
  readonly holds: boolean;
  readonly counts: Counts;
}

/** The decision on a want. */
export type Verdict =
  // All of its calls begin. `left`: by surface, the least share of a window that is left then, from 0 to 1.
  | { readonly kind: 'begin'; readonly calls: readonly AccountCall[]; readonly left: Counts }
  // All of them may begin in so many milliseconds, if those in flight end soon; infinite: never. It is this surface that lacks calls.
  | { readonly kind: 'wait'; readonly turnMs: number; readonly surface: Surface };

/** One window of an account, as clients see it. */
export interface WindowStatus {
  readonly ms: number;
  readonly limit: number;
  /** Calls that may begin now. */
  readonly remaining: number;
  /** Milliseconds until all of `limit` may begin, if none does before. */
  readonly resetsInMs: number;
}

/** An account as one user of it sees it. */
export interface Question {
  readonly account: Account;
  readonly subject: string;
}

/** The windows of an account, shortest first. */
export type Outlook = readonly WindowStatus[];

/** How a call ended. */
export interface End extends AccountCall {
  /** True if the upstream has answered as it does only to a key that it knows. */
  readonly provesKey: boolean;
}

/** Where calls are counted. What is counted by another process comes as a promise. Never fails. */
export interface Ledger {
  /** Lets calls begin, in the order of the wants. */
  readonly reserve: (wants: readonly Want[]) => Promise<readonly Verdict[]> | readonly Verdict[];
  /** Calls have ended. */
  readonly end: (ends: readonly End[]) => void;
  /** A call that was let begin is not made after all. */
  readonly drop: (account: Account, call: CountedCall) => void;
  /** What is known, in the order of the questions. */
  readonly look: (questions: readonly Question[]) => Promise<readonly Outlook[]> | readonly Outlook[];
}
