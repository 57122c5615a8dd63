import { listView, suffices, type View } from '../loaders/row-store.ts';
import { substitutionThreshold } from '../loaders/rows.ts';
import { rowEndpoint } from '../look-ahead/endpoints.ts';
import type { Kind } from '../rest/paths.ts';
import { KeyCounts, type KeyedCollection } from './key-counts.ts';
import type { Condition, Ledger } from './ledger.ts';
import type { ListPlans } from './list-plans.ts';
import { after, type Moment, type Schedule } from './moments.ts';
import { collectionText, isCurrent, isOwnerKnown, most, type Objects, textOf } from './objects.ts';

/** Rows that somebody wants, each by its key. */
export interface RowWish {
  readonly kind: Kind;
  readonly objects: Objects;
  readonly view: View;
  readonly path: string;
  readonly when?: Condition;
  readonly done: (moment: Moment) => void;
}

/** Plans the rows that are read by key as RowLoader reads them. */
export class RowPlans {
  readonly #ledger: Ledger;
  readonly #schedule: Schedule;
  readonly #lists: ListPlans;
  readonly #maxPageSize: number;
  /** When rows that are read by id have come. */
  readonly #come = new Map<string, Moment>();
  readonly #collections = new Set<string>();
  /** How many rows of a collection are wanted in the list view at moments that may turn out to be one. */
  readonly #later = new KeyCounts();
  /** Collections of which a page stands in for rows. */
  readonly #paged = new Set<string>();
  #pending: RowWish[] = [];
  #ifAbsent: RowWish[] = [];

  constructor(ledger: Ledger, schedule: Schedule, lists: ListPlans, maxPageSize: number) {
    this.#ledger = ledger;
    this.#schedule = schedule;
    this.#lists = lists;
    this.#maxPageSize = maxPageSize;
  }

  want(wish: RowWish): void {
    const { objects, view, done } = wish;
    if (objects.view !== undefined && suffices(objects.view, view)) done(objects.moment);
    else if (!this.#answer(wish)) this.#pending.push(wish);
  }

  /** A row that is read only where all relations of its object answer 404. */
  wantIfAbsent(wish: RowWish): void {
    this.#ifAbsent.push(wish);
    if (isInLists(wish)) this.#later.add(collectionOf(wish), textOf(wish.objects), 1);
  }

  /** Whether rows of a collection are read by id. */
  reads(collection: string): boolean {
    return this.#collections.has(collection);
  }

  forget(): void {
    this.#come.clear();
    this.#collections.clear();
    this.#later.clear();
    this.#paged.clear();
  }

  /** Turns what is wanted into calls; pages that stand in for rows are wished of the lists. */
  settle(): void {
    const pending = this.#pending;
    if (pending.length === 0) return;
    this.#pending = [];
    for (const wish of pending) if (!isInLists(wish)) this.#readById(wish, isCertain(wish), after(wish.objects.moment));
    const others = pending.filter((wish) => isInLists(wish) && !this.#answer(wish));
    for (const wishes of Map.groupBy(others, (wish) => collectionOf(wish).collection).values()) {
      for (const together of Map.groupBy(wishes, isFirst).values()) this.#readInLists(together);
    }
  }

  /** Rows that nobody else wanted, for objects that may not exist. */
  settleAbsence(): void {
    const wishes = this.#ifAbsent.filter(({ objects }) => !this.#come.has(textOf(objects)));
    this.#ifAbsent = [];
    for (const wish of wishes) {
      if (isInLists(wish) && this.#later.of(collectionOf(wish)) >= substitutionThreshold) this.#wantPage(wish);
      this.#readById(wish, false, after(wish.objects.moment));
    }
  }

  /** Rows for which a page of their list would do: from three on it is read first, and fewer wait for one under way. */
  #readInLists(wishes: readonly RowWish[]): void {
    const [first] = wishes;
    if (first === undefined) return;
    const collection = collectionOf(first);
    const isSubstituted = this.#countKeys(collection, wishes) >= substitutionThreshold;
    if (isSubstituted) this.#wantPage(first);
    const mayBeKnown = isSubstituted || this.#lists.reads(collection.collection);
    const waits = this.#lists.wavesOf(collection);
    for (const wish of wishes) {
      const certain = isCertain(wish) && !mayBeKnown;
      const when = mayBeKnown ? 'not in the page' : undefined;
      const come = after(wish.objects.moment, 1 + waits);
      this.#readById({ ...(when !== undefined && { when }), ...wish }, certain, come);
    }
  }

  /** How many rows of a collection may be wanted at once: at moments other than the first nobody knows which are one. */
  #countKeys(collection: KeyedCollection, wishes: readonly RowWish[]): number {
    const keys = new Map(wishes.map(({ objects }) => [textOf(objects), objects.to - objects.from]));
    const count = [...keys.values()].reduce((sum, each) => sum + each, 0);
    if (wishes.every(isFirst)) return count;
    for (const [text, rows] of keys) this.#later.add(collection, text, rows);
    return this.#later.of(collection);
  }

  /** One page at most stands in for rows. Where not all begins, it may be wanted together with any window or none. */
  #wantPage(wish: RowWish): void {
    const { kind, collection, isKnown } = collectionOf(wish);
    if (this.#paged.has(collection)) return;
    this.#paged.add(collection);
    const { path, objects, when } = wish;
    this.#lists.want({
      ...(when !== undefined && { when }),
      kind,
      collection,
      isKnown,
      list: isFirst(wish) ? collection : `a page of ${collection}`,
      owners: objects.owner === undefined ? 1 : most(objects.owner),
      offset: 0,
      limit: this.#maxPageSize,
      countOnly: false,
      certain: objects.certain,
      moment: objects.moment,
      path,
      done: () => undefined,
    });
  }

  #readById({ kind, objects, path, when, done }: RowWish, certain: boolean, come: Moment): void {
    const count = this.#ledger.claim('row', objects);
    const { moment } = objects;
    this.#ledger.add({
      endpoint: rowEndpoint(kind),
      moment: { ...come, wave: come.wave - 1 },
      lower: certain ? count : 0,
      upper: count,
      rows: count,
      paths: [path],
      when,
    });
    this.#collections.add(collectionText(kind, objects.owner));
    const text = textOf(objects);
    const known = this.#come.get(text) ?? come;
    this.#come.set(text, known);
    const at = known.wave > moment.wave ? known : moment;
    this.#schedule.at(at, () => done(at));
  }

  /** Answers a wish with a row that is read by id anyway. */
  #answer({ objects, done }: RowWish): boolean {
    const come = this.#come.get(textOf(objects));
    if (come === undefined) return false;
    const { moment } = objects;
    if (come.wave > moment.wave) this.#schedule.at(come, () => done(come));
    else done(moment);
    return true;
  }
}

function isInLists({ kind, view, objects }: RowWish): boolean {
  return suffices(listView(kind), view) && !isCurrent(objects);
}

function isFirst({ objects: { moment } }: RowWish): boolean {
  return moment.earlier === undefined;
}

function isCertain({ objects, when }: RowWish): boolean {
  return objects.certain && when === undefined;
}

function collectionOf({ kind, objects: { owner } }: RowWish): KeyedCollection {
  return { kind, collection: collectionText(kind, owner), isKnown: isOwnerKnown(owner) };
}
