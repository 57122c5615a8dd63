import type { ManifestFile } from '../operation/persisted/manifest-files.ts';
import type { CallEnd, Demand, Outlooks } from '../rest/budget/call-budget.ts';
import type { BudgetShortage } from '../rest/errors.ts';
import type { Surface } from '../rest/operation-ids.ts';
import type { Tenants } from '../rest/tenants.ts';
import type { Config } from '../settings/config.ts';
import type { Usage } from '../telemetry/client-usage.ts';
import type { Snapshot } from '../telemetry/metrics.ts';
import type { EpochChange } from './worker-epochs.ts';

/** What a worker needs to serve. All workers get the same, also those that are started later. */
export interface Orders {
  readonly config: Config;
  readonly site: Site;
  /** What servers have of manifests at that time; undefined if none are asked. */
  readonly manifests?: readonly ManifestFile[] | undefined;
}

/** What only the primary knows: the upstream may be the workspace that it has started. */
export interface Site {
  readonly upstreamUrl: string;
  /** The public key of the embedded workspace. */
  readonly demoKey: string | undefined;
}

/** What is known of a server once it listens. */
export interface Started {
  readonly url: string;
  /** What the upstream answered at the start, as a phrase for people; undefined for the embedded workspace. */
  readonly upstream: string | undefined;
}

/** What one worker has counted. */
export interface Measurements {
  readonly snapshot: Snapshot;
  readonly usage: Usage;
}

/** What all workers have counted, those that have ended included. */
export interface Totals {
  /** Their metrics as one text. */
  readonly metrics: string;
  readonly usage: Usage;
}

/** What the primary calls in a worker. */
export interface WorkerFunctions {
  start(this: void, orders: Orders): void;
  stop(this: void): void;
  /** All workers let their requests wait: stop listening. */
  close(this: void): void;
  /** No worker listens: answer the requests that wait. */
  answer(this: void): void;
  /** Read manifests of persisted documents, and certificates, again. */
  reload(this: void): void;
  /** The tenants from now on. */
  tenants(this: void, tenants: Tenants): void;
  /** What servers have of manifests from now on. */
  manifests(this: void, manifests: readonly ManifestFile[]): void;
  /** What it has counted; undefined before it serves. */
  measure(this: void): Promise<Measurements> | undefined;
  /** Another worker has changed the epoch of a key: so does this one. */
  change(this: void, change: EpochChange): void;
}

/** A claim of a worker. Those of one turn that have the same `operation` begin together, or not at all. */
export interface WorkerClaim {
  readonly id: number;
  readonly operation: number;
  readonly demand: Demand;
}

/** What becomes of one claim of a worker. */
export interface Decision {
  readonly waited: boolean;
  /** The least share of a window of its surface that is left, from 0 to 1. */
  readonly left: number;
  /** Why the call may not be sent; undefined: it may. */
  readonly refusal?:
    | {
        readonly code: 'RATE_LIMITED' | 'OVERLOADED';
        readonly retryAfter: number | undefined;
        readonly shortage: BudgetShortage | undefined;
      }
    | undefined;
}

/** How a claim of a worker has ended. */
export interface PermitEnd {
  readonly id: number;
  readonly how: CallEnd | 'not sent';
}

/** What a worker calls in the primary. */
export interface PrimaryFunctions {
  listening(this: void, started: Started): void;
  /** It cannot start, and exits with this code. */
  failed(this: void, failure: { readonly message: string; readonly exitCode: number }): void;
  /** It stops, and lets requests wait until `close` is called. */
  holding(this: void): void;
  /** It has stopped listening, and lets requests wait until `answer` is called. */
  closed(this: void): void;
  /** A client has registered a text. */
  register(this: void, text: { readonly hash: string; readonly text: string }): void;
  /** The text of a hash that a client has registered with any worker. */
  text(this: void, hash: string): Promise<string | undefined> | string | undefined;
  /** All other workers change the epoch of a key; answered when they have. */
  changeOthers(this: void, change: EpochChange): Promise<true>;
  /** What all workers have counted. */
  totals(this: void): Promise<Totals>;
  /** Asks for a REST call; undefined without a budget. */
  claim(this: void, claim: WorkerClaim): Promise<Decision> | undefined;
  endClaim(this: void, end: PermitEnd): void;
  /** What is left of the budget. */
  look(this: void, question: LookQuestion): Promise<Outlooks> | Outlooks | undefined;
}

/** What a worker wants to know of the budget. */
export interface LookQuestion {
  readonly who: Pick<Demand, 'key' | 'subject'>;
  readonly asked: readonly Surface[];
}
