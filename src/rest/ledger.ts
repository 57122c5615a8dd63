import type { MaybePromise } from '../maybe-promise.ts';
import type { Caller } from './caller.ts';
import type { Surface } from './rest-operations.ts';

/** The key and the user whose limits a call counts against. */
export interface Account {
  /** A sharing key; empty if all keys are limited together. */
  readonly key: string;
  /** The user of a tenant, or `agents` for all agents together; empty if there is neither. */
  readonly subject: string;
}

/** The account that the calls of a caller count against. */
export function accountOf({ sharingKey: key, subject: user = '', budgetSubject: subject = user }: Caller): Account {
  return { key, subject };
}

/** A call that a ledger counts. */
export interface LedgerCall extends Account {
  /** Unique among the calls of all gateways. */
  readonly id: string;
  readonly surface: Surface;
}

/** A request to begin several calls of one operation with one key. They begin together, or not at all. */
export interface Want extends Account {
  /** True if the calls leave the last fifth of each window to others. */
  readonly isBackground: boolean;
  /** True if places in the windows are held for this want, so that later wants do not take them. */
  readonly holdsPlaces: boolean;
  /** The ids of its calls, by surface. */
  readonly bySurface: readonly { readonly surface: Surface; readonly ids: readonly string[] }[];
}

/** The decision on a want. */
export type WantDecision =
  // All calls of the want have begun.
  | { readonly kind: 'begin' }
  // The calls may begin in `turnMs` milliseconds if the calls in flight end soon. They wait because too few calls are
  // left on `surface`.
  | { readonly kind: 'wait'; readonly turnMs: number; readonly surface: Surface };

/** The state of one window, as clients see it. */
export interface WindowStatus {
  readonly ms: number;
  readonly limit: number;
  /** The number of calls that may begin now. */
  readonly remaining: number;
  /** Milliseconds until `limit` calls may begin, if no call begins until then. */
  readonly resetsInMs: number;
}

/** The windows of a surface, shortest first. */
export type Outlook = readonly WindowStatus[];

/**
 * The outlooks of an account, by surface. The first outlook is for all calls of the key. The second one is for the
 * calls of the subject, if it has a share of the budget.
 */
export type LogOutlooks = ReadonlyMap<Surface, readonly Outlook[]>;

/** The end of a call. */
export type CallEnd =
  // It was reserved, but not sent after all. It no longer counts.
  | 'not sent'
  | 'ended'
  // Its answer shows that the upstream knows the key.
  | 'proves key';

/** The way in which calls are counted, for metrics. */
export interface CountingState {
  /** `redis`: Redis decides for all gateways. `local`: this gateway decides for its part of the budget. */
  readonly mode: 'redis' | 'local';
  /** The number of calls that Redis had lost, and this gateway has added again. */
  readonly lostCalls: number;
}

/** Counts calls, and decides when they may begin. No method throws or rejects. */
export interface Ledger {
  /** Reserves calls for wants, in their order. A missing decision means that the ledger could not be asked. */
  readonly reserve: (wants: readonly Want[]) => MaybePromise<readonly WantDecision[]>;
  readonly end: (call: LedgerCall, end: CallEnd) => void;
  /** The windows of an account on these surfaces. */
  readonly look: (account: Account, surfaces: readonly Surface[]) => MaybePromise<LogOutlooks>;
  /** Undefined if this process does not itself count in a Redis. */
  readonly counting?: () => CountingState;
  readonly close?: () => void;
}
