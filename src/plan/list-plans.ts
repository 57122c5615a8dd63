import { type MergedPage, mergedPagesOf } from '../loaders/merged-pages.ts';
import { rowOperations } from '../rest/rest-operations.ts';
import { after, isBefore, later, mayBeOne, type PlannedCollection, type Stage } from './objects.ts';
import type { PlanBuilder } from './plan-builder.ts';
import type { Condition } from './planned-calls.ts';

/** A window of a list that is wanted, for each owner that has such a list. */
export interface WantedWindow extends PlannedCollection {
  /**
   * Equal for windows that may share pages. It names their collection, their filter and the time that offsets count
   * from.
   */
  readonly list: string;
  readonly ownerCount: number;
  readonly offset: number;
  readonly limit: number;
  /** The number of rows of earlier pages that are read again, in addition to `limit`. */
  readonly overlap?: number;
  readonly countOnly?: boolean;
  /** True if any row of any window will do. */
  readonly anyRow?: boolean;
  readonly certain: boolean;
  readonly stage: Stage;
  readonly path: string;
  readonly when?: Condition | undefined;
  /** Called with the stage at which the answer is there. */
  readonly onArrival?: ((stage: Stage) => void) | undefined;
}

/** A page that will be read, and the windows that it answers. */
interface PlannedPage {
  readonly page: MergedPage;
  readonly windows: readonly WantedWindow[];
  /** The stage at which the page is requested. */
  readonly asked: Stage;
  readonly arrival: Stage;
}

/**
 * Plans the pages of lists. Windows that are wanted at the same stage share pages. Agrees with WindowLoader
 * (`loaders/window-loader.ts`): change both.
 */
export class ListPlans {
  readonly #builder: PlanBuilder;
  readonly #pages = new Map<string, PlannedPage[]>();
  /** The collections of which a page is read. `waves` is 2 if the end of a list may be read after its first page. */
  readonly #collections = new Map<string, PlannedCollection & { readonly waves: 1 | 2 }>();
  /** The lists of which a page of one row may be read, because any row will do. */
  readonly #anyRows = new Set<string>();
  #pending: WantedWindow[] = [];
  /** The last rows of lists. They are read if the first page, which begins at `offset`, does not have them. */
  #pendingEnds: WantedWindow[] = [];

  constructor(builder: PlanBuilder) {
    this.#builder = builder;
  }

  /** Adds a window. `waves` is 2 if the end of the list may be read after the window. */
  want(window: WantedWindow, waves: 1 | 2 = 1): void {
    const { noun, collection, isKnown, anyRow = false } = window;
    this.#pending.push(window);
    if (anyRow || (waves === 1 && this.isRead(collection))) return;
    this.#collections.set(collection, { noun, collection, isKnown, waves });
  }

  /** Adds the last rows of a list whose first page has arrived. */
  wantEnd(end: WantedWindow): void {
    this.#pendingEnds.push(end);
  }

  /**
   * The maximum number of waves that pass until all pages of a collection have arrived. Counts the pages of other
   * collections, too, if these may turn out to be the same collection.
   */
  wavesOf(wanted: PlannedCollection): number {
    let waves = 0;
    for (const read of this.#collections.values()) if (mayBeOne(read, wanted)) waves = Math.max(waves, read.waves);
    return waves;
  }

  /** True if a page of the collection is read. */
  isRead(collection: string): boolean {
    return this.#collections.has(collection);
  }

  /** Turns the wanted windows into calls. */
  settle(): void {
    this.#settleEnds();
    const pending = this.#pending;
    if (pending.length === 0) return;
    this.#pending = [];
    const windows = pending.filter(({ anyRow }) => anyRow !== true);
    for (const ofList of Map.groupBy(windows, ({ list }) => list).values()) {
      for (const [stage, together] of Map.groupBy(ofList, (window) => window.stage)) this.#readAll(stage, together);
    }
    for (const one of pending) if (one.anyRow === true) this.#readAnyRow(one);
  }

  #settleEnds(): void {
    const pending = this.#pendingEnds;
    this.#pendingEnds = [];
    for (const ends of Map.groupBy(pending, ({ list, stage }) => `${list} ${stage.wave}`).values()) {
      // One call reads all ends of a list that have the same first page. It reads as many last rows as the longest of
      // these ends has. The calls after two first pages may be sent at different times, so they are one call only if
      // they are equal: if both read the same number of rows.
      const pages = [...Map.groupBy(ends, ({ offset }) => offset).values()];
      for (const [limit, same] of Map.groupBy(pages, longestOf)) this.#readEnd(limit, same.flat());
    }
  }

