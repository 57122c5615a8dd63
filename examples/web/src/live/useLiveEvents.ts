import { useEffect, useLayoutEffect, useReducer, useRef } from 'react';
import { Follower } from './Follower.ts';
import { atFirst, type LiveState, nextState } from './liveState.ts';
import { watchPage } from './watchPage.ts';

/** The events of a project that come by themselves, and what can be done about them. */
export interface LiveEvents extends LiveState {
  /** Shows those that wait. */
  readonly show: () => void;
  /** Forgets all of them: the list is read again. */
  readonly clear: () => void;
}

/** Follows the events of a project while the component is there. While `isHeld`, new ones wait to be shown. */
export function useLiveEvents(projectId: string, isHeld: boolean): LiveEvents {
  const [state, dispatch] = useReducer(nextState, atFirst);
  const holds = useRef(isHeld);
  // With what is drawn, not after it: a message may come in between.
  useLayoutEffect(() => {
    holds.current = isHeld;
    // Events that have waited are shown now.
    if (!isHeld) dispatch({ kind: 'show' });
  }, [isHeld]);
  useEffect(() => {
    const follower = new Follower(projectId, (event) => dispatch({ kind: 'event', event, isHeld: holds.current }));
    return watchPage(
      () => follower.start(),
      () => follower.stop(),
    );
  }, [projectId]);
  return { ...state, show: () => dispatch({ kind: 'show' }), clear: () => dispatch({ kind: 'clear' }) };
}
