import { type GeneratorValue, integer } from 'fast-check';

/** Random choices that fast-check makes and makes smaller. It compares what it is given, so it gets only numbers. */
export class Random {
  readonly #g: GeneratorValue;

  constructor(g: GeneratorValue) {
    this.#g = g;
  }

  /** A whole number, both ends included. */
  number(min: number, max: number): number {
    return this.#g(integer, { min, max });
  }

  /** True once in `times` calls, on average. */
  once(times: number): boolean {
    return this.number(0, times - 1) === times - 1;
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.number(0, items.length - 1)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  }
}
