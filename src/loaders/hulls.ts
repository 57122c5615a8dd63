/** A stretch of a list by offset: rows `offset` to `offset + limit - 1`. */
export interface Hull {
  readonly offset: number;
  readonly limit: number;
}

/** A wanted stretch; one that only wants the count is content with any page, others may be with what one call gives. */
interface Wanted {
  readonly at: { readonly offset: number };
  readonly limit: number;
  readonly countOnly?: boolean;
  readonly onePage?: boolean;
}

/**
 * The fewest pages of at most `maximum` rows of which each wanted window lies whole in one. From the left, a page takes
 * in every window that still fits. Where only the count is wanted, one row is read.
 */
export function hullsOf(windows: readonly Wanted[], maximum: number): Hull[] {
  const [only] = windows;
  if (windows.length === 1 && only !== undefined && only.countOnly !== true)
    return [{ offset: only.at.offset, limit: only.limit }];
  const wanted = windows.filter(({ countOnly }) => countOnly !== true);
  if (wanted.length === 0) return windows.length === 0 ? [] : [{ offset: 0, limit: 1 }];
  const sorted = wanted.toSorted((a, b) => a.at.offset - b.at.offset || b.limit - a.limit);
  const hulls: { offset: number; limit: number }[] = [];
  for (const { at, limit } of sorted) {
    const hull = hulls.at(-1);
    const end = at.offset + limit;
    if (hull !== undefined && end <= hull.offset + maximum) hull.limit = Math.max(hull.limit, end - hull.offset);
    else hulls.push({ offset: at.offset, limit });
  }
  return hulls;
}

/** How many rows of a hull its windows want in full, one call or many. */
export function filledOf({ offset, limit }: Hull, windows: readonly Wanted[]): number {
  let filled = 0;
  for (const { at, limit: rows, countOnly, onePage } of windows) {
    const end = at.offset + rows - offset;
    const isWithin = at.offset >= offset && end <= limit;
    if (isWithin && countOnly !== true && onePage !== true) filled = Math.max(filled, end);
  }
  return filled;
}