  #readEnd(limit: number, ends: readonly WantedWindow[]): void {
    const [end] = ends;
    if (end === undefined) return;
    const ownerCount = Math.max(...ends.map((one) => one.ownerCount));
    const paths = ends.map(({ path }) => path);
    const { noun, stage } = end;
    const endpoint = rowOperations[noun].list;
    this.#builder.calls.add({
      endpoint,
      stage,
      lower: 0,
      upper: ownerCount,
      rows: ownerCount * limit,
      paths,
      when: 'long list',
    });
  }

  #readAll(stage: Stage, windows: readonly WantedWindow[]): void {
    const missing = windows.filter((window) => !this.#answer(window));
    const wanted = missing.map(({ offset, limit, countOnly = false }) => ({ at: { offset }, limit, countOnly }));
    const pages = mergedPagesOf(wanted, this.#builder.options.maxPageSize);
    for (const page of pages) {
      const isWithin = (one: WantedWindow): boolean =>
        one.countOnly === true ? page === pages[0] : contains(page, one);
      this.#read(page, stage, missing.filter(isWithin));
    }
  }

  #read(page: MergedPage, asked: Stage, windows: readonly WantedWindow[]): void {
    const [window] = windows;
    if (window === undefined) return;
    const certain = windows.some((one) => one.certain);
    const ownerCount = Math.max(...windows.map((one) => one.ownerCount));
    const arrival = after(asked);
    const overlap = Math.max(...windows.map((one) => one.overlap ?? 0));
    const { calls, schedule, options } = this.#builder;
    calls.add({
      endpoint: rowOperations[window.noun].list,
      stage: asked,
      lower: certain ? 1 : 0,
      upper: ownerCount,
      rows: ownerCount * Math.min(page.limit + overlap, options.maxPageSize),
      paths: windows.map(({ path }) => path),
      when: window.when,
    });
    const planned = this.#pages.get(window.list) ?? [];
    this.#pages.set(window.list, [...planned, { page, windows, asked, arrival }]);
    for (const { onArrival } of windows) schedule.at(arrival, onArrival);
  }

  /** Answers a window with a page that is certain to be read for another window. Returns false if there is none. */
  #answer(window: WantedWindow): boolean {
    const planned = this.#pages.get(window.list)?.find((one) => surelyAnswers(one, window));
    if (planned === undefined) return false;
    this.#builder.schedule.at(later(planned.arrival, window.stage), window.onArrival);
    return true;
  }

  /** Plans a page of one row for a field that needs any row of a list. The page waits for reads that may bring one. */
  #readAnyRow(window: WantedWindow): void {
    if (this.#answer(window) || this.#anyRows.has(window.list)) return;
    this.#anyRows.add(window.list);
    const isAlone = !this.#builder.rows.isRead(window.collection) && !this.isRead(window.collection);
    const asked = isAlone ? window.stage : after(window.stage, Math.max(1, this.wavesOf(window)));
    this.#read({ offset: 0, limit: 1 }, asked, [{ ...window, certain: window.certain && isAlone }]);
  }
}

function longestOf(ends: readonly WantedWindow[]): number {
  return Math.max(...ends.map(({ limit }) => limit));
}

/**
 * True if a planned page is certain to answer a window. A page is merged from windows that are wanted at the same time.
 * The plan knows for certain which windows these are only in the first stage. A page of a later stage is certain to
 * answer a window only if that window lies within one of the windows that the page was planned for.
 */
function surelyAnswers({ page, windows, asked }: PlannedPage, window: WantedWindow): boolean {
  if (!isBefore(asked, window.stage)) return false;
  if (window.countOnly === true || (asked.earlier === undefined && contains(page, window))) return true;
  return windows.some((one) => one.countOnly !== true && contains(one, window));
}

function contains(page: MergedPage, { offset, limit }: MergedPage): boolean {
  return page.offset <= offset && offset + limit <= page.offset + page.limit;
}
