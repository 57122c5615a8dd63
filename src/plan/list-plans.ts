import { type MergedPage, mergedPagesOf } from '../loaders/merged-pages.ts';
import { rowOperations } from '../rest/rest-operations.ts';
import { after, isBefore, mayBeOne, type PlannedCollection, type Stage } from './objects.ts';
import type { Condition, PlannedCalls, Schedule } from './planned-calls.ts';

/** A window of a list that is wanted, for each owner that has such a list. */
export interface WantedWindow extends PlannedCollection {
  /**
   * A text that is equal for windows that may share pages. It names the collection, its filter, and the instant that
   * offsets count from.
   */
  readonly list: string;
  readonly owners: number;
  readonly offset: number;
  readonly limit: number;
  /** The number of rows of the previous page that are read again, in addition to `limit`. */
  readonly overlap?: number;
  readonly countOnly?: boolean;
  /** True if any row of any window will do. */
  readonly anyRow?: boolean;
  readonly certain: boolean;
  readonly stage: Stage;
  readonly path: string;
  readonly when?: Condition | undefined;
  readonly done?: (stage: Stage) => void;
}

/**
 * A page that is read: the windows that it answers, the stage at which it is requested, and the stage at which it
 * arrives.
 */
interface PlannedPage {
  readonly page: MergedPage;
  readonly windows: readonly WantedWindow[];
  readonly asked: Stage;
  readonly arrival: Stage;
}

/**
 * Plans the pages of lists. Windows that are wanted at the same stage share pages. Agrees with WindowLoader
 * (`loaders/window-loader.ts`): change both.
 */
export class ListPlans {
  readonly #calls: PlannedCalls;
  readonly #schedule: Schedule;
  readonly #maxPageSize: number;
  readonly #pages = new Map<string, PlannedPage[]>();
  /** The collections whose pages are read. `waves` is 2 if the end of a list may be read after its first page. */
  readonly #collections = new Map<string, PlannedCollection & { readonly waves: 1 | 2 }>();
  /** Lists for which a page of one row may be read, if any row will do. */
  readonly #anyRows = new Set<string>();
  #pending: WantedWindow[] = [];
  /**
   * The last rows of lists, which are read if the first page does not reach them. `offset` is that of the first page.
   */
  #pendingEnds: WantedWindow[] = [];

  constructor(calls: PlannedCalls, schedule: Schedule, maxPageSize: number) {
    this.#calls = calls;
    this.#schedule = schedule;
    this.#maxPageSize = maxPageSize;
  }

  /** Adds a window. `waves` is 2 if the end of the list may be read after the window. */
  want(window: WantedWindow, waves: 1 | 2 = 1): void {
    const { noun, collection, isKnown, anyRow = false } = window;
    this.#pending.push(window);
    if (anyRow || (waves === 1 && this.reads(collection))) return;
    this.#collections.set(collection, { noun, collection, isKnown, waves });
  }

  /** Plans the jump to the end of a list, once its first page has arrived. */
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

  reads(collection: string): boolean {
    return this.#collections.has(collection);
  }

  /** Turns the wanted windows into calls. `readsRows` says whether rows of a collection are read by id. */
  settle(readsRows: (collection: string) => boolean): void {
    this.#settleJumps();
    const pending = this.#pending;
    if (pending.length === 0) return;
    this.#pending = [];
    const windows = pending.filter(({ anyRow }) => anyRow !== true);
    for (const ofList of Map.groupBy(windows, ({ list }) => list).values()) {
      for (const [stage, together] of Map.groupBy(ofList, (window) => window.stage)) this.#readAll(stage, together);
    }
    for (const one of pending) if (one.anyRow === true) this.#readAnyRow(one, readsRows(one.collection));
  }

