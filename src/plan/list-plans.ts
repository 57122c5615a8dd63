import { type Hull, hullsOf } from '../loaders/hulls.ts';
import { listEndpoint } from '../look-ahead/endpoints.ts';
import { type KeyedCollection, mayBeOne } from './key-counts.ts';
import type { Condition, Ledger } from './ledger.ts';
import { after, isBefore, type Moment, type Schedule } from './moments.ts';

/** Rows of a list that somebody wants, at each owner that has such a list. */
export interface ListWish extends KeyedCollection {
  /** Equal for windows that may share pages: the collection, its filter, and the instant that offsets count from. */
  readonly list: string;
  readonly owners: number;
  readonly offset: number;
  readonly limit: number;
  /** How many rows beyond the limit are asked for, because they were answered before. */
  readonly overlap?: number;
  readonly countOnly: boolean;
  /** Any row will do, of any window. */
  readonly anyRow?: boolean;
  readonly certain: boolean;
  readonly moment: Moment;
  readonly path: string;
  readonly when?: Condition;
  readonly done: (moment: Moment) => void;
}

/** The end of a list, which is read if the first page is not it: tails of one first page share the jump there. */
interface Jump extends Pick<ListWish, 'kind' | 'list' | 'owners' | 'limit' | 'moment' | 'path'> {
  /** The offset of the first page. */
  readonly offset: number;
}

/** A page that is read: what was wished of it, when it was asked for, and when it has come. */
interface Reading {
  readonly hull: Hull;
  readonly wishes: readonly ListWish[];
  readonly asked: Moment;
  readonly come: Moment;
}

/** Plans the pages of lists as WindowLoader reads them: windows that are wanted at one moment share pages. */
export class ListPlans {
  readonly #ledger: Ledger;
  readonly #schedule: Schedule;
  readonly #maxPageSize: number;
  readonly #readings = new Map<string, Reading[]>();
  readonly #collections = new Map<string, ListWish>();
  /** Collections whose end may be read after their first page. */
  readonly #jumps = new Set<string>();
  /** Lists of which a page of one row may be read for any row. */
  readonly #anyRows = new Set<string>();
  #pending: ListWish[] = [];
  #pendingJumps: Jump[] = [];

  constructor(ledger: Ledger, schedule: Schedule, maxPageSize: number) {
    this.#ledger = ledger;
    this.#schedule = schedule;
    this.#maxPageSize = maxPageSize;
  }

  want(wish: ListWish): void {
    this.#pending.push(wish);
    if (wish.anyRow !== true) this.#collections.set(wish.collection, wish);
  }

  /** The end of a list may be read after its first page. */
  addJump(collection: string): void {
    this.#jumps.add(collection);
  }

  /** Plans the jump to the end of a list, once its first page has come. */
  wantEnd(jump: Jump): void {
    this.#pendingJumps.push(jump);
  }

  /** How many waves whoever wants a row of a collection may have to wait for pages that may be of the same one. */
  wavesOf(wanted: KeyedCollection): number {
    let waves = 0;
    for (const read of this.#collections.values()) {
      if (mayBeOne(read, wanted)) waves = Math.max(waves, this.#jumps.has(read.collection) ? 2 : 1);
    }
    return waves;
  }

  /** Whether a page of a collection is planned by now. */
  reads(collection: string): boolean {
    return this.#collections.has(collection);
  }

  forget(): void {
    this.#readings.clear();
    this.#collections.clear();
    this.#jumps.clear();
    this.#anyRows.clear();
  }

  /** Turns what is wanted into calls. `readsRows` tells whether rows of a collection are read by id. */
  settle(readsRows: (collection: string) => boolean): void {
    this.#settleJumps();
    const pending = this.#pending;
    if (pending.length === 0) return;
    this.#pending = [];
    for (const wishes of Map.groupBy(pending.filter(isWindow), ({ list }) => list).values()) {
      for (const [moment, together] of Map.groupBy(wishes, (wish) => wish.moment)) this.#readAll(moment, together);
    }
    for (const wish of pending) if (!isWindow(wish)) this.#readAnyRow(wish, readsRows(wish.collection));
  }

  #settleJumps(): void {
    const jumps = this.#pendingJumps;
    this.#pendingJumps = [];
    for (const ends of Map.groupBy(jumps, ({ list, offset }) => `${list} ${offset}`).values()) {
      for (const [moment, together] of Map.groupBy(ends, (jump) => jump.moment)) this.#readEnd(moment, together);
    }
  }

