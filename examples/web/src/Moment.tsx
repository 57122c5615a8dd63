const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** A moment in the reader's own time zone and language. */
export function Moment({ at }: { readonly at: string | null }) {
  if (at === null) return <>unknown</>;
  return (
    <time dateTime={at} title={at}>
      {format.format(new Date(at))}
    </time>
  );
}
