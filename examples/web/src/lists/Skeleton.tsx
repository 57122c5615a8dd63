/** Stands where rows are going to be. */
export function Skeleton({ what, rows }: { readonly what: string; readonly rows: number }) {
  return (
    <output className="skeleton">
      <span className="visually-hidden">Loading {what}…</span>
      {Array.from({ length: rows }, (_, index) => (
        <span key={index} className="bar" />
      ))}
    </output>
  );
}
