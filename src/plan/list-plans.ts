import { type MergedPage, mergedPagesOf } from '../loaders/merged-pages.ts';
import { listEndpoint } from '../rest/endpoints.ts';
import { after, isBefore, type KeyedCollection, mayBeOne, type Stage } from './objects.ts';
import type { Condition, PlannedCalls, Schedule } from './planned-calls.ts';

/** A window of a list that is wanted, at each owner that has such a list. */
export interface WantedWindow extends KeyedCollection {
  /** Equal for windows that may share pages: the collection, its filter, and the instant that offsets count from. */
  readonly list: string;
  readonly owners: number;
  readonly offset: number;
  readonly limit: number;
  /** The number of rows beyond the limit that are asked for, because they were answered before. */
  readonly overlap?: number;
  readonly countOnly: boolean;
  /** Any row will do, of any window. */
  readonly anyRow?: boolean;
  readonly certain: boolean;
  readonly stage: Stage;
  readonly path: string;
  readonly when?: Condition;
  readonly done: (stage: Stage) => void;
}

/** The end of a list, which is read if the first page is not it: tails of one first page share the jump there. */
interface Jump extends Pick<WantedWindow, 'noun' | 'list' | 'owners' | 'limit' | 'stage' | 'path'> {
  /** The offset of the first page. */
  readonly offset: number;
}

/** A page that is read: the windows it answers, when it is asked for, and when it arrives. */
interface Reading {
  readonly page: MergedPage;
  readonly windows: readonly WantedWindow[];
  readonly asked: Stage;
  readonly arrival: Stage;
}

/**
 * Plans the pages of lists: windows that are wanted at one stage share pages. Agrees with WindowLoader
 * (`loaders/window-loader.ts`): change both.
 */
export class ListPlans {
  readonly #calls: PlannedCalls;
  readonly #schedule: Schedule;
  readonly #maxPageSize: number;
  readonly #readings = new Map<string, Reading[]>();
  readonly #collections = new Map<string, WantedWindow>();
  /** Collections whose end may be read after their first page. */
  readonly #jumps = new Set<string>();
  /** Lists of which a page of one row may be read for any row. */
  readonly #anyRows = new Set<string>();
  #pending: WantedWindow[] = [];
  #pendingJumps: Jump[] = [];

  constructor(calls: PlannedCalls, schedule: Schedule, maxPageSize: number) {
    this.#calls = calls;
    this.#schedule = schedule;
    this.#maxPageSize = maxPageSize;
  }

  want(window: WantedWindow): void {
    this.#pending.push(window);
    if (window.anyRow !== true) this.#collections.set(window.collection, window);
  }

  /** The end of a list may be read after its first page. */
  addJump(collection: string): void {
    this.#jumps.add(collection);
  }

  /** Plans the jump to the end of a list, once its first page has arrived. */
  wantEnd(jump: Jump): void {
    this.#pendingJumps.push(jump);
  }

  /** The most waves that a row of a collection may wait for pages that may be of the same collection. */
  wavesOf(wanted: KeyedCollection): number {
    let waves = 0;
    for (const read of this.#collections.values()) {
      if (mayBeOne(read, wanted)) waves = Math.max(waves, this.#jumps.has(read.collection) ? 2 : 1);
    }
    return waves;
  }

  /** True if a page of a collection is planned by now. */
  reads(collection: string): boolean {
    return this.#collections.has(collection);
  }

  forget(): void {
    this.#readings.clear();
    this.#collections.clear();
    this.#jumps.clear();
    this.#anyRows.clear();
  }

  /** Turns the wanted rows and windows into calls. `readsRows` says whether rows of a collection are read by id. */
  settle(readsRows: (collection: string) => boolean): void {
    this.#settleJumps();
    const pending = this.#pending;
    if (pending.length === 0) return;
    this.#pending = [];
    for (const windows of Map.groupBy(pending.filter(isWindow), ({ list }) => list).values()) {
      for (const [stage, together] of Map.groupBy(windows, (window) => window.stage)) this.#readAll(stage, together);
    }
    for (const window of pending) if (!isWindow(window)) this.#readAnyRow(window, readsRows(window.collection));
  }

  #settleJumps(): void {
    const jumps = this.#pendingJumps;
    this.#pendingJumps = [];
    for (const ends of Map.groupBy(jumps, ({ list, stage }) => `${list} ${stage.wave}`).values()) {
      // All jumps behind one first page are made at once, to where the longest tail begins. A jump behind another page may
      // come later, and finds a tail of the same length.
      const pages = [...Map.groupBy(ends, ({ offset }) => offset).values()];
      for (const [limit, same] of Map.groupBy(pages, longestOf)) this.#readEnd(limit, same.flat());
    }
  }

