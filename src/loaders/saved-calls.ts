/** Counters of the REST calls that loaders saved, by the reason. They never count more calls than would have been made. */
export class SavedCalls {
  /** Windows of a list that were answered from a page that another window was read with. */
  windows = 0;
  /** Counts of a list that were answered from a page of its rows, or from an earlier count. */
  totals = 0;
  /** Rows by key that the operation had already read or was already reading. */
  knownRows = 0;
  /**
   * The number of rows that a page of their list answered. Otherwise each would have cost a call for its detail view.
   */
  views = 0;
}
