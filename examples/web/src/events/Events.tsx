import { useRef } from 'react';
import { PagedList } from '../lists/PagedList.tsx';
import { mostKept } from '../live/rows.ts';
import { useScrolledPast } from '../live/useScrolledPast.ts';
import { EventTable } from './EventTable.tsx';
import { LiveControls } from './LiveControls.tsx';
import { Notice } from './Notice.tsx';
import { useEvents } from './useEvents.ts';

/** The events of a project, newest first. New ones come by themselves. */
export function Events({ projectId }: { readonly projectId: string }) {
  const top = useRef<HTMLDivElement>(null);
  const isBelow = useScrolledPast(top);
  const events = useEvents(projectId, isBelow);
  const heading = useRef<HTMLHeadingElement>(null);
  const show = (): void => {
    events.live.show();
    // The button that had the focus goes away.
    heading.current?.focus({ preventScroll: true });
    top.current?.scrollIntoView({ behavior: prefersStillness() ? 'auto' : 'smooth' });
  };
  return (
    <section aria-labelledby="events">
      <div ref={top} />
      <div className="live-heading" data-floating={isBelow}>
        <h2 id="events" ref={heading} tabIndex={-1}>
          Latest events
        </h2>
        <LiveControls events={events} onShow={show} />
      </div>
      {events.live.hasGap && (
        <Notice text="Some events were not shown: too many came at once." onReload={events.reload} />
      )}
      <PagedList
        what="events"
        pages={events.pages}
        nodes={events.rows}
        goesOn={!events.isFull}
        whenEmpty="This project has captured no events yet."
      >
        {(rows) => <EventTable events={rows} />}
      </PagedList>
      {events.isFull && (
        <Notice text={`Only the newest ${mostKept} events are kept on this page.`} onReload={events.reload} />
      )}
    </section>
  );
}

function prefersStillness(): boolean {
  return window.matchMedia('(prefers-reduced-motion: reduce)').matches;
}
