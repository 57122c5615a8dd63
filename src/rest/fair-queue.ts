/** Something that waits for its turn. */
export interface Queued {
  readonly caller: string;
  /** The user of a tenant that it waits for; empty if callers bring their own key. */
  readonly user: string;
}

/** Waits in a fair order: callers take turns, so do the users of each, and what one user waits for goes in its order. */
export class FairQueue<Item extends Queued> {
  /** Callers, and the users of each, in the order of their turns. */
  readonly #callers = new Map<string, Map<string, Set<Item>>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** How many callers wait. */
  get callers(): number {
    return this.#callers.size;
  }

  /** How much waits for a caller, or for one user of it. */
  sizeOf(caller: string, user?: string): number {
    const users = this.#callers.get(caller);
    if (user !== undefined) return users?.get(user)?.size ?? 0;
    let size = 0;
    for (const items of users?.values() ?? []) size += items.size;
    return size;
  }

  /**
   * True if no more may wait for a user of a caller, of `most` places in all: one caller has half of them, and one user of a
   * tenant a quarter. `taken` are the places that are taken in all queues that share them.
   */
  isFull(most: number, { caller, user }: Queued, taken = this.#size): boolean {
    if (taken < most / 4) return false;
    if (taken >= most || this.sizeOf(caller) >= most / 2) return true;
    return user !== '' && this.sizeOf(caller, user) >= most / 4;
  }

  add(item: Item): void {
    const users = this.#callers.get(item.caller) ?? new Map<string, Set<Item>>();
    this.#callers.set(item.caller, users);
    const items = users.get(item.user) ?? new Set<Item>();
    users.set(item.user, items);
    items.add(item);
    this.#size += 1;
  }

  has(item: Item): boolean {
    return this.#callers.get(item.caller)?.get(item.user)?.has(item) === true;
  }

  /** It waits no more; false if it did not. */
  delete(item: Item): boolean {
    const users = this.#callers.get(item.caller);
    const items = users?.get(item.user);
    if (users === undefined || items?.delete(item) !== true) return false;
    this.#size -= 1;
    if (items.size === 0) users.delete(item.user);
    if (users.size === 0) this.#callers.delete(item.caller);
    return true;
  }

  /** What is next, of the callers that may go. */
  next(mayGo: (caller: string) => boolean): Item | undefined {
    for (const [caller, users] of this.#callers) {
      if (!mayGo(caller)) continue;
      for (const items of users.values()) for (const item of items) return item;
    }
    return undefined;
  }

  /** It has had its turn: the next one is another caller's, and of its caller another user's. */
  served(item: Item): void {
    this.delete(item);
    const users = this.#callers.get(item.caller);
    if (users === undefined) return;
    moveBehind(users, item.user);
    moveBehind(this.#callers, item.caller);
  }

  /** All that waits, in the order of the turns. */
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

/** One of each list in turn, until none is left. */
function alternate<T>(lists: readonly (readonly T[])[]): readonly T[] {
  const [only] = lists;
  if (only !== undefined && lists.length === 1) return only;
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
