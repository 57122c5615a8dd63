import { gql, type TypedDocumentNode } from '@apollo/client';
import { useApolloClient } from '@apollo/client/react';
import { useEffect, useState } from 'react';
import { defer, repeat } from 'rxjs';

interface Event {
  readonly id: string;
  readonly event: string | null;
}

interface Data {
  readonly eventsAdded: { readonly nodes: readonly Event[]; readonly cursor: string };
}

const eventsAdded: TypedDocumentNode<Data, { readonly projectId: string; readonly after: string | null }> = gql`
  subscription EventsAdded($projectId: ID!, $after: String) {
    eventsAdded(projectId: $projectId, after: $after) {
      nodes {
        id
        event
      }
      cursor
    }
  }
`;

/** Follows the new events of a project. A connection that is lost is made again, and goes on behind the last message. */
export function LatestEvents({ projectId }: { readonly projectId: string }) {
  const client = useApolloClient();
  const [events, setEvents] = useState<readonly Event[]>([]);
  useEffect(() => {
    let after: string | null = null;
    const connect = () => client.subscribe({ query: eventsAdded, variables: { projectId, after } });
    const following = defer(connect)
      .pipe(repeat({ delay: 2000 }))
      .subscribe(({ data }) => {
        if (data === undefined) return;
        const { nodes, cursor } = data.eventsAdded;
        after = cursor;
        setEvents((known) => [...nodes.toReversed(), ...known].slice(0, 5));
      });
    return () => following.unsubscribe();
  }, [client, projectId]);
  return (
    <ol aria-label="Latest events">
      {events.map(({ id, event }) => (
        <li key={id}>{event}</li>
      ))}
    </ol>
  );
}
