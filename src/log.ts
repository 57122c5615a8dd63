import { RecentMap } from './recent-map.ts';

/** Writes a line for operators. `fields` are added to the line beside the message. Callers never pass an API key. */
export type Log = (level: 'info' | 'warn' | 'error' | 'fatal', message: string, fields?: object) => void;

/** The time within which the same reason is not logged again, in milliseconds. Some things fail for hours. */
const quietMs = 60_000;

const mostReasons = 1000;

/** Limits repeated failures in the log: each reason is logged at most once a minute. */
export class LogThrottle {
  readonly #logged = new RecentMap<string, true>({ entries: mostReasons, forMs: quietMs });

  /** True if a line about this reason may be logged now. The reason is then noted as logged. */
  mayLog(reason: string): boolean {
    const isDue = !this.#logged.has(reason);
    if (isDue) this.#logged.set(reason, true);
    return isDue;
  }

  /**
   * True at the first failure of an outage. It is for outages whose end cannot be seen: such an outage counts as over
   * after a minute without a failure.
   */
  mayLogFirst(reason: string): boolean {
    const isFirst = !this.#logged.has(reason);
    this.#logged.set(reason, true);
    return isFirst;
  }
}
