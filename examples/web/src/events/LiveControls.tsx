import { explain } from '../lists/Failure.tsx';
import { mostKept } from '../live/rows.ts';
import { Announcement } from './Announcement.tsx';
import type { Events } from './useEvents.ts';

interface LiveControlsProps {
  readonly events: Events;
  /** Shows the events that wait, and takes the reader to them. */
  readonly onShow: () => void;
}

/** Says whether the table is live, and lets readers pause it and show what has come meanwhile. */
export function LiveControls({ events: { live, waiting, isPaused, setIsPaused }, onShow }: LiveControlsProps) {
  const count = waiting >= mostKept ? `${mostKept} or more` : waiting;
  return (
    <div className="live">
      {waiting > 0 && (
        <button type="button" className="news" onClick={onShow}>
          {count} new {waiting === 1 ? 'event' : 'events'}
        </button>
      )}
      <output className="state" data-connection={live.connection} data-paused={isPaused}>
        {stateOf(live, isPaused)}
      </output>
      {live.connection !== 'ended' && (
        <button type="button" className="pause" data-paused={isPaused} onClick={() => setIsPaused(!isPaused)}>
          {isPaused ? 'Resume' : 'Pause'}
        </button>
      )}
      <Announcement told={live.told} />
    </div>
  );
}

function stateOf({ connection, failure }: Events['live'], isPaused: boolean): string {
  if (connection === 'connecting') return 'Connecting…';
  if (connection === 'lost') return 'Reconnecting…';
  if (connection === 'open') return isPaused ? 'Paused' : 'Live';
  // A gateway with `LIVE=off` has no subscriptions in its schema.
  if (failure?.code === 'GRAPHQL_VALIDATION_FAILED') return 'Live updates are off';
  return `Live updates have ended. ${explain(failure) ?? ''}`;
}
