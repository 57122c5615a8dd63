import { LRUCache } from 'lru-cache';

/** What a renewal replaced, and whether it counts for nothing. */
interface Renewal {
  readonly before: string;
  isUndone: boolean;
}

/** Most renewals that can be undone: writes that get no connection fail within seconds. */
const mostRenewals = 10_000;

/** What the renewals of epochs replaced, so that those whose writes were never sent can be undone, in any order. */
export class Renewals {
  readonly #renewals = new LRUCache<string, Renewal>({ max: mostRenewals });

  /** An epoch has taken the place of another one. */
  note(renewed: string, before: string): void {
    this.#renewals.set(renewed, { before, isUndone: false });
  }

  /** A renewal was for nothing. Returns what was there before it and before others that were; undefined if it is forgotten. */
  undo(renewed: string): string | undefined {
    const renewal = this.#renewals.get(renewed);
    if (renewal === undefined) return undefined;
    renewal.isUndone = true;
    let { before } = renewal;
    for (;;) {
      const earlier = this.#renewals.get(before);
      if (earlier?.isUndone !== true) return before;
      before = earlier.before;
    }
  }
}
