import { routeTemplate } from './routes.ts';
import type { Fault } from './transport.ts';

/** How often one kind of call ended one way. */
export interface CallCount {
  readonly method: string;
  /** Such as `/api/projects/:id/events/`. */
  readonly route: string;
  /** The HTTP status, or why there was none. */
  readonly outcome: number | Fault;
  readonly count: number;
}

/** More kinds than the API has routes, methods and statuses worth telling apart. */
const maximumKinds = 1000;

/** Counts the calls that were sent, by method, route and outcome. Bounded: whatever is asked for, routes are few. */
export class CallCounts {
  readonly #counts = new Map<string, CallCount & { count: number }>();

  add(method: string, target: string, outcome: number | Fault): void {
    const route = routeTemplate(target);
    const kind = `${method} ${route} ${outcome}`;
    const known = this.#counts.get(kind);
    if (known !== undefined) known.count += 1;
    else if (this.#counts.size < maximumKinds) this.#counts.set(kind, { method, route, outcome, count: 1 });
  }

  all(): readonly CallCount[] {
    return [...this.#counts.values()];
  }
}
