/** How often tails are polled. */
export interface PaceOptions {
  /** Time between two polls of a tail, in milliseconds. */
  readonly pollMs: number;
  /**
   * How many times slower than that a key is polled, by its sharing key, because its budget shrinks; at least 1. Without
   * it a key has no budget, and is polled 60 times a minute at most.
   */
  readonly slownessOf?: ((sharingKey: string) => number | Promise<number>) | undefined;
  /** A clock in milliseconds that never goes back. */
  readonly now: () => number;
}

const minuteMs = 60_000;

/** Polls of a key in a minute, if no budget says how many it may make. */
const mostPolls = 60;

/** Time between two of them that are spread over the minute. */
const spacingMs = minuteMs / mostPolls;

/** What is known of the polls of one key. */
interface Polls {
  tails: number;
  /** Polls that have begun and are not answered yet. */
  inFlight: number;
  /** When calls were answered in the last minute, the oldest first. */
  readonly answeredAt: number[];
}

/**
 * Keeps the polls of all tails within what their keys may have. Each REST call of a poll counts, for a busy list takes
 * several, and until a minute after its answer: nothing says when in between it arrived at the upstream. Tails of one key are
 * spread, so that none of them waits for the others.
 */
export class Pace {
  readonly #options: PaceOptions;
  readonly #byKey = new Map<string, Polls>();

  constructor(options: PaceOptions) {
    this.#options = options;
  }

  /** One more tail is polled with a key. */
  join(key: string): void {
    this.#forgetIdle();
    const polls = this.#byKey.get(key) ?? { tails: 0, inFlight: 0, answeredAt: [] };
    this.#byKey.set(key, polls);
    polls.tails += 1;
  }

  /** One tail less is polled with a key. */
  leave(key: string): void {
    const polls = this.#byKey.get(key);
    if (polls !== undefined) polls.tails -= 1;
  }

  /** How long the next poll with a key has to wait, in milliseconds; 0: it is counted, and may begin. */
  take(key: string): number {
    const { now, slownessOf } = this.#options;
    const polls = this.#byKey.get(key);
    if (polls === undefined || slownessOf !== undefined) return 0;
    const { answeredAt, inFlight } = polls;
    dropOlder(answeredAt, now() - minuteMs);
    if (inFlight + answeredAt.length < mostPolls) {
      polls.inFlight += 1;
      return 0;
    }
    const [oldest] = answeredAt;
    return oldest === undefined ? spacingMs : oldest + minuteMs - now();
  }

  /**
   * A poll with a key has ended, and took so many calls. Resolves to the time until the next one of the same tail, in
   * milliseconds. Never rejects.
   */
  async next(key: string, calls: number): Promise<number> {
    const { pollMs, slownessOf, now } = this.#options;
    const polls = this.#byKey.get(key);
    if (slownessOf !== undefined) return pollMs * Math.max(1, await slownessOrOne(slownessOf, key));
    if (polls === undefined) return pollMs;
    polls.inFlight -= 1;
    for (let counted = 0; counted < calls; counted += 1) polls.answeredAt.push(now());
    return Math.max(pollMs, spacingMs * polls.tails * calls);
  }

  /** Keys without tails are kept for a minute: their next tail has no more polls because the last one has ended. */
  #forgetIdle(): void {
    const before = this.#options.now() - minuteMs;
    for (const [key, { tails, inFlight, answeredAt }] of this.#byKey)
      if (tails + inFlight === 0 && (answeredAt.at(-1) ?? 0) <= before) this.#byKey.delete(key);
  }
}

/** How slow a key is; 1 if the budget cannot say, for the calls of its polls ask it themselves. */
async function slownessOrOne(slownessOf: NonNullable<PaceOptions['slownessOf']>, key: string): Promise<number> {
  try {
    return await slownessOf(key);
  } catch {
    return 1;
  }
}

function dropOlder(times: number[], before: number): void {
  const kept = times.findIndex((time) => time > before);
  times.splice(0, kept === -1 ? times.length : kept);
}
