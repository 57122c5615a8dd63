import { pageFirstThreshold } from '../loaders/row-loader.ts';
import { listView, suffices, type View } from '../loaders/row-store.ts';
import type { Noun } from '../rest/nouns.ts';
import { rowOperations } from '../rest/rest-operations.ts';
import {
  after,
  collectionAt,
  collectionText,
  isCurrent,
  later,
  mayBeOne,
  mostOf,
  objectsText,
  type PlannedCollection,
  type PlannedObjects,
  type Stage,
} from './objects.ts';
import type { PlanBuilder } from './plan-builder.ts';
import type { Condition } from './planned-calls.ts';

/** Rows that are wanted, each by its key. */
export interface WantedRow {
  readonly noun: Noun;
  readonly objects: PlannedObjects;
  readonly view: View;
  readonly path: string;
  readonly when?: Condition | undefined;
  /** Called with the stage at which the answer is there. */
  readonly onArrival?: ((stage: Stage) => void) | undefined;
}

/** Plans the rows that are read by key. Agrees with RowLoader (`loaders/row-loader.ts`): change both. */
export class RowPlans {
  readonly #builder: PlanBuilder;
  /** The stages at which rows that are read by id arrive, by the text of their objects. */
  readonly #arrivals = new Map<string, Stage>();
  readonly #collections = new Set<string>();
  /**
   * Rows in the list view that are wanted at a stage after the first. The key is the text of their objects. The rows of
   * all these stages are counted together, because the stages may happen at the same time.
   */
  readonly #later = new Map<string, PlannedCollection & { readonly count: number }>();
  /** The collections of which a page is read before single rows. */
  readonly #pageFirst = new Set<string>();
  #pending: WantedRow[] = [];
  #ifAbsent: WantedRow[] = [];

  constructor(builder: PlanBuilder) {
    this.#builder = builder;
  }

  want(row: WantedRow): void {
    const { objects, view, onArrival } = row;
    if (objects.view !== undefined && suffices(objects.view, view)) onArrival?.(objects.stage);
    else if (!this.#answer(row)) this.#pending.push(row);
  }

  /** Adds a row that is read only if all relations of its object answer 404. */
  wantIfAbsent(place: Pick<WantedRow, 'noun' | 'objects' | 'path'>): void {
    const row: WantedRow = { ...place, view: 'list', when: 'absent' };
    this.#ifAbsent.push(row);
    if (isInLists(row)) this.#later.set(objectsText(row.objects), { ...collectionOf(row), count: 1 });
  }

  /** True if rows of the collection are read by id. */
  isRead(collection: string): boolean {
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
      for (const together of Map.groupBy(rows, isInFirstStage).values()) this.#readInLists(together);
    }
  }

  /** Plans the rows that are read only if their objects seem absent. Called when all other rows are planned. */
  settleAbsence(): void {
    const rows = this.#ifAbsent.filter(({ objects }) => !this.#arrivals.has(objectsText(objects)));
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
    const { lists } = this.#builder;
    const collection = collectionOf(first);
    const isPageFirst = this.#countKeys(collection, rows) >= pageFirstThreshold;
    if (isPageFirst) this.#wantPage(first);
    const mayBeKnown = isPageFirst || lists.isRead(collection.collection);
    const waits = lists.wavesOf(collection);
    for (const row of rows) {
      const when = row.when ?? (mayBeKnown ? 'not in the page' : undefined);
      this.#readById({ ...row, when }, after(row.objects.stage, 1 + waits));
    }
  }

  /** The maximum number of rows of a collection that may be wanted at once. */
  #countKeys(collection: PlannedCollection, rows: readonly WantedRow[]): number {
    const keys = new Map(rows.map(({ objects }) => [objectsText(objects), objects.to - objects.from]));
    const count = [...keys.values()].reduce((sum, each) => sum + each, 0);
    if (rows.every(isInFirstStage)) return count;
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
    if (this.#pageFirst.has(collection)) return;
    this.#pageFirst.add(collection);
    const { path, objects, when } = row;
    const { owner, certain, stage } = objects;
    const list = isInFirstStage(row) ? collection : `a page of ${collection}`;
    const ownerCount = mostOf(owner);
    const { lists, options } = this.#builder;
    lists.want({ ...of, list, ownerCount, offset: 0, limit: options.maxPageSize, certain, stage, path, when });
  }

  #readById({ noun, objects, path, when, onArrival }: WantedRow, arrival: Stage): void {
    const { calls, schedule } = this.#builder;
    const count = calls.markRead('row', objects);
    calls.add({
      endpoint: rowOperations[noun].get,
      stage: { ...arrival, wave: arrival.wave - 1 },
      lower: objects.certain && when === undefined ? count : 0,
      upper: count,
      rows: count,
      paths: [path],
      when,
    });
    this.#collections.add(collectionText(noun, objects.owner));
    const text = objectsText(objects);
    const known = this.#arrivals.get(text) ?? arrival;
    this.#arrivals.set(text, known);
    schedule.at(later(known, objects.stage), onArrival);
  }

  /** Answers a wanted row with one that is read by id in any case. Returns false if there is none. */
  #answer({ objects, onArrival }: WantedRow): boolean {
    const arrival = this.#arrivals.get(objectsText(objects));
    if (arrival === undefined) return false;
    this.#builder.schedule.at(later(arrival, objects.stage), onArrival);
    return true;
  }
}

function isInLists({ noun, view, objects }: WantedRow): boolean {
  return suffices(listView(noun), view) && !isCurrent(objects);
}

function isInFirstStage({ objects: { stage } }: WantedRow): boolean {
  return stage.earlier === undefined;
}

function collectionOf({ noun, objects: { owner } }: WantedRow): PlannedCollection {
  return collectionAt(noun, owner);
}
