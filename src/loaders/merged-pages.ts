/** A range of a list by offset: rows `offset` to `offset + limit - 1`. */
export interface MergedPage {
  readonly offset: number;
  readonly limit: number;
}

/** A wanted range. A range that wants only the count can use any page. Some ranges can use the rows of a single call. */
interface Wanted {
  readonly at: { readonly offset: number };
  readonly limit: number;
  readonly countOnly?: boolean;
  readonly onePage?: boolean;
}

/**
 * The fewest pages of at most `maximum` rows, such that each wanted window lies within one page. From the start of the
 * list, each page takes in every next window that still fits. If only the count is wanted, one row is read.
 */
export function mergedPagesOf(windows: readonly Wanted[], maximum: number): MergedPage[] {
  const [only] = windows;
  if (windows.length === 1 && only !== undefined && only.countOnly !== true)
    return [{ offset: only.at.offset, limit: only.limit }];
  const wanted = windows.filter(({ countOnly }) => countOnly !== true);
  if (wanted.length === 0) return windows.length === 0 ? [] : [{ offset: 0, limit: 1 }];
  const sorted = wanted.toSorted((a, b) => a.at.offset - b.at.offset || b.limit - a.limit);
  const pages: { offset: number; limit: number }[] = [];
  for (const { at, limit } of sorted) {
    const page = pages.at(-1);
    const end = at.offset + limit;
    if (page !== undefined && end <= page.offset + maximum) page.limit = Math.max(page.limit, end - page.offset);
    else pages.push({ offset: at.offset, limit });
  }
  return pages;
}

/** The number of rows of a merged page that its windows require. It may take several calls to read them. */
export function requiredRowsOf({ offset, limit }: MergedPage, windows: readonly Wanted[]): number {
  let required = 0;
  for (const { at, limit: rows, countOnly, onePage } of windows) {
    const end = at.offset + rows - offset;
    const isWithin = at.offset >= offset && end <= limit;
    if (isWithin && countOnly !== true && onePage !== true) required = Math.max(required, end);
  }
  return required;
}
