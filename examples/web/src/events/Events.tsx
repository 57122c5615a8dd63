import { usePages } from '../gateway/usePages.ts';
import { EventsDocument } from '../generated/graphql.ts';
import { PagedList } from '../lists/PagedList.tsx';
import { EventTable } from './EventTable.tsx';

/** The events of a project, newest first. */
export function Events({ projectId }: { readonly projectId: string }) {
  const events = usePages(EventsDocument, { projectId }, ({ project }) => project?.events);
  return (
    <section aria-labelledby="events">
      <h2 id="events">Latest events</h2>
      <PagedList what="events" pages={events} whenEmpty="This project has captured no events yet.">
        {(nodes) => <EventTable events={nodes} />}
      </PagedList>
    </section>
  );
}
