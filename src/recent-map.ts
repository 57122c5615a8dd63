import { LRUCache } from 'lru-cache';

/** The limits of a map. At least one of `entries` and `size` is needed. */
interface Limits<Key, Value> {
  readonly entries?: number;
  /** The most that the sizes of all entries may add up to. */
  readonly size?: number;
  /** The size of an entry, unless `set` is given one. */
  readonly sizeOf?: (value: Value, key: Key) => number;
  /** The time after which an entry is forgotten, in milliseconds. */
  readonly forMs?: number;
}

/** A map with limits: the least recently used entry makes room for a new one. */
export class RecentMap<Key extends string, Value extends object | string | number | symbol | boolean> extends LRUCache<
  Key,
  Value
> {
  constructor({ entries = 0, size, sizeOf, forMs: ttl = 0 }: Limits<Key, Value>) {
    // With `max` alone, LRUCache would allocate memory for that many entries at once.
    if (size === undefined) super({ maxSize: entries, sizeCalculation: () => 1, ttl });
    else super({ max: entries, maxSize: size, ttl, ...(sizeOf && { sizeCalculation: sizeOf }) });
  }
}
