import type { MaybePromise } from '../maybe-promise.ts';
import type { ManifestFile } from '../operation/persisted/manifest.ts';
import type { Account, CallEnd, LedgerCall, LogOutlooks, Want, WantDecision } from '../rest/ledger.ts';
import type { EpochChange } from '../rest/read-your-writes.ts';
import type { Surface } from '../rest/rest-operations.ts';
import type { Tenants } from '../rest/tenants.ts';
import type { Config } from '../settings/config.ts';
import type { Usage } from '../telemetry/client-usage.ts';
import type { Snapshot } from '../telemetry/metrics.ts';

/** The orders that the primary gives to a worker. All workers get the same, even those that are started later. */
export interface Orders {
  readonly config: Config;
  /** The URL of the upstream. A worker cannot find it out, because the primary may have started the upstream itself. */
  readonly upstreamUrl: string;
  /** The API key or token that GraphiQL starts with; undefined unless there is an embedded workspace. */
  readonly demoKey: string | undefined;
}

/** The facts about a server that listens. */
export interface Started {
  readonly url: string;
  /**
   * The state of the upstream when the gateway started, as a phrase for people, such as `answers`; undefined for the
   * embedded workspace.
   */
  readonly upstream: string | undefined;
}

/** The counts of one worker. */
export interface Measurements {
  readonly snapshot: Snapshot;
  readonly usage: Usage;
}

/** The counts of all workers, ended ones included. */
export interface Totals {
  /** The metrics of all workers as one text. */
  readonly metrics: string;
  readonly usage: Usage;
}

/** The orders of a worker, and the shared files as the primary has read them. */
export interface WorkerStart {
  readonly orders: Orders;
  readonly tenants: Tenants | undefined;
  readonly manifests: readonly ManifestFile[] | undefined;
}

/** The functions of a worker that the primary calls. */
export interface WorkerFunctions {
  start(this: void, start: WorkerStart): void;
  stop(this: void): void;
  /** Read the manifests of persisted documents and the certificates again. */
  reload(this: void): void;
  /** Use these tenants from now on. */
  tenantsRead(this: void, tenants: Tenants): void;
  /** Use these manifests of servers from now on. */
  manifestsRead(this: void, manifests: readonly ManifestFile[]): void;
  /** Report the worker's counts; undefined before it serves. */
  measure(this: void): Promise<Measurements> | undefined;
  /** Change the epoch of one key or of all keys, because another worker has done so or has ended. Answered when done. */
  adoptEpoch(this: void, change: EpochChange): true;
}

/** The functions of the primary that a worker calls. */
export interface PrimaryFunctions {
  listening(this: void, started: Started): void;
  /** The worker cannot start, and exits with this code: 2 if the operator can correct the error. */
  failed(this: void, failure: { readonly message: string; readonly exitCode: number }): void;
  /** The worker is stopping, and holds its requests back. The primary replies once the worker may stop listening. */
  mayClose(this: void): Promise<void>;
  /** The worker no longer listens. The primary replies once the worker may answer the requests that it holds back. */
  mayAnswer(this: void): Promise<void>;
  /** Keep a text that a client has registered. */
  register(this: void, text: { readonly hash: string; readonly text: string }): void;
  /** The text that a client has registered with any worker under this hash. */
  text(this: void, hash: string): Promise<string | undefined> | string | undefined;
  /** Make all other workers change the epoch of one key or of all keys. True if all have done so in time. */
  shareEpoch(this: void, change: EpochChange): Promise<true | undefined>;
  totals(this: void): Promise<Totals>;
  /** Reserve REST calls in the ledger of all workers; undefined if there is no ledger. */
  reserve(this: void, wants: readonly Want[]): MaybePromise<readonly WantDecision[]> | undefined;
  endCall(this: void, ended: { readonly call: LedgerCall; readonly end: CallEnd }): void;
  look(
    this: void,
    question: { readonly account: Account; readonly surfaces: readonly Surface[] },
  ): MaybePromise<LogOutlooks> | undefined;
}
