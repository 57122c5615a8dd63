import type { MemoryRoom } from '../memory.ts';
import type { RestApi } from '../rest/api.ts';
import type { Caller } from '../rest/caller.ts';
import { sortableMoment } from '../rest/instants.ts';
import { OperationCalls } from '../rest/operation-calls.ts';
import { OperationDeadline } from '../rest/operation-deadline.ts';
import { type ListRef, listText } from '../rest/pages.ts';
import type { Position } from '../rest/positions.ts';
import { Listener } from './listener.ts';
import { Pace, type PaceOptions } from './pace.ts';
import { type Polled, Poller } from './poller.ts';
import { mostCalls, walkBack } from './walk.ts';

/** Settings and collaborators of tails. Times in milliseconds. */
export interface TailsOptions extends Omit<PaceOptions, 'now'> {
  /** The REST API in the name of a caller, for one poll. */
  readonly restFor: (caller: Caller, deadline: OperationDeadline, calls: OperationCalls) => Promise<RestApi> | RestApi;
  /** The most rows that one REST call asks for, and that a message has. */
  readonly maxPageSize: number;
  /** The longest time of one poll. */
  readonly deadlineMs: number;
  readonly room: MemoryRoom;
}

/** A list that is polled with one upstream key, and its listeners. */
interface Tail {
  readonly poller: Poller;
  /**
   * The callers of the listeners. Each poll is made for the first caller. They take turns, because each has only a
   * share of the key's budget.
   */
  readonly callers: Set<Caller>;
}

/** The tails of one process. Each list with each upstream key has one poller, as long as it has listeners. */
export class Tails {
  readonly #options: TailsOptions;
  readonly #pace: Pace;
  readonly #tails = new Map<string, Tail>();
  #polls = 0;

  constructor(options: TailsOptions) {
    this.#options = options;
    this.#pace = new Pace({ ...options, now: () => performance.now() });
  }

  get size(): number {
    return this.#tails.size;
  }

  get polls(): number {
    return this.#polls;
  }

  /**
   * Listens to a list for a caller: to new rows from now on, or from the place of a message. `onSlow` is called if the
   * listener was ended because it read too slowly.
   */
  follow(caller: Caller, list: ListRef, after: Position | undefined, onSlow: () => void): Listener {
    const name = `${caller.sharingKey} ${listText(list)}`;
    const tail = this.#tails.get(name) ?? this.#start(name, caller, list);
    const own = { ...caller };
    tail.callers.add(own);
    const listener = new Listener(() => {
      tail.callers.delete(own);
      tail.poller.leave(listener);
      if (listener.isSlow) onSlow();
      if (tail.poller.isOpen || this.#tails.get(name) !== tail) return;
      this.#tails.delete(name);
      this.#pace.leave(caller.sharingKey);
    });
    tail.poller.join(listener, after);
    return listener;
  }

  #start(name: string, { sharingKey }: Caller, list: ListRef): Tail {
    const callers = new Set<Caller>();
    /** The calls of the latest poll. */
    let calls = new OperationCalls(mostCalls);
    const poller = new Poller({
      list,
      maxRows: this.#options.maxPageSize,
      room: this.#options.room,
      read: (since, signal) => {
        calls = new OperationCalls(mostCalls);
        return this.#read(callers, list, calls, since, signal);
      },
      take: () => this.#pace.take(sharingKey),
      // A poll that made no call of its own counts as one call, so that tails stay spread.
      next: () => this.#pace.next(sharingKey, Math.max(calls.made, 1)),
      now,
    });
    const tail = { poller, callers };
    this.#tails.set(name, tail);
    this.#pace.join(sharingKey);
    return tail;
  }

  async #read(
    callers: Set<Caller>,
    list: ListRef,
    calls: OperationCalls,
    since: string | undefined,
    signal: AbortSignal,
  ): Promise<Polled> {
    const [caller] = callers;
    if (caller === undefined) throw new Error('a list without listeners was polled');
    const { restFor, maxPageSize: maximum, deadlineMs } = this.#options;
    this.#polls += 1;
    const deadline = new OperationDeadline(deadlineMs);
    const stop = (): void => deadline.end('left');
    signal.addEventListener('abort', stop);
    try {
      const api = await restFor(caller, deadline, calls);
      const walk = await walkBack({ api, list, maximum }, since, now());
      return { ...walk, received: deadline.received };
    } finally {
      signal.removeEventListener('abort', stop);
      deadline.finish();
      // Moves the caller to the end, unless it has left: the next poll is another caller's.
      if (callers.delete(caller)) callers.add(caller);
    }
  }
}

function now(): string {
  return sortableMoment(new Date().toISOString()) ?? '';
}
