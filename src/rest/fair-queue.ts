/** An item that waits for its turn. */
export interface Queued {
  /** The queue key of a caller, or `unproven`. */
  readonly caller: string;
  /**
   * The user for whom the item waits, or `agents` for all agents; empty if the caller has no users. For
   * `unproven`, it is the queue key of the unproven key.
   */
  readonly user: string;
}

/**
 * The one caller that stands for all unproven keys. Each of the keys is one of its users. If each were a caller, anyone
 * could take all turns with invented keys.
 */
export const unproven = '';

/** A queue in which callers take turns, and so do the users of each caller. The items of one user keep their order. */
export class FairQueue<Item extends Queued> {
  /** Callers, and the users of each, in the order of their turns. */
  readonly #callers = new Map<string, Map<string, Set<Item>>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The number of callers with waiting items. */
  get callers(): number {
    return this.#callers.size;
  }

  /** The number of items that wait for a caller, or for one of its users. */
  sizeOf(caller: string, user?: string): number {
    const users = this.#callers.get(caller);
    if (user !== undefined) return users?.get(user)?.size ?? 0;
    let size = 0;
    for (const items of users?.values() ?? []) size += items.size;
    return size;
  }

  /**
   * True if there is no place for one more item of a user. One caller may take half of the `most` places, and one user
   * a quarter. An unproven key is not held to a quarter, because it has few calls at a time anyway. `taken` is the
   * number of places taken in all queues that share them.
   */
  isFull(most: number, { caller, user }: Queued, taken = this.#size): boolean {
    if (taken < most / 4) return false;
    if (taken >= most || this.sizeOf(caller) >= most / 2) return true;
    return user !== '' && caller !== unproven && this.sizeOf(caller, user) >= most / 4;
  }

  add(item: Item): void {
    const users = this.#callers.get(item.caller) ?? new Map<string, Set<Item>>();
    this.#callers.set(item.caller, users);
    const items = users.get(item.user) ?? new Set<Item>();
    users.set(item.user, items);
    items.add(item);
    this.#size += 1;
  }

  delete(item: Item): void {
    const users = this.#callers.get(item.caller);
    const items = users?.get(item.user);
    if (users === undefined || items?.delete(item) !== true) return;
    this.#size -= 1;
    if (items.size === 0) users.delete(item.user);
    if (users.size === 0) this.#callers.delete(item.caller);
  }

  /** The next item whose caller may go. */
  next(mayGo: (caller: string) => boolean): Item | undefined {
    for (const [caller, users] of this.#callers) {
      if (!mayGo(caller)) continue;
      for (const items of users.values()) for (const item of items) return item;
    }
    return undefined;
  }

  /**
   * Removes an item that had its turn. Its caller moves behind all other callers, and its user behind the other users
   * of this caller.
   */
  served(item: Item): void {
    this.delete(item);
    const users = this.#callers.get(item.caller);
    if (users === undefined) return;
    moveBehind(users, item.user);
    moveBehind(this.#callers, item.caller);
  }

  /** All waiting items, in the order of their turns. */
  inOrder(): readonly Item[] {
    return alternate(
      [...this.#callers.values()].map((users) => alternate([...users.values()].map((items) => [...items]))),
    );
  }
}

function moveBehind<T>(map: Map<string, T>, name: string): void {
  const value = map.get(name);
  if (value !== undefined && map.delete(name)) map.set(name, value);
}

function alternate<T>(lists: readonly (readonly T[])[]): readonly T[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  const all: T[] = [];
  for (let at = 0; at < longest; at += 1) {
    for (const list of lists) {
      const one = list[at];
      if (one !== undefined) all.push(one);
    }
  }
  return all;
}
