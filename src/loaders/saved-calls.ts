/** The numbers of REST calls that loaders saved, by reason. They never exceed the calls that would have been made. */
export class SavedCalls {
  /** The number of windows that were answered from a page that was read for another window. */
  windows = 0;
  /** The number of counts of lists that were answered from a page of rows, or from an earlier count. */
  totals = 0;
  /** The number of wanted rows that the operation had already read by key, or was already reading. */
  knownRows = 0;
  /**
   * The number of rows that a page of their list answered. Without the page, each would have cost a call for its detail
   * view.
   */
  views = 0;
}
