import { LRUCache } from 'lru-cache';

/** Memory for the sizes, in bytes, and what a list takes beside its name. */
const mostBytes = 2 * 2 ** 20;
const bytesOfList = 600;

/** Sizes that are remembered of one list: documents ask for few. */
const mostSizes = 8;

/** A size in which pages of a list are kept, or asked for. */
interface KnownSize {
  readonly size: number;
  /** When an operation wanted it last, in milliseconds; before all times if none has. */
  askedAt: number;
}

const sizePattern = /\?limit=(\d+)/;

/** In which sizes pages have been asked for and kept lately, by all that their targets say beside that. */
export class PageSizes {
  readonly #sizes = new LRUCache<string, readonly KnownSize[]>({
    maxSize: mostBytes,
    sizeCalculation: (_sizes, name) => 2 * name.length + bytesOfList,
  });

  /** The answer to this target is kept. */
  note(target: string): void {
    const size = sizeIn(target);
    if (size !== undefined) this.#learn(nameOf(target), size);
  }

  /** An operation wants what is at a target now. Returns the sizes above that, the smallest first. */
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

  /** The targets that differ from this one by sizes that operations have asked for since then, the smallest first. */
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
