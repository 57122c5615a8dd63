import { views } from '../rest/generated/views.ts';
import { mapNouns, type Noun } from '../rest/nouns.ts';
import { type Collection, type Key, keyText } from '../rest/paths.ts';
import { idText, type Row } from '../rest/values.ts';

/** The view of a row: the columns of a list, or all columns. */
export type View = 'list' | 'detail';

/** A row that was read, with the view it was read in. */
export interface KnownRow {
  readonly row: Row;
  readonly view: View;
}

/** The view of the rows in lists of a noun. It is the detail view if lists give every column. */
export function listView(noun: Noun): View {
  return listViews[noun];
}

const listViews = mapNouns((noun): View => {
  const listed: readonly string[] = views[noun].list;
  return views[noun].detail.every((column) => listed.includes(column)) ? 'detail' : 'list';
});

/** True if a row of one view has the columns of another. */
export function suffices(has: View, need: View): boolean {
  return has === 'detail' || need === 'list';
}

/** The rows that one operation has read, indexed at the first search for a row. Most operations never search. */
export class RowStore {
  readonly #rows = new Map<string, KnownRow>();
  #learned: Learned[] = [];

  /** Keeps a row, unless a fuller view of it is known. */
  learn(key: Key, { row, view }: KnownRow): void {
    this.#learned.push({ collection: key, id: key.id, rows: [row], view });
  }

  learnPage(collection: Collection, rows: readonly Row[]): void {
    if (rows.length > 0) this.#learned.push({ collection, id: undefined, rows, view: listView(collection.noun) });
  }

  /** The row of a key if it is known in a view that suffices. */
  find(key: Key, need: View): KnownRow | undefined {
    this.#index();
    if (this.#rows.size === 0) return undefined;
    const known = this.#rows.get(keyText(key));
    return known !== undefined && suffices(known.view, need) ? known : undefined;
  }

  findIn(collection: Collection, test: (row: Row) => boolean): Row | undefined {
    this.#index();
    const prefix = keyText({ ...collection, id: '' });
    for (const [text, { row }] of this.#rows) if (text.startsWith(prefix) && test(row)) return row;
    return undefined;
  }

  #index(): void {
    for (const { collection, id: given, rows, view } of this.#learned) {
      for (const row of rows) {
        const id = given ?? idText(row['id']);
        if (id !== undefined) this.#keep(keyText({ ...collection, id }), { row, view });
      }
    }
    this.#learned = [];
  }

  #keep(text: string, known: KnownRow): void {
    const before = this.#rows.get(text);
    if (before === undefined || suffices(known.view, before.view)) this.#rows.set(text, known);
  }
}

interface Learned {
  readonly collection: Collection;
  /** The id by which a single row was read; undefined for the rows of a page. */
  readonly id: string | undefined;
  readonly rows: readonly Row[];
  readonly view: View;
}
