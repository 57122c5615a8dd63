import { randomUUID } from 'node:crypto';
import type { MemoryRoom } from '../memory.ts';
import type { RestApi } from '../rest/api.ts';
import type { Caller } from '../rest/caller.ts';
import { UpstreamError } from '../rest/errors.ts';
import { sortableMoment } from '../rest/instants.ts';
import { OperationCalls } from '../rest/operation-calls.ts';
import type { OperationDeadline } from '../rest/operation-deadline.ts';
import { type ListRef, listText } from '../rest/pages.ts';
import type { Position } from '../rest/positions.ts';
import type { AnyRestRun } from '../rest/rest-run.ts';
import type { Row } from '../rest/values.ts';
import { KnownRows, type NewRows, rowsSince } from './known-rows.ts';
import { Listener, type TailMessage } from './listener.ts';
import { Pace, type PaceOptions } from './pace.ts';
import { mostCalls, type NewestRows, walkBack } from './walk.ts';

/** Settings and collaborators of every tail. */
interface TailOptions {
  /** Begins one poll in the name of a caller. */
  readonly begin: (caller: Caller, calls: OperationCalls) => Promise<AnyRestRun>;
  /** The REST API for one poll. */
  readonly restFor: (run: AnyRestRun) => RestApi;
  /** The maximum number of rows that one REST call asks for, and that a message has. */
  readonly maxPageSize: number;
  /** The memory for messages that wait for listeners. */
  readonly room: MemoryRoom;
}

/** The tails of one process: one for each list and upstream key, as long as it has listeners. */
export class Tails {
  readonly #options: TailOptions;
  readonly #pace: Pace;
  readonly #tails = new Map<string, Tail>();

  constructor(options: TailOptions & PaceOptions) {
    this.#options = options;
    this.#pace = new Pace(options);
  }

  get size(): number {
    return this.#tails.size;
  }

  /** The number of polls since the start. */
  get polls(): number {
    return this.#pace.polls;
  }

  /** Follows a list for a caller: new rows from now on, or those behind the position of a message. */
  follow(caller: Caller, list: ListRef, after: Position | undefined, onSlow: () => void): Listener {
    const { sharingKey } = caller;
    const name = `${sharingKey} ${listText(list)}`;
    const tail = this.#tails.get(name) ?? this.#start(name, sharingKey, list);
    const listener = new Listener(() => {
      tail.leave(listener);
      if (tail.isOpen) return;
      this.#tails.delete(name);
      this.#pace.leave(sharingKey);
    }, onSlow);
    tail.join(listener, caller, after);
    return listener;
  }

  #start(name: string, sharingKey: string, list: ListRef): Tail {
    const tail = new Tail(list, sharingKey, this.#options, this.#pace);
    this.#tails.set(name, tail);
    this.#pace.join(sharingKey);
    return tail;
  }
}

interface Polled extends NewestRows {
  readonly received: number;
}

/**
 * Listeners that joined at the same position, or without one, and wait for the first poll that serves them. They share
 * messages. That saves work if many connections break at once: their clients all continue behind the same message.
 */
interface Joining {
  readonly position: string;
  /** The rows known at the position; undefined without a position. */
  readonly known: KnownRows | undefined;
  /** The sortable moment at which the first of them joined. */
  readonly joinedAt: string;
  readonly listeners: Set<Listener>;
}

/**
 * A list that is polled with one upstream key until its last listener leaves. A listener without a position gets the
 * rows that are new since it joined. One that joins at the position of a message gets the rows behind that message,
 * beginning with the next poll.
 */
