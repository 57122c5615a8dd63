import type { CountedCall } from './ledger.ts';
import type { WindowState } from './outlook.ts';
import type { BudgetWindow } from './settings.ts';

/** The number of ended calls outside of all windows at which they are dropped together. */
const dropped = 64;

/**
 * A sliding log of calls over windows of several lengths. A call counts from its beginning until one window after its end.
 * The service counts it at some moment between beginning and end, so no span of the service's clock holds more calls than
 * the log allows.
 */
export class CallWindows {
  readonly #windows: readonly BudgetWindow[];
  readonly #longestCallMs: number;
  /** In the order of their beginning. */
  readonly #inFlight = new Set<CountedCall>();
  /** In the order of their end. */
  readonly #ended: CountedCall[] = [];
  readonly #longestWindowMs: number;
  /** The number of ended calls that had left every window when the windows were last looked at. */
  #past = 0;

  /** A call without an answer for `longestCallMs` milliseconds counts as ended then. */
  constructor(windows: readonly BudgetWindow[], longestCallMs: number) {
    this.#windows = windows;
    this.#longestCallMs = longestCallMs;
    this.#longestWindowMs = Math.max(...windows.map(({ ms }) => ms));
  }

  /** The calls that count in the longest window; those in flight come last. */
  get calls(): readonly CountedCall[] {
    return [...this.#ended.slice(this.#past), ...this.#inFlight];
  }

  /** Counts a call that begins. */
  begin(call: CountedCall): void {
    this.#inFlight.add(call);
  }

  /** Moves a call to the ended ones, at its `endedAt`. */
  end(call: CountedCall): void {
    if (this.#inFlight.delete(call)) this.#log(call);
  }

  /** Removes a call that began but was not sent. */
  drop(call: CountedCall): void {
    this.#inFlight.delete(call);
  }

  /** The present state of each window, under the given limits if there are any. */
  states(now: number, limits?: readonly number[]): readonly WindowState[] {
    this.#endOverdue(now);
    this.#forget(now);
    return this.#windows.map(({ limit, ms }, index) => {
      const first = this.#indexAfter(now - ms);
      return {
        limit: limits?.[index] ?? limit,
        ms,
        counted: this.#inFlight.size + this.#ended.length - first,
        emptyIn: this.#emptyIn(first, ms, now),
        leavesIn: (n) => {
          const call = this.#ended[first + n];
          return call && call.endedAt + ms - now;
        },
      };
    });
  }

  #emptyIn(first: number, ms: number, now: number): number {
    if (this.#inFlight.size > 0) return ms;
    const last = this.#ended.at(-1);
    return last === undefined || first === this.#ended.length ? 0 : last.endedAt + ms - now;
  }

  #endOverdue(now: number): void {
    for (const call of this.#inFlight) {
      const end = call.beganAt + this.#longestCallMs;
      if (end > now) return;
      call.endedAt = Math.min(call.endedAt, end);
      this.end(call);
    }
  }

  /** Adds an ended call in order. It nearly always goes to the end; one without an answer may have ended before others. */
  #log(call: CountedCall): void {
    let at = this.#ended.length;
    while (at > 0 && (this.#ended[at - 1]?.endedAt ?? 0) > call.endedAt) at -= 1;
    if (at === this.#ended.length) this.#ended.push(call);
    else this.#ended.splice(at, 0, call);
    if (at < this.#past) this.#past += 1;
  }

  #forget(now: number): void {
    this.#past = this.#indexAfter(now - this.#longestWindowMs);
    if (this.#past < dropped) return;
    this.#ended.splice(0, this.#past);
    this.#past = 0;
  }

  /** The index of the first call that ended after a time. */
  #indexAfter(time: number): number {
    let [from, to] = [0, this.#ended.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if ((this.#ended[middle]?.endedAt ?? 0) <= time) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}
