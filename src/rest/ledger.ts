import type { MaybePromise } from '../maybe-promise.ts';
import type { Caller } from './caller.ts';
import type { Surface } from './rest-operations.ts';

/** The key, and the user of the key, whose limits a call counts against. */
export interface Account {
  /** The sharing key of the upstream key; empty if all keys are limited together. */
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
  /** True if places in the windows are held for this want until it begins, so that later wants do not take them. */
  readonly holdsPlaces: boolean;
  /** The ids of its calls, by surface. */
  readonly bySurface: readonly { readonly surface: Surface; readonly ids: readonly string[] }[];
}

/** The decision on a want. */
export type WantDecision =
  // All calls of the want have begun.
  | { readonly kind: 'begin' }
  // The calls of the want may begin in `turnMs` milliseconds if the calls in flight end soon. `surface` is the surface
  // that lacks calls.
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
 * The outlooks of an account, by surface. The first one is about all calls of its key. The second one is about the
 * calls of its subject, if the subject has a share.
 */
export type LogOutlooks = ReadonlyMap<Surface, readonly Outlook[]>;

/** The end of a call. */
export type CallEnd =
  // It was reserved, but not sent after all. No log counts it any longer.
  | 'not sent'
  | 'ended'
  // Its answer shows that the upstream knows the key.
  | 'proves key';

/** The way in which calls are counted, for metrics. */
export interface CountingState {
  /** The ledger that decides. `redis`: Redis, for all gateways. `local`: this gateway, for its part of the budget. */
  readonly mode: 'redis' | 'local';
  /** The number of calls that Redis had counted and lost, and that this gateway has added again. */
  readonly lostCalls: number;
}

/**
 * Counts calls, and decides when they may begin. An answer from another process comes as a promise. No method throws or
 * rejects.
 */
export interface Ledger {
  /** Reserves calls for wants, in their order. A missing decision means that the ledger could not be asked. */
  readonly reserve: (wants: readonly Want[]) => MaybePromise<readonly WantDecision[]>;
  /** Reports the end of a reserved call. */
  readonly end: (call: LedgerCall, end: CallEnd) => void;
  /** Reads what is left of the windows of an account on these surfaces. */
  readonly look: (account: Account, surfaces: readonly Surface[]) => MaybePromise<LogOutlooks>;
  /** Tells the present way of counting. Undefined if this process does not itself count in a Redis. */
  readonly counting?: () => CountingState;
  readonly close?: () => void;
}
