/** An item that waits for its turn. */
export interface Queued {
  /** The queue key of a tenant or of a key, or `unproven`. Parties take turns. */
  readonly party: string;
  /**
   * The user for whom the item waits, or `agents` for all agents; empty if the party has no users. For
   * `unproven`, it is the queue key of the unproven key.
   */
  readonly user: string;
}

/**
 * The one party that stands for all unproven keys. Each of the keys is one of its users. If each were a party, anyone
 * could take all turns with invented keys.
 */
export const unproven = '';

/** A queue in which parties take turns, and so do the users of each party. The items of one user keep their order. */
export class FairQueue<Item extends Queued> {
  /** Parties, and the users of each, in the order of their turns. */
  readonly #parties = new Map<string, Map<string, Set<Item>>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The number of parties with waiting items. */
  get parties(): number {
    return this.#parties.size;
  }

  /** The number of items that wait for a party, or for one of its users. */
  sizeOf(party: string, user?: string): number {
    const users = this.#parties.get(party);
    if (user !== undefined) return users?.get(user)?.size ?? 0;
    let size = 0;
    for (const items of users?.values() ?? []) size += items.size;
    return size;
  }

  /**
   * True if there is no place for one more item of a user. One party may take half of the `most` places, and one user
   * a quarter. An unproven key is not held to a quarter, because it has few calls at a time anyway. `taken` is the
   * number of places taken in all queues that share them.
   */
  isFull(most: number, { party, user }: Queued, taken = this.#size): boolean {
    if (taken < most / 4) return false;
    if (taken >= most || this.sizeOf(party) >= most / 2) return true;
    return user !== '' && party !== unproven && this.sizeOf(party, user) >= most / 4;
  }

  add(item: Item): void {
    const users = this.#parties.get(item.party) ?? new Map<string, Set<Item>>();
    this.#parties.set(item.party, users);
    const items = users.get(item.user) ?? new Set<Item>();
    users.set(item.user, items);
    items.add(item);
    this.#size += 1;
  }

  delete(item: Item): void {
    const users = this.#parties.get(item.party);
    const items = users?.get(item.user);
    if (users === undefined || items?.delete(item) !== true) return;
    this.#size -= 1;
    if (items.size === 0) users.delete(item.user);
    if (users.size === 0) this.#parties.delete(item.party);
  }

  /** The next item whose party may go. */
  next(mayGo: (party: string) => boolean): Item | undefined {
    for (const [party, users] of this.#parties) {
      if (!mayGo(party)) continue;
      for (const items of users.values()) for (const item of items) return item;
    }
    return undefined;
  }

  /**
   * Removes an item that had its turn. Its party moves behind all other parties, and its user behind the other users
   * of this party.
   */
  served(item: Item): void {
    this.delete(item);
    const users = this.#parties.get(item.party);
    if (users === undefined) return;
    moveBehind(users, item.user);
    moveBehind(this.#parties, item.party);
  }

  /** All waiting items, in the order of their turns. */
  inOrder(): readonly Item[] {
    return alternate(
      [...this.#parties.values()].map((users) => alternate([...users.values()].map((items) => [...items]))),
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
