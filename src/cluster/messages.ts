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

/** What the primary tells a worker. */
export type ToWorker =
  | { readonly kind: 'start'; readonly orders: Orders }
  | { readonly kind: 'stop' }
  // Stop listening: all workers let their requests wait.
  | { readonly kind: 'close' }
  // Answer the requests that wait: no worker listens.
  | { readonly kind: 'answer' }
  // Read manifests of persisted documents, and certificates, again.
  | { readonly kind: 'reload' }
  // The tenants from now on.
  | { readonly kind: 'tenants'; readonly tenants: Tenants }
  // What servers have of manifests from now on.
  | { readonly kind: 'manifests'; readonly manifests: readonly ManifestFile[] }
  | { readonly kind: 'measure'; readonly id: number }
  // To `get`, under its id; undefined if no client has registered it.
  | { readonly kind: 'text'; readonly id: number; readonly text: string | undefined }
  // Another worker has changed the epoch of a key: do so, too, and answer `changed`.
  | { readonly kind: 'change'; readonly id: number; readonly change: EpochChange }
  // To `changeAll`, under its id: all other workers have.
  | { readonly kind: 'changedAll'; readonly id: number }
  // To `totals`, under its id.
  | { readonly kind: 'totals'; readonly id: number; readonly totals: Totals | undefined }
  // What becomes of REST calls that asked for their place in the budget.
  | { readonly kind: 'decisions'; readonly decisions: readonly Decision[] }
  // To `look`, under its id.
  | { readonly kind: 'outlooks'; readonly id: number; readonly outlooks: Outlooks };

/** A claim of a worker. Those of one message that have the same `operation` begin together, or not at all. */
export interface WorkerClaim {
  readonly id: number;
  readonly operation: number;
  readonly demand: Demand;
}

/** What becomes of one claim of a worker. */
export interface Decision {
  readonly id: number;
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

/** What a worker tells the primary. */
export type ToPrimary =
  | ({ readonly kind: 'listening' } & Started)
  // It cannot start, and exits with this code.
  | { readonly kind: 'failed'; readonly message: string; readonly exitCode: number }
  | { readonly kind: 'measured'; readonly id: number; readonly measured: Measurements }
  // It stops, and lets requests wait until it gets `close`.
  | { readonly kind: 'holding' }
  // It has stopped listening, and lets requests wait until it gets `answer`.
  | { readonly kind: 'closed' }
  // Texts of automatic persisted queries.
  | { readonly kind: 'set'; readonly hash: string; readonly text: string }
  | { readonly kind: 'get'; readonly id: number; readonly hash: string }
  // For all other workers: this one writes.
  | { readonly kind: 'changeAll'; readonly id: number; readonly change: EpochChange }
  | { readonly kind: 'changed'; readonly id: number }
  // The metrics of all workers together.
  | { readonly kind: 'totals'; readonly id: number }
  // REST calls of one turn of its event loop that ask for their place in the budget, and those that have ended.
  | {
      readonly kind: 'spend';
      readonly claims: readonly WorkerClaim[];
      readonly ends: readonly PermitEnd[];
    }
  // What is left of the budget.
  | {
      readonly kind: 'look';
      readonly id: number;
      readonly who: Pick<Demand, 'key' | 'subject'>;
      readonly asked: readonly Surface[];
    };

/** Whether a message is the primary's: the channel between the processes may carry others'. */
export function isToWorker(message: unknown): message is ToWorker {
  return hasKind(message);
}

/** Whether a message is a worker's. */
export function isToPrimary(message: unknown): message is ToPrimary {
  return hasKind(message);
}

function hasKind(message: unknown): boolean {
  return typeof message === 'object' && message !== null && 'kind' in message;
}
