import type { EventRowFragment } from '../generated/graphql.ts';
import { Moment } from '../Moment.tsx';

/** Events, one a row. */
export function EventTable({ events }: { readonly events: readonly EventRowFragment[] }) {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Event</th>
          <th scope="col">Person</th>
          <th scope="col">Time</th>
        </tr>
      </thead>
      <tbody>
        {events.map(({ id, event, distinctId, timestamp }) => (
          <tr key={id}>
            <td>{event || 'unnamed'}</td>
            <td>
              <code>{distinctId}</code>
            </td>
            <td>
              <Moment at={timestamp} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
