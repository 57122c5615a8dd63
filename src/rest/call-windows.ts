import type { LedgerCall, Outlook, Want, WindowLimit } from './ledger.ts';

/** A counted call. All logs that count the call share this object. */
export interface CountedCall extends LedgerCall {
  /** The time on the clock of `performance.now()`, in milliseconds. */
  readonly beganAt: number;
  /** The time on the same clock. Infinite while the call is in flight; `notSent` if it was not sent after all. */
  endedAt: number;
}

/** The end of a call that was not sent after all, so that no log counts it. */
export const notSent = Number.NEGATIVE_INFINITY;

/** The calls of a `Want`, in the form in which logs count them. */
export function callsOf({ key, subject, bySurface }: Want, beganAt: number, endedAt: number): readonly CountedCall[] {
  return bySurface.flatMap(({ surface, ids }) => ids.map((id) => ({ id, key, surface, subject, beganAt, endedAt })));
}

/** Once this many ended calls have left every window, they are dropped together. */
const pruneThreshold = 64;

/**
 * A sliding log of calls over several windows. A call counts from its beginning until one window after its end. The
 * upstream counts the call at some moment between its beginning and its end. So the upstream, too, finds no more calls
 * in any window than the log allows. Arrays of limits are in the order of the windows.
 */
export class CallWindows {
  readonly #windows: readonly WindowLimit[];
  readonly #longestCallMs: number;
  /** In the order of their beginning. */
  readonly #inFlight = new Map<string, CountedCall>();
  /** In the order of their end. */
  readonly #ended: CountedCall[] = [];
  readonly #longestWindowMs: number;

  /** A call without an answer for `longestCallMs` milliseconds counts as ended then. */
  constructor(windows: readonly WindowLimit[], longestCallMs: number) {
    this.#windows = windows;
    this.#longestCallMs = longestCallMs;
    this.#longestWindowMs = Math.max(...windows.map(({ ms }) => ms));
  }

  /** The calls that count in the longest window; those in flight come last. */
  calls(now: number): readonly CountedCall[] {
    return [...this.#ended.slice(this.#indexAfter(now - this.#longestWindowMs)), ...this.#inFlight.values()];
  }

  begin(call: CountedCall): void {
    this.#inFlight.set(call.id, call);
  }

  /** Ends a call, or removes it if it was not sent. Returns the call; undefined if no call of this id is in flight. */
  end(id: string, endedAt: number): CountedCall | undefined {
    const call = this.#inFlight.get(id);
    if (call === undefined) return undefined;
    this.#inFlight.delete(id);
    call.endedAt = Math.min(call.endedAt, endedAt);
    if (call.endedAt !== notSent) this.#log(call);
    return call;
  }

  /** Milliseconds until `n` further calls can begin at the earliest; 0 if they can begin now. */
  waitMs(now: number, limits: readonly number[], n: number): number {
    this.#update(now);
    let longest = 0;
    for (const [index, { ms }] of this.#windows.entries())
      longest = Math.max(longest, this.#waitMsOf(now, ms, limits[index] ?? 0, n));
    return longest;
  }

  outlook(now: number, limits: readonly number[]): Outlook {
    this.#update(now);
    return this.#windows.map(({ ms }, index) => {
      const limit = limits[index] ?? 0;
      const first = this.#indexAfter(now - ms);
      return {
        ...{ ms, limit, remaining: Math.max(0, limit - this.#countedFrom(first)) },
        resetsInMs: this.#emptyIn(first, ms, now),
      };
    });
  }

  #waitMsOf(now: number, ms: number, limit: number, n: number): number {
    // Only calls in the background can have a limit of 0, and they do not wait.
    if (limit === 0) return ms;
    const first = this.#indexAfter(now - ms);
    // The calls beyond `limit` have to wait for later windows.
    const fullWindows = Math.floor((n - 1) / limit);
    const leaving = this.#countedFrom(first) + n - fullWindows * limit - limit;
    if (leaving <= 0) return fullWindows * ms;
    const last = this.#ended[first + leaving - 1];
    // A call in flight counts for at least one more window.
    return fullWindows * ms + (last === undefined ? ms : last.endedAt + ms - now);
  }

  #countedFrom(first: number): number {
    return this.#inFlight.size + this.#ended.length - first;
  }

  #emptyIn(first: number, ms: number, now: number): number {
    if (this.#inFlight.size > 0) return ms;
    const last = this.#ended.at(-1);
    return last === undefined || first === this.#ended.length ? 0 : last.endedAt + ms - now;
  }

  /** Ends calls that have had no answer for too long, and forgets calls that have left every window. */
  #update(now: number): void {
    for (const { id, beganAt } of this.#inFlight.values()) {
      const end = beganAt + this.#longestCallMs;
      if (end > now) break;
      this.end(id, end);
    }
    const past = this.#indexAfter(now - this.#longestWindowMs);
    if (past >= pruneThreshold) this.#ended.splice(0, past);
  }

  /**
   * Inserts an ended call in the order of the ends, nearly always as the last one. The end that `#update` gives a call
   * without an answer may lie before the ends of other calls.
   */
  #log(call: CountedCall): void {
    let at = this.#ended.length;
    while (at > 0 && (this.#ended[at - 1]?.endedAt ?? 0) > call.endedAt) at -= 1;
    if (at === this.#ended.length) this.#ended.push(call);
    else this.#ended.splice(at, 0, call);
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