class Tail {
  readonly #list: ListRef;
  readonly #sharingKey: string;
  readonly #options: TailOptions;
  readonly #pace: Pace;
  /** The name of each poll of this tail. One name is enough, because a tail has one poll at a time. */
  readonly #id = randomUUID();
  /**
   * All listeners with their callers. A poll is made in the name of the first caller, who then moves to the end.
   * Callers take turns in this way, because each has only a share of the key's calls.
   */
  readonly #callers = new Map<Listener, Caller>();
  /** The listeners that get the rows of each poll: all except those that have just joined. */
  readonly #listeners = new Set<Listener>();
  #joining: readonly Joining[] = [];
  /** The rows known to `#listeners`; undefined until the first poll has been answered. */
  #known: KnownRows | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** The deadline of the poll under way. */
  #deadline: OperationDeadline | undefined;
  /** True once the first poll has been delayed or has failed. */
  #isLate = false;
  /** True if the last poll has failed. */
  #hasFailed = false;

  constructor(list: ListRef, sharingKey: string, options: TailOptions, pace: Pace) {
    this.#list = list;
    this.#sharingKey = sharingKey;
    this.#options = options;
    this.#pace = pace;
  }

  /** True while the tail has listeners. After the last one has left, it takes no new ones. */
  get isOpen(): boolean {
    return this.#callers.size > 0;
  }

