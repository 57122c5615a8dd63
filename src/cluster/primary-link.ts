import { ConfigError } from '../config-error.ts';
import { type Changeable, changeable } from '../follow.ts';
import type { TextStore } from '../operation/persisted/automatic.ts';
import type { ManifestFile } from '../operation/persisted/manifest.ts';
import type { Account, CallEnd, Ledger, LedgerCall, LogOutlooks, Want, WantDecision } from '../rest/ledger.ts';
import { LocalEpochs } from '../rest/read-your-writes.ts';
import type { Surface } from '../rest/rest-operations.ts';
import type { Tenants } from '../rest/tenants.ts';
import type { SharedSocket } from '../server/graceful-stop.ts';
import type { SharedFiles } from '../settings/shared-files.ts';
import type { Measurements, Orders, PrimaryFunctions, Started, Totals, WorkerFunctions } from './messages.ts';
import { type Batch, Channel } from './rpc.ts';

/** A server that the primary directs. */
export interface Served extends Started {
  readonly stop: () => void;
  readonly reload: () => void;
  readonly measure: () => Promise<Measurements>;
}

/**
 * The longest time that a request waits for a registered text, in milliseconds. Its client can send the text instead.
 */
const textTimeoutMs = 150;

/** The longest time that a scrape waits, in milliseconds. */
const totalsTimeoutMs = 3000;

/** The longest time that a stop waits for the primary to allow its next step, in milliseconds. Requests wait, too. */
const permissionTimeoutMs = 3000;

/** The longest time that a write waits for the other workers, in milliseconds. The primary gives up a little sooner. */
const changeTimeoutMs = 6000;

/** The longest time that a worker which cannot start waits for the primary to learn the reason, in milliseconds. */
const failureTimeoutMs = 1000;

/**
 * The longest time that an operation waits for the state of the ledger, in milliseconds. After that, it goes on without
 * the state, because the ledger decides on each of its calls separately anyway.
 */
const lookTimeoutMs = 1000;

/** A worker's side of the channel to the primary. */
export class PrimaryLink {
  readonly #orders = Promise.withResolvers<Orders>();
  readonly #primary = new Channel<PrimaryFunctions>(send, { ...this.#functions() });
  #served: Served | undefined;
  /** True if a reload was ordered before this worker served. The worker may have read its files before that order. */
  #isReloadDue = false;
  /** The orders of the primary, which come once, soon after the start. */
  readonly orders = this.#orders.promise;
  #tenants: Changeable<Tenants> | undefined;
  #manifests: Changeable<readonly ManifestFile[]> | undefined;
  readonly store: TextStore = {
    get: (hash) => this.#primary.ask('text', hash, textTimeoutMs),
    set: (hash, text) => this.#primary.tell('register', { hash, text }),
  };
  /** The epochs of upstream keys, shared by all workers. */
  readonly epochs = new LocalEpochs((change) => this.#primary.ask('shareEpoch', change, changeTimeoutMs));
  /** The ledger in which the primary counts the calls of all workers. */
  readonly ledger = new RemoteLedger(this.#primary);
  /** The socket on which the primary accepts connections for all workers. */
  readonly socket: SharedSocket = {
    mayClose: () => this.#primary.ask('mayClose', undefined, permissionTimeoutMs),
    mayAnswer: () => this.#primary.ask('mayAnswer', undefined, permissionTimeoutMs),
  };

  /** Throws if this process was not started by a primary. */
  constructor() {
    if (process.send === undefined) throw new ConfigError("worker: this command is the gateway's own; expected serve");
    process.on('message', (message) => this.#primary.receive(message));
  }

  /** The files that the primary reads for all workers. They are set once `orders` has resolved. */
  get files(): SharedFiles {
    return { tenants: this.#tenants, manifests: this.#manifests };
  }

  serve(served: Served): void {
    this.#served = served;
    if (this.#isReloadDue) served.reload();
    this.#primary.tell('listening', { url: served.url, upstream: served.upstream });
  }

  /** Reports that this worker cannot start. Resolves when the primary has received that, or after a second. */
  async fail(message: string, exitCode: number): Promise<void> {
    await this.#primary.ask('failed', { message, exitCode }, failureTimeoutMs);
  }

  async totals(): Promise<Totals> {
    const totals = await this.#primary.ask('totals', undefined, totalsTimeoutMs);
    if (totals === undefined) throw new Error('the primary did not answer in time');
    return totals;
  }

  #functions(): WorkerFunctions {
    return {
      start: ({ orders, tenants, manifests }) => {
        this.#tenants = tenants && changeable(tenants);
        this.#manifests = manifests && changeable(manifests);
        this.#orders.resolve(orders);
      },
      stop: () => {
        // No request can be in flight.
        if (this.#served === undefined) process.exit(0);
        this.#served.stop();
      },
      reload: () => {
        this.#isReloadDue = this.#served === undefined;
        this.#served?.reload();
      },
      tenantsRead: (tenants) => this.#tenants?.change(tenants),
      manifestsRead: (manifests) => this.#manifests?.change(manifests),
      measure: () => this.#served?.measure(),
      adoptEpoch: (change) => {
        this.epochs.adopt(change);
        return true;
      },
    };
  }
}

/** Sends a batch. Failures are ignored, because a worker ends without its primary anyway. */
function send(batch: Batch): void {
  if (process.connected) process.send?.(batch);
}

/** A worker's side of the ledger in which the primary counts the calls of all workers. */
export class RemoteLedger implements Ledger {
  readonly #primary: Channel<PrimaryFunctions>;

  constructor(primary: Channel<PrimaryFunctions>) {
    this.#primary = primary;
  }

  async reserve(wants: readonly Want[]): Promise<readonly WantDecision[]> {
    // There is no timeout. The primary could reserve the calls after a timeout. Then the calls would count, but this
    // worker would never make them.
    return (await this.#primary.ask('reserve', wants, Number.POSITIVE_INFINITY)) ?? [];
  }

  end(call: LedgerCall, end: CallEnd): void {
    this.#primary.tell('endCall', { call, end });
  }

  async look(account: Account, surfaces: readonly Surface[]): Promise<LogOutlooks> {
    return (await this.#primary.ask('look', { account, surfaces }, lookTimeoutMs)) ?? new Map();
  }
}
