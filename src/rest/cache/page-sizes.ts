import { LRUCache } from 'lru-cache';

/** The memory for the sizes, and the overhead of a list beside its name, in bytes. */
const mostBytes = 2 * 2 ** 20;
const bytesOfList = 600;

/** The most sizes that are remembered of one list. Documents ask for few. */
const mostSizes = 8;

/** A size in which pages of a list are kept, or asked for. */
interface KnownSize {
  readonly size: number;
  /** The last time at which an operation asked for it, in milliseconds; negative infinity if none has. */
  askedAt: number;
}

const sizePattern = /\?limit=(\d+)/;

/** The sizes in which pages of lists have lately been asked for and kept, by target without the size. */
export class PageSizes {
  readonly #sizes = new LRUCache<string, readonly KnownSize[]>({
    maxSize: mostBytes,
    sizeCalculation: (_sizes, name) => 2 * name.length + bytesOfList,
  });

  /** Notes that the answer to this target is kept. */
  note(target: string): void {
    const size = sizeIn(target);
    if (size !== undefined) this.#learn(nameOf(target), size);
  }

  /** Notes that an operation asks for a target now. Returns the known larger sizes, the smallest first. */
  ask(target: string, now: number): readonly number[] {
    const size = sizeIn(target);
    if (size === undefined) return none;
    const name = nameOf(target);
    this.#learn(name, size).askedAt = now;
    return this.#above(name, size);
  }

  /** The targets of the larger pages that hold what is at a target, the smallest first. */
  larger(target: string): readonly string[] {
    const size = sizeIn(target);
    return size === undefined ? [] : this.#above(nameOf(target), size).map((one) => withSize(target, one));
  }

  /** The targets of pages of the same list in other sizes. */
  others(target: string): readonly string[] {
    const sizes = sizesOf(this.#sizes.get(nameOf(target)) ?? []);
    return sizes.map((size) => withSize(target, size)).filter((other) => other !== target);
  }

  /** The targets in those sizes of the same list that operations have asked for since a time, the smallest first. */
  askedSince(target: string, since: number): readonly string[] {
    const known = this.#sizes.get(nameOf(target)) ?? [];
    return sizesOf(known.filter(({ askedAt }) => askedAt >= since)).map((size) => withSize(target, size));
  }

  #above(name: string, size: number): readonly number[] {
    const known = this.#sizes.get(name) ?? [];
    return known.every((one) => one.size <= size) ? none : sizesOf(known.filter((one) => one.size > size));
  }

  #learn(name: string, size: number): KnownSize {
    const known = this.#sizes.get(name) ?? [];
    const before = known.find((one) => one.size === size);
    if (before !== undefined) return before;
    const learned: KnownSize = { size, askedAt: Number.NEGATIVE_INFINITY };
    this.#sizes.set(name, [...known.slice(1 - mostSizes), learned]);
    return learned;
  }
}

const none: readonly number[] = [];

function sizesOf(known: readonly KnownSize[]): readonly number[] {
  return known.map(({ size }) => size).toSorted((one, other) => one - other);
}

function withSize(target: string, size: number): string {
  return target.replace(sizePattern, `?limit=${size}`);
}

function sizeIn(target: string): number | undefined {
  const digits = sizePattern.exec(target)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

function nameOf(target: string): string {
  return target.replace(sizePattern, '?');
}
