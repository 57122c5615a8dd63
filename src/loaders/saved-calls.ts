/** A page that was read, and whether its call is counted as the cost of one of the fields that it answers. */
export interface ChargedPage {
  /** True if it was read for a count alone. */
  readonly isForCount: boolean;
  isCharged: boolean;
}

/** Counters of the REST calls that loaders saved, by the reason. They never count more calls than would have been made. */
export class SavedCalls {
  /** Windows of a list that were answered from a page that another window was read with. */
  windows = 0;
  /** Counts of a list that were answered from a page of its rows, or from an earlier count. */
  totals = 0;
  /** Rows by key that the operation had already read or was already reading. */
  knownRows = 0;
  /** Rows by key that a page of their list answered, because only columns that lists have were wanted. */
  views = 0;

  /** Notes that `waiting` fields get a window or a count from a page. All but the one that pays for it saved a call. */
  share(kind: 'windows' | 'totals', waiting: number, page: ChargedPage): void {
    const pays = !page.isCharged && page.isForCount === (kind === 'totals');
    if (pays) page.isCharged = true;
    this[kind] += pays ? waiting - 1 : waiting;
  }
}
