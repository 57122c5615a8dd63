import { pageFirstThreshold } from '../loaders/row-loader.ts';
import { listView, suffices, type View } from '../loaders/row-store.ts';
import type { Noun } from '../rest/nouns.ts';
import { rowOperations } from '../rest/rest-operations.ts';
import type { ListPlans } from './list-plans.ts';
import {
  after,
  collectionAt,
  collectionText,
  isCurrent,
  mayBeOne,
  mostOf,
  type PlannedCollection,
  type PlannedObjects,
  type Stage,
  textOf,
} from './objects.ts';
import type { Condition, PlannedCalls, Schedule } from './planned-calls.ts';

/** Rows that are wanted, each by its key. */
export interface WantedRow {
  readonly noun: Noun;
  readonly objects: PlannedObjects;
  readonly view: View;
  readonly path: string;
  readonly when?: Condition | undefined;
  readonly done?: (stage: Stage) => void;
}

/** Plans the rows that are read by key. Agrees with RowLoader (`loaders/row-loader.ts`): change both. */
export class RowPlans {
  readonly #calls: PlannedCalls;
  readonly #schedule: Schedule;
  readonly #lists: ListPlans;
  readonly #maxPageSize: number;
  readonly #arrivals = new Map<string, Stage>();
  readonly #collections = new Set<string>();
  /**
   * Rows that are wanted in the list view in any stage but the first, by the text of their objects. They are counted
   * together, because all of these stages may happen at the same time.
   */
  readonly #later = new Map<string, PlannedCollection & { readonly count: number }>();
  /** Collections of which a page is read before single rows. */
  readonly #paged = new Set<string>();
  #pending: WantedRow[] = [];
  #ifAbsent: WantedRow[] = [];

  constructor(calls: PlannedCalls, schedule: Schedule, lists: ListPlans, maxPageSize: number) {
    this.#calls = calls;
    this.#schedule = schedule;
    this.#lists = lists;
    this.#maxPageSize = maxPageSize;
  }

  want(row: WantedRow): void {
    const { objects, view, done } = row;
    if (objects.view !== undefined && suffices(objects.view, view)) done?.(objects.stage);
    else if (!this.#answer(row)) this.#pending.push(row);
  }

  /** Adds a row that is read only if all relations of its object answer 404. */
  wantIfAbsent(place: Pick<WantedRow, 'noun' | 'objects' | 'path'>): void {
    const row: WantedRow = { ...place, view: 'list', when: 'absent' };
    this.#ifAbsent.push(row);
    if (isInLists(row)) this.#later.set(textOf(row.objects), { ...collectionOf(row), count: 1 });
  }

  reads(collection: string): boolean {
    return this.#collections.has(collection);
  }

  /** Turns the wanted rows into calls. If a page of their list is read first, that page becomes a wanted window. */
  settle(): void {
    const pending = this.#pending;
    if (pending.length === 0) return;
    this.#pending = [];
    for (const row of pending) if (!isInLists(row)) this.#readById(row, after(row.objects.stage));
    const others = pending.filter((row) => isInLists(row) && !this.#answer(row));
    for (const rows of Map.groupBy(others, (row) => collectionOf(row).collection).values()) {
      for (const together of Map.groupBy(rows, isFirst).values()) this.#readInLists(together);
    }
  }

  settleAbsence(): void {
    const rows = this.#ifAbsent.filter(({ objects }) => !this.#arrivals.has(textOf(objects)));
    this.#ifAbsent = [];
    for (const row of rows) {
      if (isInLists(row) && this.#countLater(collectionOf(row)) >= pageFirstThreshold) this.#wantPage(row);
      this.#readById(row, after(row.objects.stage));
    }
  }

  /**
   * Plans rows that a page of their list may have. If at least `pageFirstThreshold` rows are wanted, such a page is
   * read first. Fewer rows wait only for pages of the list that are read for another reason.
   */
  #readInLists(rows: readonly WantedRow[]): void {
    const [first] = rows;
    if (first === undefined) return;
    const collection = collectionOf(first);
    const isPageFirst = this.#countKeys(collection, rows) >= pageFirstThreshold;
    if (isPageFirst) this.#wantPage(first);
    const mayBeKnown = isPageFirst || this.#lists.reads(collection.collection);
    const waits = this.#lists.wavesOf(collection);
    for (const row of rows) {
      const when = row.when ?? (mayBeKnown ? 'not in the page' : undefined);
      this.#readById({ ...row, when }, after(row.objects.stage, 1 + waits));
    }
  }

  /**
   * The maximum number of rows of a collection that may be wanted at once. All stages after the first may happen at the
   * same time.
   */
  #countKeys(collection: PlannedCollection, rows: readonly WantedRow[]): number {
    const keys = new Map(rows.map(({ objects }) => [textOf(objects), objects.to - objects.from]));
    const count = [...keys.values()].reduce((sum, each) => sum + each, 0);
    if (rows.every(isFirst)) return count;
    for (const [text, size] of keys) this.#later.set(text, { ...collection, count: size });
    return this.#countLater(collection);
  }

  /** The number of rows in `#later` whose collection is the given one, or may turn out to be the same one. */
  #countLater(wanted: PlannedCollection): number {
    let keys = 0;
    for (const row of this.#later.values()) if (mayBeOne(row, wanted)) keys += row.count;
    return keys;
  }

  /**
   * Plans a page that is read before single rows, one for each collection. After the first stage, it is not certain
   * with which other windows the page is merged.
   */
  #wantPage(row: WantedRow): void {
    const of = collectionOf(row);
    const { collection } = of;
    if (this.#paged.has(collection)) return;
    this.#paged.add(collection);
    const { path, objects, when } = row;
    const { owner, certain, stage } = objects;
    const list = isFirst(row) ? collection : `a page of ${collection}`;
    const owners = owner === undefined ? 1 : mostOf(owner);
    this.#lists.want({ ...of, list, owners, offset: 0, limit: this.#maxPageSize, certain, stage, path, when });
  }

  #readById({ noun, objects, path, when, done }: WantedRow, arrival: Stage): void {
    const count = this.#calls.markRead('row', objects);
    const { stage } = objects;
    this.#calls.add({
      endpoint: rowOperations[noun].get,
      stage: { ...arrival, wave: arrival.wave - 1 },
      lower: objects.certain && when === undefined ? count : 0,
      upper: count,
      rows: count,
      paths: [path],
      when,
    });
    this.#collections.add(collectionText(noun, objects.owner));
    const text = textOf(objects);
    const known = this.#arrivals.get(text) ?? arrival;
    this.#arrivals.set(text, known);
    const at = known.wave > stage.wave ? known : stage;
    if (done !== undefined) this.#schedule.at(at, () => done(at));
  }

  /** Answers a wanted row with a row that is read by id in any case. Returns false if there is none. */
  #answer({ objects, done }: WantedRow): boolean {
    const arrival = this.#arrivals.get(textOf(objects));
    if (arrival === undefined) return false;
    const { stage } = objects;
    if (arrival.wave > stage.wave) this.#schedule.at(arrival, () => done?.(arrival));
    else done?.(stage);
    return true;
  }
}

function isInLists({ noun, view, objects }: WantedRow): boolean {
  return suffices(listView(noun), view) && !isCurrent(objects);
}

function isFirst({ objects: { stage } }: WantedRow): boolean {
  return stage.earlier === undefined;
}

function collectionOf({ noun, objects: { owner } }: WantedRow): PlannedCollection {
  return collectionAt(noun, owner);
}