  #settleJumps(): void {
    const jumps = this.#pendingEnds;
    this.#pendingEnds = [];
    for (const ends of Map.groupBy(jumps, ({ list, stage }) => `${list} ${stage.wave}`).values()) {
      // Windows at the end of a list that have the same first page are read by one call. It begins where the longest of
      // these windows begins. Calls after different first pages may be sent at different times. They are equal if their
      // longest windows have the same length.
      const pages = [...Map.groupBy(ends, ({ offset }) => offset).values()];
      for (const [limit, same] of Map.groupBy(pages, longestOf)) this.#readEnd(limit, same.flat());
    }
  }

  #readEnd(limit: number, jumps: readonly WantedWindow[]): void {
    const [jump] = jumps;
    if (jump === undefined) return;
    const owners = Math.max(...jumps.map((one) => one.owners));
    const paths = jumps.map(({ path }) => path);
    const { noun, stage } = jump;
    const endpoint = rowOperations[noun].list;
    this.#calls.add({ endpoint, stage, lower: 0, upper: owners, rows: owners * limit, paths, when: 'long list' });
  }

  #readAll(stage: Stage, windows: readonly WantedWindow[]): void {
    const missing = windows.filter((window) => !this.#answer(window));
    const wanted = missing.map(({ offset, limit, countOnly = false }) => ({ at: { offset }, limit, countOnly }));
    const pages = mergedPagesOf(wanted, this.#maxPageSize);
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
    const owners = Math.max(...windows.map((one) => one.owners));
    const arrival = after(asked);
    const overlap = Math.max(...windows.map((one) => one.overlap ?? 0));
    this.#calls.add({
      endpoint: rowOperations[window.noun].list,
      stage: asked,
      lower: certain ? 1 : 0,
      upper: owners,
      rows: owners * Math.min(page.limit + overlap, this.#maxPageSize),
      paths: windows.map(({ path }) => path),
      when: window.when,
    });
    const planned = this.#pages.get(window.list) ?? [];
    this.#pages.set(window.list, [...planned, { page, windows, asked, arrival }]);
    for (const { done } of windows) if (done !== undefined) this.#schedule.at(arrival, () => done(arrival));
  }

  /**
   * Answers a window with a page that is certain to be read for another window. Returns false if no such page is
   * certain.
   */
  #answer(window: WantedWindow): boolean {
    const planned = this.#pages.get(window.list)?.find((one) => surelyAnswers(one, window));
    if (planned === undefined) return false;
    const { done, stage } = window;
    const arrival = planned.arrival.wave > stage.wave ? planned.arrival : stage;
    if (done !== undefined) this.#schedule.at(arrival, () => done(arrival));
    return true;
  }

  /**
   * Plans for a field that needs one row of a list, no matter which. If another read brings a row anyway, that one is
   * used. Otherwise a page of one row is read afterwards.
   */
  #readAnyRow(window: WantedWindow, readsRows: boolean): void {
    if (this.#answer(window) || this.#anyRows.has(window.list)) return;
    this.#anyRows.add(window.list);
    const isAlone = !readsRows && !this.reads(window.collection);
    const asked = isAlone ? window.stage : after(window.stage, Math.max(1, this.wavesOf(window)));
    this.#read({ offset: 0, limit: 1 }, asked, [{ ...window, certain: window.certain && isAlone }]);
  }
}

function longestOf(jumps: readonly WantedWindow[]): number {
  return Math.max(...jumps.map(({ limit }) => limit));
}

/**
 * True if a planned page is certain to answer a window. Windows that are wanted at the same time are merged into pages.
 * In the first stage, it is certain which windows are merged. In later stages it is not. A page is then certain to
 * answer only windows that lie within one of the windows that it was planned for.
 */
function surelyAnswers({ page, windows, asked }: PlannedPage, window: WantedWindow): boolean {
  if (!isBefore(asked, window.stage)) return false;
  if (window.countOnly === true || (asked.earlier === undefined && contains(page, window))) return true;
  return windows.some((one) => one.countOnly !== true && contains(one, window));
}

function contains(page: MergedPage, { offset, limit }: MergedPage): boolean {
  return page.offset <= offset && offset + limit <= page.offset + page.limit;
}
