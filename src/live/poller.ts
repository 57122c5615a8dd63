import type { MemoryRoom } from '../memory.ts';
import { UpstreamError } from '../rest/errors.ts';
import type { ListRef } from '../rest/pages.ts';
import type { Position } from '../rest/positions.ts';
import type { Row } from '../rest/values.ts';
import { KnownRows, type News, rowsSince } from './known-rows.ts';
import type { Added, Listener } from './listener.ts';
import type { Walk } from './walk.ts';

/** The rows that one poll has read, and the number of characters that were read for them. */
export interface Polled extends Walk {
  readonly received: number;
}

/** Settings and collaborators of the polling of one tail. Times in milliseconds. */
export interface PollerOptions {
  readonly list: ListRef;
  readonly maxRows: number;
  /** The memory for messages that wait for listeners. */
  readonly room: MemoryRoom;
  /** Reads the rows since a sortable moment. The signal is aborted when the rows are no longer wanted. */
  readonly read: (since: string | undefined, signal: AbortSignal) => Promise<Polled>;
  /** The time that the next poll has to wait; 0 if it has been counted and may begin. */
  readonly take: () => number;
  /** The delay between a poll that has ended, successfully or not, and the next one. Never rejects. */
  readonly next: () => Promise<number>;
  readonly now: () => string;
}

/**
 * The listeners that have joined at one place, or without a place, since the last poll, and the rows known there. They
 * get the same messages. When many connections break, all of their clients return at the place of the last message.
 */
interface Joining {
  readonly place: string;
  readonly known: KnownRows | undefined;
  /** The sortable moment at which the first of them joined. */
  readonly joinedAt: string;
  readonly listeners: Set<Listener>;
}

/**
 * Polls one list for all of its listeners, until the last one leaves. A listener without a place gets the rows that are
 * new since it joined. A listener with a place gets the rows behind it, beginning with the next poll.
 */
export class Poller {
  readonly #options: PollerOptions;
  readonly #listeners = new Set<Listener>();
  readonly #reading = new AbortController();
  #joining: readonly Joining[] = [];
  /**
   * The rows known to all listeners except those that have just joined; undefined until the first poll has been answered.
   */
  #known: KnownRows | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** True once a first poll was delayed or failed. */
  #isLate = false;

  constructor(options: PollerOptions) {
    this.#options = options;
  }

  /** True while it polls. A poller without listeners has stopped and takes no new ones. */
  get isOpen(): boolean {
    return !this.#reading.signal.aborted;
  }

