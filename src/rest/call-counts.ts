import { Tally } from '../tally.ts';
import type { Attempt, Gate, Outcome } from './resilience/gate.ts';
import type { RestOperation } from './rest-operations.ts';
import type { Fault } from './transport/transport.ts';

/** The number of calls of one operation with the same outcome. */
export interface CallCount {
  readonly method: string;
  /** Such as `/api/projects/:id/events/`. */
  readonly route: string;
  /** The HTTP status, or the fault if the call got no answer. */
  readonly outcome: number | Fault;
  readonly count: number;
}

/** The upper bounds of the buckets of durations, in seconds. */
export const durationBounds: readonly number[] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The maximum number of pairs of operation and outcome. An upstream may answer with any status. */
const maximumCounts = 1000;

/** The maximum number of tenants with counts of their own. */
export const mostTenants = 100;

/** The name of the count of all further tenants. */
export const otherTenants = 'other';

/** Counts the calls that were sent, by operation and outcome and by tenant, and their durations by route. */
export class CallCounts implements Gate {
  readonly byOutcome: (CallCount & { count: number })[] = [];
  /** In seconds, by route. */
  readonly durations = new Map<string, Tally>();
  /** By the name of the tenant. */
  readonly byTenant = new Map<string, number>();
  readonly #byOperation = new Map<RestOperation, Map<number | Fault, { count: number }>>();

  enter(): undefined {
    return undefined;
  }

  leave({ run, request: { endpoint } }: Attempt, outcome: Outcome): void {
    if (outcome.kind === 'not-sent') return;
    const { tenant } = run.caller;
    if (tenant !== undefined) this.#addTo(tenant.name);
    this.#durationsOf(endpoint).add(outcome.tookMs / 1000);
    const result = resultOf(outcome);
    const known = this.#byOperation.get(endpoint)?.get(result);
    if (known !== undefined) known.count += 1;
    else if (this.byOutcome.length < maximumCounts) this.#begin(endpoint, result);
  }

  #begin(endpoint: RestOperation, outcome: number | Fault): void {
    const count = { method: endpoint.method, route: endpoint.route, outcome, count: 1 };
    this.byOutcome.push(count);
    const counts = this.#byOperation.get(endpoint);
    if (counts === undefined) this.#byOperation.set(endpoint, new Map([[outcome, count]]));
    else counts.set(outcome, count);
  }

  #addTo(tenant: string): void {
    const counts = this.byTenant;
    const series = counts.has(tenant) || counts.size < mostTenants ? tenant : otherTenants;
    counts.set(series, (counts.get(series) ?? 0) + 1);
  }

  #durationsOf({ route }: RestOperation): Tally {
    const known = this.durations.get(route);
    if (known !== undefined) return known;
    const durations = new Tally(durationBounds);
    this.durations.set(route, durations);
    return durations;
  }
}

function resultOf(outcome: Exclude<Outcome, { readonly kind: 'not-sent' }>): number | Fault {
  if (outcome.kind === 'given-up') return 'aborted';
  return outcome.kind === 'failed' ? outcome.fault : outcome.status;
}
