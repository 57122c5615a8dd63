import type { RefusedCall } from '../errors.ts';
import { type Surface, surfaces } from '../rest-operations.ts';

/** The time for which a noted share of a window counts, in milliseconds. */
const recentMs = 60_000;

/**
 * Counts, by surface, the refusals and waits since the start that were due to a used-up budget. Also notes the least
 * share that any window of a surface had left in the last minute.
 */
export class BudgetCounts {
  /** The number of operations refused before their first call, plus the number of calls refused later, by surface. */
  readonly refusals = noneOfAll();
  /** The number of calls that waited, by surface. */
  readonly waits = noneOfAll();
  readonly #least = new Map<Surface, { readonly left: number; readonly until: number }>();

  refused({ shortage }: RefusedCall): void {
    if (shortage === undefined) return;
    const { surface } = shortage;
    this.refusals.set(surface, (this.refusals.get(surface) ?? 0) + 1);
    this.noteLeft(surface, 0);
  }

  waited(surface: Surface): void {
    this.waits.set(surface, (this.waits.get(surface) ?? 0) + 1);
  }

  /** Notes the share of a window that is left, from 0 to 1. */
  noteLeft(surface: Surface, left: number): void {
    const now = performance.now();
    const least = this.#least.get(surface);
    if (least === undefined || left <= least.left || least.until <= now)
      this.#least.set(surface, { left, until: now + recentMs });
  }

  /** The least share of a window that was left in the last minute, over all keys. */
  leastLeft(): ReadonlyMap<Surface, number> {
    const now = performance.now();
    const recent = [...this.#least].filter(([, { until }]) => until > now);
    return new Map(recent.map(([surface, { left }]) => [surface, left]));
  }
}

function noneOfAll(): Map<Surface, number> {
  return new Map(surfaces.map((surface) => [surface, 0]));
}
