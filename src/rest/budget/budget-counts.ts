import type { Surface } from '../operation-ids.ts';
import type { Outlooks } from './call-budget.ts';
import { RecentLeast } from './recent-least.ts';
import { surfaces } from './settings.ts';

/** What a spent budget has led to since the start, and what was left lately, by surface. */
export class BudgetCounts {
  /** Operations that were refused before their first call, and calls that were refused under way. */
  readonly refusals = noneOfAll();
  /** Calls that waited. */
  readonly waits = noneOfAll();
  readonly #left = new Map<Surface, RecentLeast>();

  refused(surface: Surface): void {
    this.refusals.set(surface, (this.refusals.get(surface) ?? 0) + 1);
  }

  waited(surface: Surface): void {
    this.waits.set(surface, (this.waits.get(surface) ?? 0) + 1);
  }

  /** An operation has found so much left. */
  found(outlooks: Outlooks): void {
    for (const [surface, { windows }] of outlooks) {
      let least = this.#left.get(surface);
      if (least === undefined) this.#left.set(surface, (least = new RecentLeast()));
      for (const { remaining, limit } of windows) least.add(limit > 0 ? remaining / limit : 0);
    }
  }

  /** The least share of a window that an operation has found left in the last minute, whichever key it had. */
  left(): ReadonlyMap<Surface, number> {
    const found = [...this.#left].map(([surface, { value }]) => [surface, value] as const);
    return new Map(found.filter((one): one is readonly [Surface, number] => one[1] !== undefined));
  }
}

function noneOfAll(): Map<Surface, number> {
  return new Map(surfaces.map((surface) => [surface, 0]));
}