  #readEnd(moment: Moment, [jump, ...others]: readonly Jump[]): void {
    if (jump === undefined) return;
    const jumps = [jump, ...others];
    const owners = Math.max(...jumps.map((one) => one.owners));
    const paths = jumps.map(({ path }) => path);
    const rows = owners * Math.max(...jumps.map(({ limit }) => limit));
    const endpoint = listEndpoint(jump.kind);
    this.#ledger.add({ endpoint, moment, lower: 0, upper: owners, rows, paths, when: 'long list' });
  }

  #readAll(moment: Moment, wishes: readonly ListWish[]): void {
    const missing = wishes.filter((wish) => !this.#answer(wish));
    const windows = missing.map(({ offset, limit, countOnly }) => ({ at: { offset }, limit, countOnly }));
    const hulls = hullsOf(windows, this.#maxPageSize);
    for (const hull of hulls) {
      const within = missing.filter((wish) => (wish.countOnly ? hull === hulls[0] : contains(hull, wish)));
      this.#read(
        hull,
        moment,
        within,
        within.some(({ certain }) => certain),
      );
    }
  }

  #read(hull: Hull, asked: Moment, wishes: readonly ListWish[], certain: boolean): void {
    const [wish] = wishes;
    if (wish === undefined) return;
    const owners = Math.max(...wishes.map((one) => one.owners));
    const come = after(asked);
    const overlap = Math.max(...wishes.map((one) => one.overlap ?? 0));
    this.#ledger.add({
      endpoint: listEndpoint(wish.kind),
      moment: asked,
      lower: certain ? 1 : 0,
      upper: owners,
      rows: owners * Math.min(hull.limit + overlap, this.#maxPageSize),
      paths: wishes.map(({ path }) => path),
      when: wish.when,
    });
    const readings = this.#readings.get(wish.list) ?? [];
    this.#readings.set(wish.list, [...readings, { hull, wishes, asked, come }]);
    for (const { done } of wishes) this.#schedule.at(come, () => done(come));
  }

  /** Answers a wish with a page that was surely read for another; false where there may be none. */
  #answer(wish: ListWish): boolean {
    const reading = this.#readings.get(wish.list)?.find((one) => surelyAnswers(one, wish));
    if (reading === undefined) return false;
    const { done, moment } = wish;
    const come = reading.come.wave > moment.wave ? reading.come : moment;
    this.#schedule.at(come, () => done(come));
    return true;
  }

  /** A row that other pages and rows may hold; else a page of one row is read for it, once they are there. */
  #readAnyRow(wish: ListWish, readsRows: boolean): void {
    if (this.#answer(wish) || this.#anyRows.has(wish.list)) return;
    this.#anyRows.add(wish.list);
    const isAlone = !readsRows && !this.reads(wish.collection);
    const asked = isAlone ? wish.moment : after(wish.moment, Math.max(1, this.wavesOf(wish)));
    this.#read({ offset: 0, limit: 1 }, asked, [wish], wish.certain && isAlone);
  }
}

function isWindow({ anyRow }: ListWish): boolean {
  return anyRow !== true;
}

/**
 * Pages that the loaders put together differ with what is wanted at once, which is certain only where everything
 * begins. Later on, only a window that was itself wanted before is sure to lie in one page.
 */
function surelyAnswers({ hull, wishes, asked }: Reading, wish: ListWish): boolean {
  if (!isBefore(asked, wish.moment)) return false;
  if (wish.countOnly || (asked.earlier === undefined && contains(hull, wish))) return true;
  return wishes.some((one) => !one.countOnly && contains(one, wish));
}

function contains(hull: Hull, { offset, limit }: Hull): boolean {
  return hull.offset <= offset && offset + limit <= hull.offset + hull.limit;
}
