import { routeTemplate } from './routes.ts';
import type { Fault } from './transport/transport.ts';

/** How often one kind of call ended one way. */
export interface CallCount {
  readonly method: string;
  /** Such as `/api/projects/:id/events/`. */
  readonly route: string;
  /** The HTTP status, or why there was none. */
  readonly outcome: number | Fault;
  readonly count: number;
}

/** How long the calls of one route took. */
export interface CallDurations {
  /** Calls by the first of `durationBounds` that they do not exceed; the last number is of those that exceed all. */
  readonly counts: readonly number[];
  /** Of all of them together, in seconds. */
  readonly sum: number;
}

/** Upper bounds of the buckets of durations, in seconds. */
export const durationBounds: readonly number[] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** More kinds than the API has routes, methods and statuses worth telling apart. */
const maximumKinds = 1000;

/** More routes than the API has. */
const maximumRoutes = 100;

/**
 * Counts the calls that were sent, by method, route and outcome, and how long they took, by route. Bounded: whatever is
 * asked for, routes are few.
 */
export class CallCounts {
  readonly #counts = new Map<string, CallCount & { count: number }>();
  readonly #durations = new Map<string, Durations>();

  /** A call has ended after so many milliseconds. */
  add(method: string, target: string, outcome: number | Fault, tookMs: number): void {
    const route = routeTemplate(target);
    const kind = `${method} ${route} ${outcome}`;
    const known = this.#counts.get(kind);
    if (known !== undefined) known.count += 1;
    else if (this.#counts.size < maximumKinds) this.#counts.set(kind, { method, route, outcome, count: 1 });
    this.#durationsOf(route)?.add(tookMs / 1000);
  }

  all(): readonly CallCount[] {
    return [...this.#counts.values()];
  }

  /** By route. */
  get durations(): ReadonlyMap<string, CallDurations> {
    return this.#durations;
  }

  #durationsOf(route: string): Durations | undefined {
    const known = this.#durations.get(route);
    if (known !== undefined || this.#durations.size >= maximumRoutes) return known;
    const durations = new Durations();
    this.#durations.set(route, durations);
    return durations;
  }
}

/** Adds up without making anything: every call comes by. */
class Durations implements CallDurations {
  readonly counts: number[] = Array.from({ length: durationBounds.length + 1 }, () => 0);
  sum = 0;

  add(seconds: number): void {
    let bucket = 0;
    while (bucket < durationBounds.length && seconds > (durationBounds[bucket] ?? 0)) bucket += 1;
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
    this.sum += seconds;
  }
}
