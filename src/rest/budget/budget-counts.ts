import type { RefusedCall } from '../errors.ts';
import { type Surface, surfaces } from '../rest-operations.ts';

/** The time for which `leastLeft` considers a noted share, in milliseconds. */
const recentMs = 60_000;

/**
 * Counts, by surface, the refusals and waits since the start that were due to a lack of budget. Also notes the shares
 * of the budget that were left.
 */
export class BudgetCounts {
  /** Operations refused before their first call, and calls refused later. */
  readonly refusals = noneOfAll();
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

  /** The least share that a window of any key had left in the last minute. */
  leastLeft(): ReadonlyMap<Surface, number> {
    const now = performance.now();
    const recent = [...this.#least].filter(([, { until }]) => until > now);
    return new Map(recent.map(([surface, { left }]) => [surface, left]));
  }
}

function noneOfAll(): Map<Surface, number> {
  return new Map(surfaces.map((surface) => [surface, 0]));
}
