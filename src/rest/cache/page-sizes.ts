import { LRUCache } from 'lru-cache';

/** Memory for the sizes, in bytes, and what a list takes beside its name. */
const mostBytes = 2 * 2 ** 20;
const bytesOfList = 200;

/** Sizes that are remembered of one list: documents ask for few. */
const mostSizes = 8;

const sizePattern = /\?limit=(\d+)/;

/** In which sizes pages have been kept lately, by all that their targets say beside that. */
export class PageSizes {
  readonly #sizes = new LRUCache<string, readonly number[]>({
    maxSize: mostBytes,
    sizeCalculation: (_sizes, name) => 2 * name.length + bytesOfList,
  });

  /** The answer to this target is kept. */
  note(target: string): void {
    const size = sizeIn(target);
    if (size === undefined) return;
    const name = nameOf(target);
    const known = this.#sizes.get(name) ?? [];
    if (known.includes(size)) return;
    const latest = [...known.slice(1 - mostSizes), size];
    this.#sizes.set(name, latest);
  }

  /** The sizes above that of a target, the smallest first. */
  above(target: string): readonly number[] {
    const size = sizeIn(target);
    const known = size === undefined ? undefined : this.#sizes.get(nameOf(target));
    if (size === undefined || known === undefined || known.every((one) => one <= size)) return [];
    return known.filter((one) => one > size).toSorted((one, other) => one - other);
  }

  /** The targets of the larger pages that hold what is at a target, the smallest first. */
  larger(target: string): readonly string[] {
    return this.above(target).map((size) => target.replace(sizePattern, `?limit=${size}`));
  }
}

function sizeIn(target: string): number | undefined {
  const digits = sizePattern.exec(target)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

function nameOf(target: string): string {
  return target.replace(sizePattern, '?');
}
