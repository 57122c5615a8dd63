import { longestReconnectMs } from '../../redis.ts';
import type { ScriptReply } from './redis-script.ts';
import type { BudgetWindow } from './settings.ts';

/** A limit that holds nothing back: another one does. */
const unlimited = Number.MAX_SAFE_INTEGER;

/** Within that time all gateways that have lost Redis have found it again and sent it their calls, in milliseconds. */
export const othersBackMs = longestReconnectMs + 500;

/**
 * How much a gateway may do by itself. What Redis knows is all that counts once every gateway has sent it the calls that it
 * knows of, or once its state is older than a window, in which all earlier calls have left. Until then, and while Redis cannot
 * be reached, a gateway has its part of each window, and of a window in which others may have used all, nothing.
 */
export class Membership {
  readonly #replicas: number;
  readonly #now: () => number;
  /** The state in Redis that it has joined. */
  #born: string | undefined;
  #bornAt = Number.NEGATIVE_INFINITY;
  #isComplete = false;
  /** When it was last on its own after it had been joined; never at first. */
  #leftAt = Number.NEGATIVE_INFINITY;
  /** When it was joined again after that. */
  #backAt = Number.NEGATIVE_INFINITY;

  constructor(replicas: number, now: () => number) {
    this.#replicas = replicas;
    this.#now = now;
  }

  /** The state that it has joined; undefined if it is on its own. */
  get born(): string | undefined {
    return this.#born;
  }

  /** Redis cannot be reached, or has lost its state. */
  leave(): void {
    if (this.#born === undefined) return;
    this.#born = undefined;
    this.#leftAt = this.#now();
  }

  /** Redis has answered. */
  heard({ born, joined }: ScriptReply): void {
    if (joined === undefined) return;
    if (born !== this.#born) this.#isComplete = false;
    if (this.#born === undefined) this.#backAt = this.#now();
    this.#born = born;
    this.#bornAt = this.#now() - joined.ageMs;
    this.#isComplete ||= joined.gateways >= this.#replicas;
  }

  /** The limits that it keeps by itself. */
  limitsOf(windows: readonly BudgetWindow[]): readonly number[] {
    return windows.map((window) => {
      if (this.#isWhole(window)) return unlimited;
      return this.#emptyIn(window) > 0 ? 0 : this.#partOf(window);
    });
  }

  /**
   * Milliseconds until calls that others have made, and that it does not know, have left all windows. A window of which its
   * part is nothing may be asked about again in another one.
   */
  waitMs(windows: readonly BudgetWindow[]): number {
    const waits = windows
      .filter((window) => !this.#isWhole(window))
      .map((window) => Math.max(this.#emptyIn(window), this.#partOf(window) === 0 ? window.ms : 0));
    return Math.max(0, ...waits);
  }

  #partOf({ limit }: BudgetWindow): number {
    return Math.floor(limit / this.#replicas);
  }

  #emptyIn({ ms }: BudgetWindow): number {
    return Math.max(0, this.#leftAt + ms - this.#now());
  }

  #isWhole({ ms }: BudgetWindow): boolean {
    if (this.#born === undefined || this.#awaitsOthers(ms)) return false;
    return this.#isComplete || this.#now() - this.#bornAt >= ms + longestReconnectMs;
  }

  /** Whether others that have lost Redis, too, may have made calls of their part that they have not sent yet. */
  #awaitsOthers(ms: number): boolean {
    const wereOnTheirOwn = Number.isFinite(this.#leftAt) && this.#backAt - this.#leftAt >= ms;
    return wereOnTheirOwn && this.#now() - this.#backAt < othersBackMs;
  }
}