  /** Adds a listener for the rows from now on, or from the place of a message on. */
  join(listener: Listener, after: Position | undefined): void {
    const isFirst = this.#listeners.size === 0 && this.#joining.length === 0;
    if (after === undefined && this.#known !== undefined) this.#listeners.add(listener);
    else this.#joiningAt(after).listeners.add(listener);
    if (isFirst) this.#begin();
  }

  /** Removes a listener. If it was the last one, polling stops, and a poll under way is aborted. */
  leave(listener: Listener): void {
    this.#listeners.delete(listener);
    for (const { listeners } of this.#joining) listeners.delete(listener);
    this.#joining = this.#joining.filter(({ listeners }) => listeners.size > 0);
    if (this.#listeners.size > 0 || this.#joining.length > 0) return;
    clearTimeout(this.#timer);
    this.#reading.abort();
  }

  /** The group of listeners that join at a place, or without one, until a poll that serves them is answered. */
  #joiningAt(after: Position | undefined): Joining {
    const place = after === undefined ? '' : JSON.stringify(after);
    const found = this.#joining.find((one) => one.place === place);
    if (found !== undefined) return found;
    const joining = {
      place,
      known: after && KnownRows.at(after),
      joinedAt: this.#options.now(),
      listeners: new Set<Listener>(),
    };
    this.#joining = [...this.#joining, joining];
    return joining;
  }

  #begin(): void {
    const waitMs = this.#options.take();
    if (waitMs === 0) return void this.#poll();
    this.#isLate = true;
    this.#timer = setTimeout(() => this.#begin(), waitMs);
  }

  async #poll(): Promise<void> {
    const joining = this.#joining;
    try {
      const polled = await this.#options.read(this.#since(joining), this.#reading.signal);
      if (this.isOpen) this.#send(polled, joining);
    } catch (error) {
      this.#isLate = true;
      if (isFinal(error)) this.#fail(error);
    }
    const waitMs = await this.#options.next();
    if (this.isOpen) this.#timer = setTimeout(() => this.#begin(), waitMs);
  }

  /** The earliest moment whose rows a listener may get; undefined until a first poll determines it. */
  #since(joining: readonly Joining[]): string | undefined {
    const all = [this.#known, ...joining.map(({ known }) => known)].filter((known) => known !== undefined);
    const [first, ...others] = all.map(({ since }) => since);
    return others.reduce(earlier, first);
  }

  #send(polled: Polled, joining: readonly Joining[]): void {
    if (this.#known !== undefined) this.#sendNews(this.#known, polled, [...this.#listeners]);
    for (const { known, listeners } of joining) if (known !== undefined) this.#sendNews(known, polled, [...listeners]);
    if (this.#known === undefined) {
      this.#known = this.#firstKnown(polled);
      if (this.#isLate) this.#sendLate(this.#known, polled);
    }
    this.#known.prune();
    // A listener that joined during this poll without a place gets all rows from now on: it need not wait for another
    // poll.
    const isServed = (one: Joining): boolean => one.known === undefined || joining.includes(one);
    for (const one of this.#joining)
      if (isServed(one)) for (const listener of one.listeners) this.#listeners.add(listener);
    this.#joining = this.#joining.filter((one) => !isServed(one));
  }

  #sendNews(known: KnownRows, polled: Polled, listeners: readonly Listener[]): void {
    const news = known.newsIn(polled);
    if (news.gap) known.leaveOut(polled, this.#options.now());
    this.#sendRows(known, news, polled, listeners);
  }

  /**
   * Sends the rows of a first poll that was answered long after its listeners had joined. They get the rows dated since
   * then, and learn that there may be more.
   */
  #sendLate(known: KnownRows, polled: Polled): void {
    for (const joining of this.#joining) {
      if (joining.known !== undefined) continue;
      this.#sendRows(known, { rows: rowsSince(joining.joinedAt, polled), gap: true }, polled, [...joining.listeners]);
    }
  }

  /** Sends rows in messages of at most `maxRows`. The first message reports a gap; a gap without rows is reported, too. */
  #sendRows(known: KnownRows, { rows, gap }: News, polled: Polled, listeners: readonly Listener[]): void {
    const { list, maxRows, room, now } = this.#options;
    const parts = rows.length === 0 && gap ? [[]] : partsOf(rows, maxRows);
    const messages = parts.map((part, index): Added => {
      known.add(part, now());
      const received = Math.ceil((polled.received * part.length) / Math.max(polled.rows.length, 1));
      return { list, rows: part, place: known.place, gap: gap && index === 0, received, claim: room.claim() };
    });
    for (const listener of listeners) listener.add(messages);
    for (const { claim } of messages) claim.release();
  }

  #firstKnown(polled: Polled): KnownRows {
    const known = new KnownRows();
    known.add(polled.rows, this.#options.now());
    if (!polled.isWhole) known.leaveOut(polled, this.#options.now());
    return known;
  }

  #fail(error: unknown): void {
    for (const listener of [...this.#listeners, ...this.#joining.flatMap((one) => [...one.listeners])])
      listener.end(error);
  }
}

/** True if further polls would fail as well: the error is about the request or the key, or is no UpstreamError. */
function isFinal(error: unknown): boolean {
  if (!(error instanceof UpstreamError)) return true;
  return finalCodes.has(error.code) || (error.cause instanceof UpstreamError && finalCodes.has(error.cause.code));
}

const finalCodes: ReadonlySet<string> = new Set([
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'BAD_USER_INPUT',
]);

/** The earlier of two moments; undefined counts as the earliest. */
function earlier(one: string | undefined, other: string | undefined): string | undefined {
  if (one === undefined || other === undefined) return undefined;
  return one < other ? one : other;
}

function partsOf(rows: readonly Row[], most: number): (readonly Row[])[] {
  const parts: (readonly Row[])[] = [];
  for (let from = 0; from < rows.length; from += most) parts.push(rows.slice(from, from + most));
  return parts;
}
