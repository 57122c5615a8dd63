import { setTimeout as delay } from 'node:timers/promises';
import type { ManifestFile } from '../operation/persisted/manifest-files.ts';
import type { RemoteManifests } from '../operation/persisted/remote-manifests.ts';
import type { TextStore } from '../operation/persisted/store.ts';
import type { CallBudget } from '../rest/budget/call-budget.ts';
import type { BudgetSettings } from '../rest/budget/settings.ts';
import type { Tenants } from '../rest/tenants.ts';
import type { SharedSocket } from '../server/graceful-stop.ts';
import { ConfigError } from '../settings/settings.ts';
import {
  isToWorker,
  type Measurements,
  type Orders,
  type Started,
  type ToPrimary,
  type Totals,
  type ToWorker,
} from './messages.ts';
import { createPending } from './pending.ts';
import { RemoteBudget } from './remote-budget.ts';
import { WorkerEpochs } from './worker-epochs.ts';

/** A server that the primary directs. */
export interface Served extends Started {
  readonly stop: () => void;
  readonly reload: () => void;
  readonly measure: () => Promise<Measurements>;
}

/** Longest time that a request waits for a text, in milliseconds: the client can send it instead. */
const textTimeoutMs = 150;

/** Longest time that a scrape waits, in milliseconds. */
const totalsTimeoutMs = 3000;

/** Longest time that a stop waits for the primary to allow its next step, in milliseconds: requests wait meanwhile. */
const permissionTimeoutMs = 3000;

/** A worker's side of the channel to the primary. */
export class PrimaryLink {
  /** What to serve; it comes once, soon after the start. */
  readonly orders: Promise<Orders>;
  /** Texts that any worker has registered. */
  readonly store: TextStore;
  /** Epochs of upstream keys that hold over all workers. */
  readonly epochs = new WorkerEpochs((id, change) => void send({ kind: 'changeAll', id, change }));
  readonly #texts = createPending<string>(textTimeoutMs);
  /** What the primary allows when this worker stops. */
  readonly #mayClose = Promise.withResolvers<void>();
  readonly #mayAnswer = Promise.withResolvers<void>();
  /** The socket that the primary accepts from. */
  readonly socket: SharedSocket = {
    mayClose: () => this.#permissionAfter({ kind: 'holding' }, this.#mayClose.promise),
    mayAnswer: () => this.#permissionAfter({ kind: 'closed' }, this.#mayAnswer.promise),
  };
  readonly #totals = createPending<Totals>(totalsTimeoutMs);
  #served: Served | undefined;
  /** True if files were to be read again before this worker served: it may have read them already. */
  #isReloadDue = false;
  #tenants: Tenants | undefined;
  #budget: RemoteBudget | undefined;
  #takeTenants: (tenants: Tenants) => void = ignore;
  #manifests: readonly ManifestFile[] | undefined;
  #takeManifests: () => void = ignore;

  /** Throws if no primary has started this process. */
  constructor() {
    if (process.send === undefined) throw new ConfigError("worker: this command is the gateway's own; expected serve");
    const { promise, resolve } = Promise.withResolvers<Orders>();
    this.orders = promise;
    process.on('message', (message) => {
      if (!isToWorker(message)) return;
      if (message.kind === 'start') {
        this.#manifests = message.orders.manifests;
        resolve(message.orders);
      } else this.#obey(message);
    });
    this.store = {
      get: (hash) => this.#texts.ask((id) => void send({ kind: 'get', id, hash })),
      set: (hash, text) => void send({ kind: 'set', hash, text }),
      close: ignore,
    };
  }

  /** Calls back with the tenants that the primary has read, at once if there are any yet. */
  onTenants(listener: (tenants: Tenants) => void): void {
    this.#takeTenants = listener;
    if (this.#tenants !== undefined) listener(this.#tenants);
  }

  /** What the primary has fetched of manifests; undefined if it fetches none. */
  get manifests(): RemoteManifests | undefined {
    if (this.#manifests === undefined) return undefined;
    return {
      current: () => this.#manifests ?? [],
      onChange: (listener) => {
        this.#takeManifests = listener;
      },
    };
  }

  /** The budget that all workers share, if there is one. */
  budgetOf(settings: BudgetSettings | undefined): CallBudget | undefined {
    this.#budget = settings && new RemoteBudget(settings.windows, (message) => void send(message));
    return this.#budget;
  }

  /** From now on the primary directs this server. */
  serve(served: Served): void {
    this.#served = served;
    if (this.#isReloadDue) served.reload();
    void send({ kind: 'listening', url: served.url, upstream: served.upstream });
  }

  /** Says that this worker cannot start; resolves when it is said. */
  fail(message: string, exitCode: number): Promise<void> {
    return send({ kind: 'failed', message, exitCode });
  }

  /** What all workers have counted together. */
  async totals(): Promise<Totals> {
    const totals = await this.#totals.ask((id) => void send({ kind: 'totals', id }));
    if (totals === undefined) throw new Error('the primary did not answer in time');
    return totals;
  }

  async #permissionAfter(message: ToPrimary, permission: Promise<void>): Promise<void> {
    void send(message);
    await Promise.race([permission, delay(permissionTimeoutMs, undefined, { ref: false })]);
  }

  #obey(message: Exclude<ToWorker, { readonly kind: 'start' }>): void {
    const served = this.#served;
    switch (message.kind) {
      case 'stop':
        // No request is served yet.
        if (served === undefined) process.exit(0);
        return served.stop();
      case 'close':
        return this.#mayClose.resolve();
      case 'answer':
        return this.#mayAnswer.resolve();
      case 'reload':
        this.#isReloadDue = served === undefined;
        return served?.reload();
      case 'tenants':
        this.#tenants = message.tenants;
        return this.#takeTenants(message.tenants);
      case 'manifests':
        this.#manifests = message.manifests;
        return this.#takeManifests();
      case 'measure':
        return void served?.measure().then((measured) => send({ kind: 'measured', id: message.id, measured }), ignore);
      case 'text':
        return this.#texts.answer(message.id, message.text);
      case 'change':
        this.epochs.adopt(message.change);
        return void send({ kind: 'changed', id: message.id });
      case 'changedAll':
        return this.epochs.changed(message.id);
      case 'totals':
        return this.#totals.answer(message.id, message.totals);
      case 'decisions':
        return this.#budget?.decide(message.decisions);
      case 'outlooks':
        return this.#budget?.takeOutlooks(message.id, message.outlooks);
    }
  }
}

/** Resolves when the message has left, or can leave no more: without its primary a worker ends anyway. */
function send(message: ToPrimary): Promise<void> {
  return new Promise((resolve) => {
    if (process.connected) process.send?.(message, () => resolve());
    else resolve();
  });
}

function ignore(): void {}