  /** Adds a listener for the rows from now on, or from the position of a message on. */
  join(listener: Listener, caller: Caller, after: Position | undefined): void {
    this.#callers.set(listener, caller);
    if (after === undefined && this.#known !== undefined) this.#listeners.add(listener);
    else this.#joiningAt(after).listeners.add(listener);
    if (this.#callers.size === 1) this.#begin();
  }

  /** Removes a listener. The last one to leave stops polling, and aborts a poll under way. */
  leave(listener: Listener): void {
    this.#callers.delete(listener);
    this.#listeners.delete(listener);
    for (const { listeners } of this.#joining) listeners.delete(listener);
    this.#joining = this.#joining.filter(({ listeners }) => listeners.size > 0);
    if (this.isOpen) return;
    clearTimeout(this.#timer);
    this.#deadline?.end('left');
  }

  /** The group of listeners that join at a position, or without one. */
  #joiningAt(after: Position | undefined): Joining {
    const position = after === undefined ? '' : JSON.stringify(after);
    const found = this.#joining.find((one) => one.position === position);
    if (found !== undefined) return found;
    const joining = {
      position,
      known: after && KnownRows.at(after),
      joinedAt: now(),
      listeners: new Set<Listener>(),
    };
    this.#joining = [...this.#joining, joining];
    return joining;
  }

  #begin(): void {
    const waitMs = this.#pace.reserve(this.#sharingKey, this.#id);
    if (waitMs === 0) return void this.#poll();
    this.#isLate = true;
    this.#timer = setTimeout(() => this.#begin(), waitMs);
  }

  async #poll(): Promise<void> {
    this.#pace.polls += 1;
    const joining = this.#joining;
    const calls = new OperationCalls(mostCalls);
    try {
      const polled = await this.#read(this.#since(joining), calls);
      this.#hasFailed = false;
      if (this.isOpen) this.#send(polled, joining);
    } catch (error) {
      this.#isLate = true;
      this.#hasFailed = true;
      if (isFinal(error)) for (const listener of [...this.#callers.keys()]) listener.end(error);
    }
    // A poll that made no call of its own counts as one call, so that tails stay spread.
    const made = Math.max(calls.made, 1);
    const waitMs = await this.#pace.next(this.#sharingKey, this.#id, made, calls.hasSucceeded);
    if (this.isOpen) this.#timer = setTimeout(() => this.#begin(), waitMs);
  }

  async #read(since: string | undefined, calls: OperationCalls): Promise<Polled> {
    const [first] = this.#callers;
    if (first === undefined) throw new Error('a list without listeners was polled');
    const [listener, caller] = first;
    const { begin, restFor, maxPageSize: maximum } = this.#options;
    const run = await begin(caller, calls);
    const { deadline } = run;
    this.#deadline = deadline;
    if (!this.isOpen) deadline.end('left');
    try {
      const walk = await walkBack({ api: restFor(run), list: this.#list, maximum }, since, now(), this.#isBearable);
      return { ...walk, received: deadline.received };
    } finally {
      deadline.finish();
      // Moves the caller to the end, unless it has left: the next poll is another caller's.
      if (this.#callers.delete(listener)) this.#callers.set(listener, caller);
    }
  }

  /**
   * True if a poll whose next page fails with this error sends what it has. After a failure it does so, and listeners
   * may get a gap. Otherwise a listener at a position that takes more pages than can be read would hold up all others.
   */
  readonly #isBearable = (error: unknown): boolean => this.#hasFailed && !isFinal(error);

  /** The earliest moment whose rows a listener may get; undefined until a first poll determines it. */
  #since(joining: readonly Joining[]): string | undefined {
    const all = [this.#known, ...joining.map(({ known }) => known)].filter((known) => known !== undefined);
    const [first, ...others] = all.map(({ since }) => since);
    return others.reduce(earlier, first);
  }

  #send(polled: Polled, joining: readonly Joining[]): void {
    if (this.#known !== undefined) this.#sendNew(this.#known, polled, [...this.#listeners]);
    for (const { known, listeners } of joining) if (known !== undefined) this.#sendNew(known, polled, [...listeners]);
    if (this.#known === undefined) {
      this.#known = firstKnown(polled);
      if (this.#isLate) this.#sendLate(this.#known, polled);
    }
    this.#known.prune();
    // A listener without a position that joined during this poll gets all rows from now on.
    const isServed = (one: Joining): boolean => one.known === undefined || joining.includes(one);
    for (const one of this.#joining)
      if (isServed(one)) for (const listener of one.listeners) this.#listeners.add(listener);
    this.#joining = this.#joining.filter((one) => !isServed(one));
  }

  #sendNew(known: KnownRows, polled: Polled, listeners: readonly Listener[]): void {
    const newRows = known.newRowsIn(polled);
    if (newRows.gap) known.leaveOut(polled, now());
    this.#sendRows(known, newRows, polled, listeners);
  }

  /**
   * Sends the rows of a late first poll that are dated after the listeners joined. Also reports a gap, because rows
   * with earlier dates may be new, too.
   */
  #sendLate(known: KnownRows, polled: Polled): void {
    for (const joining of this.#joining) {
      if (joining.known !== undefined) continue;
      this.#sendRows(known, { rows: rowsSince(joining.joinedAt, polled), gap: true }, polled, [...joining.listeners]);
    }
  }

  /** Sends rows in messages of at most `maxPageSize`. The first one reports a gap, even if there are no rows. */
  #sendRows(known: KnownRows, { rows, gap }: NewRows, polled: Polled, listeners: readonly Listener[]): void {
    const { maxPageSize, room } = this.#options;
    const list = this.#list;
    const batches = rows.length === 0 && gap ? [[]] : batchesOf(rows, maxPageSize);
    const messages = batches.map((batch, index): TailMessage => {
      known.add(batch, now());
      const received = Math.ceil((polled.received * batch.length) / Math.max(polled.rows.length, 1));
      return { list, rows: batch, position: known.position, gap: gap && index === 0, received, claim: room.claim() };
    });
    for (const listener of listeners) listener.add(messages);
    for (const { claim } of messages) claim.release();
  }
}

function firstKnown(polled: Polled): KnownRows {
  const known = new KnownRows();
  known.add(polled.rows, now());
  if (!polled.isWhole) known.leaveOut(polled, now());
  return known;
}

function now(): string {
  return sortableMoment(new Date().toISOString()) ?? '';
}

/** True if further polls would fail as well, because of the request, the key or a fault of the gateway. */
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

function batchesOf(rows: readonly Row[], most: number): (readonly Row[])[] {
  const batches: (readonly Row[])[] = [];
  for (let from = 0; from < rows.length; from += most) batches.push(rows.slice(from, from + most));
  return batches;
}
