import { gql, type TypedDocumentNode } from '@apollo/client';
import { useApolloClient } from '@apollo/client/react';
import { useEffect, useState } from 'react';
import { defer, repeat } from 'rxjs';

interface Event {
  readonly id: string;
  readonly event: string | null;
}

interface Data {
  readonly eventsAdded: { readonly nodes: readonly Event[]; readonly cursor: string; readonly gap: boolean };
}

const eventsAdded: TypedDocumentNode<Data, { readonly projectId: string; readonly after: string | null }> = gql`
  subscription EventsAdded($projectId: ID!, $after: String) {
    eventsAdded(projectId: $projectId, after: $after) {
      nodes {
        id
        event
      }
      cursor
      gap
    }
  }
`;

/** Follows the new events of a project. A connection that is lost is made again, and goes on behind the last message. */
export function LatestEvents({ projectId }: { readonly projectId: string }) {
  const client = useApolloClient();
  const [events, setEvents] = useState<readonly Event[]>([]);
  const [hasGap, setHasGap] = useState(false);
  useEffect(() => {
    let after: string | null = null;
    const connect = () => client.subscribe({ query: eventsAdded, variables: { projectId, after } });
    const following = defer(connect)
      .pipe(repeat({ delay: 2000 }))
      .subscribe(({ data }) => {
        if (data === undefined) return;
        const { nodes, cursor, gap } = data.eventsAdded;
        after = cursor;
        if (gap) setHasGap(true);
        setEvents((known) => [...nodes.filter(isNotIn(known)).toReversed(), ...known].slice(0, mostKnown));
      });
    return () => following.unsubscribe();
  }, [client, projectId]);
  return (
    <>
      {hasGap && <output>Some events are missing. Load the page again to see them.</output>}
      <ol aria-label="Latest events">
        {events.slice(0, 5).map(({ id, event }) => (
          <li key={id}>{event}</li>
        ))}
      </ol>
    </>
  );
}

/** More events than are shown: events that were sent before a connection was lost may be sent again. */
const mostKnown = 1000;

function isNotIn(known: readonly Event[]): (event: Event) => boolean {
  const ids = new Set(known.map(({ id }) => id));
  return ({ id }) => !ids.has(id);
}
