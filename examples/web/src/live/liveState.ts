import type { GatewayError } from '../gateway/GatewayError.ts';
import type { LiveEvent } from './Follower.ts';
import { joinRows, mostKept, type Row } from './rows.ts';

/** The events that come by themselves, and the state of their connection. */
export interface LiveState {
  readonly connection: 'connecting' | 'open' | 'lost' | 'ended';
  /** Why it has ended. */
  readonly failure: GatewayError | undefined;
  /** The number of times that the stream began without a cursor. After each, the list has to be read again. */
  readonly beginnings: number;
  /** The number of events that have come. */
  readonly told: number;
  /** Those that are shown, newest first. */
  readonly rows: readonly Row[];
  /** Those that wait to be shown, newest first. */
  readonly held: readonly Row[];
  /** True if events are missing between those that are shown. */
  readonly hasGap: boolean;
}

/** An action that changes the state. */
export type LiveAction =
  // `isHeld`: what is told has to wait.
  | { readonly kind: 'event'; readonly event: LiveEvent; readonly isHeld: boolean }
  | { readonly kind: 'show' }
  | { readonly kind: 'clear' };

/** Before anything has happened. */
export const atFirst: LiveState = {
  connection: 'connecting',
  failure: undefined,
  beginnings: 0,
  told: 0,
  rows: [],
  held: [],
  hasGap: false,
};

/** The state after an action. */
export function nextState(state: LiveState, action: LiveAction): LiveState {
  if (action.kind === 'show') return { ...state, rows: keep(state.held, state.rows), held: [] };
  if (action.kind === 'clear') return { ...state, rows: [], held: [], hasGap: false };
  const { event, isHeld } = action;
  if (event.kind === 'lost') return { ...state, connection: 'lost' };
  if (event.kind === 'ended') return { ...state, connection: 'ended', failure: event.failure };
  if (event.kind === 'told') return afterMessage(state, event, isHeld);
  return { ...state, connection: 'open', beginnings: state.beginnings + (event.isAnew ? 1 : 0) };
}

function afterMessage(
  state: LiveState,
  { events, hasGap }: Extract<LiveEvent, { readonly kind: 'told' }>,
  isHeld: boolean,
): LiveState {
  // They come oldest first.
  const rows = events.map((row) => ({ ...row, isNew: true })).toReversed();
  const next = { ...state, told: state.told + rows.length, hasGap: state.hasGap || hasGap };
  if (isHeld) return { ...next, held: keep(rows, state.held) };
  return { ...next, rows: keep(rows, state.held, state.rows), held: [] };
}

function keep(...lists: readonly (readonly Row[])[]): readonly Row[] {
  return joinRows(...lists).slice(0, mostKept);
}
