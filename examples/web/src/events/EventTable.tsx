import { keyOf, type Row } from '../live/rows.ts';
import { Moment } from '../Moment.tsx';

/** Events, one a row. */
export function EventTable({ events }: { readonly events: readonly Row[] }) {
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
        {events.map((row) => (
          <tr key={keyOf(row)} className={row.isNew === true ? 'new' : undefined}>
            <td>{row.event || 'unnamed'}</td>
            <td>
              <code>{row.distinctId}</code>
            </td>
            <td>
              <Moment at={row.timestamp} withSeconds />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
