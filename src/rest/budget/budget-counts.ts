import type { Surface } from '../operation-ids.ts';
import { surfaces } from './settings.ts';

/** What a spent budget has led to since the start, by surface. */
export class BudgetCounts {
  /** Operations that were refused before their first call, and calls that were refused under way. */
  readonly refusals = noneOfAll();
  /** Calls that waited. */
  readonly waits = noneOfAll();

  refused(surface: Surface): void {
    this.refusals.set(surface, (this.refusals.get(surface) ?? 0) + 1);
  }

  waited(surface: Surface): void {
    this.waits.set(surface, (this.waits.get(surface) ?? 0) + 1);
  }
}

function noneOfAll(): Map<Surface, number> {
  return new Map(surfaces.map((surface) => [surface, 0]));
}
