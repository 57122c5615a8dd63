const toTheMinute = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const toTheSecond = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
  second: '2-digit',
});

interface MomentProps {
  readonly at: string | null;
  /** True to show the second in place of the year. */
  readonly withSeconds?: boolean;
}

/** A moment in the reader's own time zone and language. */
export function Moment({ at, withSeconds = false }: MomentProps) {
  if (at === null) return <>unknown</>;
  return (
    <time dateTime={at} title={at}>
      {(withSeconds ? toTheSecond : toTheMinute).format(new Date(at))}
    </time>
  );
}