  #readEnd(limit: number, jumps: readonly Jump[]): void {
    const [jump] = jumps;
    if (jump === undefined) return;
    const owners = Math.max(...jumps.map((one) => one.owners));
    const paths = jumps.map(({ path }) => path);
    const { noun, stage } = jump;
    const endpoint = listEndpoint(noun);
    this.#calls.add({ endpoint, stage, lower: 0, upper: owners, rows: owners * limit, paths, when: 'long list' });
  }

  #readAll(stage: Stage, windows: readonly WantedWindow[]): void {
    const missing = windows.filter((window) => !this.#answer(window));
    const wanted = missing.map(({ offset, limit, countOnly }) => ({ at: { offset }, limit, countOnly }));
    const pages = mergedPagesOf(wanted, this.#maxPageSize);
    for (const page of pages) {
      const within = missing.filter((window) => (window.countOnly ? page === pages[0] : contains(page, window)));
      this.#read(
        page,
        stage,
        within,
        within.some(({ certain }) => certain),
      );
    }
  }

  #read(page: MergedPage, asked: Stage, windows: readonly WantedWindow[], certain: boolean): void {
    const [window] = windows;
    if (window === undefined) return;
    const owners = Math.max(...windows.map((one) => one.owners));
    const arrival = after(asked);
    const overlap = Math.max(...windows.map((one) => one.overlap ?? 0));
    this.#calls.add({
      endpoint: listEndpoint(window.noun),
      stage: asked,
      lower: certain ? 1 : 0,
      upper: owners,
      rows: owners * Math.min(page.limit + overlap, this.#maxPageSize),
      paths: windows.map(({ path }) => path),
      when: window.when,
    });
    const readings = this.#readings.get(window.list) ?? [];
    this.#readings.set(window.list, [...readings, { page, windows, asked, arrival }]);
    for (const { done } of windows) this.#schedule.at(arrival, () => done(arrival));
  }

  /** Answers a window with a page that is surely read for another window. False if there may be no such page. */
  #answer(window: WantedWindow): boolean {
    const reading = this.#readings.get(window.list)?.find((one) => surelyAnswers(one, window));
    if (reading === undefined) return false;
    const { done, stage } = window;
    const arrival = reading.arrival.wave > stage.wave ? reading.arrival : stage;
    this.#schedule.at(arrival, () => done(arrival));
    return true;
  }

  /** Any row: one that arrives for something else will do. If there is none, a page of one row is read after those. */
  #readAnyRow(window: WantedWindow, readsRows: boolean): void {
    if (this.#answer(window) || this.#anyRows.has(window.list)) return;
    this.#anyRows.add(window.list);
    const isAlone = !readsRows && !this.reads(window.collection);
    const asked = isAlone ? window.stage : after(window.stage, Math.max(1, this.wavesOf(window)));
    this.#read({ offset: 0, limit: 1 }, asked, [window], window.certain && isAlone);
  }
}

function longestOf(jumps: readonly Jump[]): number {
  return Math.max(...jumps.map(({ limit }) => limit));
}

function isWindow({ anyRow }: WantedWindow): boolean {
  return anyRow !== true;
}

/**
 * The windows that are wanted at one time decide how pages are merged, and only at the first stage these are certain. Later
 * on, only a window that was wanted before is sure to lie in one page.
 */
function surelyAnswers({ page, windows, asked }: Reading, window: WantedWindow): boolean {
  if (!isBefore(asked, window.stage)) return false;
  if (window.countOnly || (asked.earlier === undefined && contains(page, window))) return true;
  return windows.some((one) => !one.countOnly && contains(one, window));
}

function contains(page: MergedPage, { offset, limit }: MergedPage): boolean {
  return page.offset <= offset && offset + limit <= page.offset + page.limit;
}
