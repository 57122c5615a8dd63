import type { MaybePromise } from '../maybe-promise.ts';
import type { Caller } from './caller.ts';
import type { Surface } from './rest-operations.ts';

/** The key and the user whose limits a call counts against. */
export interface Account {
  /** A sharing key; empty if all keys are limited together. */
  readonly key: string;
  /** A user, or `agents` for all agents together; empty if there is neither. */
  readonly subject: string;
}

/** The account that the calls of a caller count against. */
export function accountOf({ sharingKey: key, subject: user = '', chargedTo: subject = user }: Caller): Account {
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

/** A limit of calls: at most `limit` in any span of `ms` milliseconds. */
export interface WindowLimit {
  readonly limit: number;
  readonly ms: number;
}

/** The limits by surface, the shortest window first. A surface without limits is absent. */
export type SurfaceLimits = Readonly<Partial<Record<Surface, readonly WindowLimit[]>>>;

/** The state of one window, as clients see it. */
export interface WindowStatus extends WindowLimit {
  /** The number of calls that may begin now. */
  readonly remaining: number;
  /** Milliseconds until `limit` calls may begin, if no call begins until then. */
  readonly resetsInMs: number;
}

/** The windows of a surface, shortest first. */
export type Outlook = readonly WindowStatus[];

/**
 * The outlooks of an account, by surface. The first outlook is for all calls of the key. The second one is for the
 * calls of the subject, if it has a share of its own.
 */
export type LogOutlooks = ReadonlyMap<Surface, readonly Outlook[]>;

/**
 * The windows that limit an account, by surface. If both its key and its subject have a window, the stricter one
 * counts.
 */
export type Outlooks = ReadonlyMap<Surface, Outlook>;

/** The limits of calls that a ledger counts. */
export interface CallLimits {
  /** True if calls of a surface are counted at all. */
  covers(surface: Surface): boolean;
  /** The window that never has room for this many calls of a subject; undefined if there is none. */
  tooSmallFor(calls: number, surface: Surface, subject: string): WindowLimit | undefined;
  /** Reads what is left of the windows of an account on these surfaces. */
  look(account: Account, surfaces: readonly Surface[]): Promise<Outlooks>;
}

/** The end of a call. */
export type CallEnd =
  // It was reserved, but not sent after all. It no longer counts.
  | 'not sent'
  | 'ended'
  // Its answer shows that the upstream knows the key.
  | 'proves key';

/** The way in which calls are counted, for metrics. */
export interface CountingState {
  /** `redis`: Redis decides for all gateways. `local`: this gateway decides for its part of the limits. */
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
