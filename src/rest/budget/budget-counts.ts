import type { Refusal } from '../errors.ts';
import type { Surface } from '../operation-ids.ts';
import { surfaces } from './settings.ts';

/**
 * Counts the refusals and waits because of spent budgets since the start, and the least that was left in the last
 * minute, by surface.
 */
export class BudgetCounts {
  /** Operations that were refused before their first call, and calls that were refused later. */
  readonly refusals = noneOfAll();
  /** Calls that waited. */
  readonly waits = noneOfAll();
  readonly #left = new Map<Surface, RecentLeast>();

  refused({ shortage }: Refusal): void {
    if (shortage === undefined) return;
    const { surface } = shortage;
    this.refusals.set(surface, (this.refusals.get(surface) ?? 0) + 1);
    this.found(surface, 0);
  }

  waited(surface: Surface): void {
    this.waits.set(surface, (this.waits.get(surface) ?? 0) + 1);
  }

  /** Notes the share of a window that was left after calls had begun, from 0 to 1. */
  found(surface: Surface, left: number): void {
    const least = this.#left.get(surface) ?? new RecentLeast();
    this.#left.set(surface, least);
    least.add(left);
  }

  /** The least share of a window that was left in the last minute, over all keys. */
  left(): ReadonlyMap<Surface, number> {
    const found = [...this.#left].map(([surface, { value }]) => [surface, value] as const);
    return new Map(found.filter((one): one is readonly [Surface, number] => one[1] !== undefined));
  }
}

function noneOfAll(): Map<Surface, number> {
  return new Map(surfaces.map((surface) => [surface, 0]));
}

/** Half of the time for which a value counts, in milliseconds. */
const halfMs = 30_000;

/** The least value of the last 30 to 60 seconds. Needs no timer. */
export class RecentLeast {
  readonly #now: () => number;
  #since: number;
  #current = Number.POSITIVE_INFINITY;
  #before = Number.POSITIVE_INFINITY;

  /** `now` is a clock in milliseconds that never goes back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#since = now();
  }

  add(value: number): void {
    this.#forget();
    if (value < this.#current) this.#current = value;
  }

  /** Undefined if there were no values. */
  get value(): number | undefined {
    this.#forget();
    const least = Math.min(this.#current, this.#before);
    return least === Number.POSITIVE_INFINITY ? undefined : least;
  }

  #forget(): void {
    const age = this.#now() - this.#since;
    if (age < halfMs) return;
    this.#before = age < 2 * halfMs ? this.#current : Number.POSITIVE_INFINITY;
    this.#current = Number.POSITIVE_INFINITY;
    this.#since += Math.floor(age / halfMs) * halfMs;
  }
}
