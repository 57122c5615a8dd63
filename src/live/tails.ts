import type { Caller } from '../rest/caller.ts';
import { type ListRef, listText } from '../rest/pages.ts';
import type { Position } from '../rest/positions.ts';
import { Listener } from './listener.ts';
import { Pace, type PaceOptions } from './pace.ts';
import { Tail, type TailOptions } from './tail.ts';

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
