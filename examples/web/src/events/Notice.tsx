/** Says what is missing of the table, with a button that reads it again. */
export function Notice({ text, onReload }: { readonly text: string; readonly onReload: () => void }) {
  return (
    <div className="notice">
      <output>{text}</output>
      <button type="button" onClick={onReload}>
        Reload the list
      </button>
    </div>
  );
}
