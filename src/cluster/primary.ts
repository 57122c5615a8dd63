import { messageOf } from '../error-text.ts';
import { type Log, LogThrottle } from '../log.ts';
import { createMemoryStore } from '../operation/persisted/automatic.ts';
import type { SharedRedis } from '../redis.ts';
import type { Ledger } from '../rest/ledger.ts';
import type { EpochChange } from '../rest/read-your-writes.ts';
import type { SharedFiles } from '../settings/shared-files.ts';
import { addUp, noUsage } from '../telemetry/client-usage.ts';
import { createPrimaryMetrics, type Snapshot } from '../telemetry/metrics.ts';
import { JointStop } from './joint-stop.ts';
import type { Orders, Started, Totals, WorkerFunctions } from './messages.ts';
import type { ArgumentOf } from './rpc.ts';
import { addEnded, totalsOf } from './totals.ts';
import { createRestarts, setUpWorkers, type WorkerEvents, WorkerHandle } from './worker-handle.ts';

/** Settings of the workers. */
export interface WorkersOptions {
  readonly orders: Orders;
  readonly files: SharedFiles;
  /** The ledger of the REST calls of all workers, if calls are limited. */
  readonly ledger?: Ledger | undefined;
  /** The Redis in which `ledger` counts, if there is one. */
  readonly redis?: SharedRedis | undefined;
  /** The time after which workers that are still stopping are killed, in milliseconds. */
  readonly stopMs: number;
  readonly log: Log;
}

/** The workers of one gateway. */
export class Workers {
  readonly #options: WorkersOptions;
  /** The texts that clients have registered with any worker. */
  readonly #texts = createMemoryStore();
  readonly #delayAfterEnd: ReturnType<typeof createRestarts>;
  /** The running workers by their index. When a worker ends, the next one gets its index. */
  readonly #running = new Map<number, WorkerHandle>();
  readonly #jointStop = new JointStop(this.#running);
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #throttle = new LogThrottle();
  /** The time after which a write of an ended worker has arrived or will never arrive, in milliseconds. */
  readonly #lateMs: number;
  readonly #ownMetrics: () => Promise<Snapshot>;
  #endedMetrics: Promise<Snapshot> = Promise.resolve([]);
  #endedUsage = noUsage;
  #restarted = 0;
  #stopped: PromiseWithResolvers<void> | undefined;
  readonly #end = Promise.withResolvers<Error>();
  /** Resolves when workers keep ending and no further one is started. */
  readonly givenUp = this.#end.promise;

  constructor(options: WorkersOptions) {
    this.#options = options;
    const { orders, ledger, redis, files } = options;
    this.#lateMs = 2 * orders.config.operationDeadlineMs;
    this.#delayAfterEnd = createRestarts(orders.config.workers);
    this.#ownMetrics = createPrimaryMetrics({
      ...{ counting: ledger?.counting, redis, reloads: files.tenants?.reloads },
      workers: () => ({ running: this.#serving().length, restarts: this.#restarted }),
    });
    files.tenants?.onChange((tenants) => this.#tellAll('tenantsRead', tenants));
    files.manifests?.onChange((manifests) => this.#tellAll('manifestsRead', manifests));
  }

  /** Starts one worker and, once it serves, all others. Rejects with the reason if a worker cannot start. */
  async start(): Promise<Started> {
    const { workers } = this.#options.orders.config;
    setUpWorkers();
    try {
      const started = await this.#start(0);
      const others = Array.from({ length: workers - 1 }, (_, index) => this.#start(index + 1));
      await Promise.race([Promise.all(others), this.givenUp.then((error) => Promise.reject(error))]);
      return started;
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Makes every worker read its files again: the manifests of persisted documents, and the certificates. */
  reload(): void {
    this.#tellAll('reload', undefined);
  }

  /** Starts a worker with an index; resolves when it listens. */
  #start(index: number): Promise<Started> {
    const { orders, files } = this.#options;
    const [tenants, manifests] = [files.tenants?.current(), files.manifests?.current()];
    const worker: WorkerHandle = new WorkerHandle({
      functions: this.#functionsFor(() => worker),
      onEnd: (how) => this.#onEnd(index, worker, how),
    });
    worker.tell('start', { orders, tenants, manifests });
    this.#running.set(index, worker);
    return worker.started;
  }

  /**
   * Stops every worker as a single gateway stops: each worker reports that it is not ready, finishes its requests in
   * flight, and ends.
   */
  async stop(): Promise<void> {
    this.#stopped ??= Promise.withResolvers();
    for (const timer of this.#timers) clearTimeout(timer);
    this.#jointStop.begin();
    this.#tellAll('stop', undefined);
    const cut = setTimeout(() => this.#killAll(), this.#options.stopMs);
    if (this.#running.size > 0) await this.#stopped.promise;
    clearTimeout(cut);
    this.#options.ledger?.close?.();
  }

  #tellAll<Name extends keyof WorkerFunctions>(name: Name, argument: ArgumentOf<WorkerFunctions[Name]>): void {
    for (const worker of this.#running.values()) worker.tell(name, argument);
  }

  #killAll(): void {
    for (const worker of this.#running.values()) worker.kill();
  }

  #functionsFor(workerOf: () => WorkerHandle): WorkerEvents['functions'] {
    const { ledger } = this.#options;
    return {
      register: ({ hash, text }) => this.#texts.set(hash, text),
      text: (hash) => this.#texts.get(hash),
      reserve: (wants) => ledger?.reserve(wants),
      endCall: ({ call, end }) => ledger?.end(call, end),
      look: ({ account, surfaces }) => ledger?.look(account, surfaces),
      mayClose: () => this.#jointStop.mayClose(workerOf()),
      mayAnswer: () => this.#jointStop.mayAnswer(workerOf()),
      shareEpoch: (change) => this.#shareEpoch(workerOf(), change),
      totals: () => this.#totals(),
    };
  }

  /**
   * Renews the epochs of all keys twice: at once, and when no write of the ended worker `writer` can arrive any more.
   * Answers that were read while that worker wrote are then no longer used.
   */
  #renewEpochs(writer: WorkerHandle): void {
    void this.#shareEpoch(writer, 'all');
    this.#later(() => void this.#shareEpoch(writer, 'all'), this.#lateMs);
  }

  #later(act: () => void, milliseconds: number): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      act();
    }, milliseconds);
    this.#timers.add(timer);
  }

  /** Changes epochs in all workers except `writer`. Resolves to undefined if one of them did not answer in time. */
  async #shareEpoch(writer: WorkerHandle, change: EpochChange): Promise<true | undefined> {
    const others = [...this.#running].filter(([, worker]) => worker !== writer);
    const adopted = await Promise.all(others.map(([, worker]) => worker.adoptEpoch(change)));
    const hanging = others.flatMap(([index], at) => (adopted[at] === true ? [] : [index]));
    if (hanging.length === 0) return true;
    if (this.#throttle.mayLog('hanging'))
      this.#options.log('warn', 'workers do not answer: they may give answers that are older than a write', {
        workers: hanging,
      });
    return undefined;
  }

  async #totals(): Promise<Totals> {
    const measured = await Promise.all(this.#serving().map((worker) => worker.measure()));
    const snapshots = [...measured.map(({ snapshot }) => snapshot), await this.#ownMetrics()];
    const usage = addUp([this.#endedUsage, ...measured.map((one) => one.usage)]);
    return { metrics: await totalsOf(snapshots, await this.#endedMetrics), usage };
  }

  #serving(): readonly WorkerHandle[] {
    return [...this.#running.values()].filter((worker) => worker.serves);
  }

  #onEnd(index: number, worker: WorkerHandle, how: string): void {
    this.#running.delete(index);
    const { snapshot, usage } = worker.measured;
    this.#endedMetrics = this.#endedMetrics.then((ended) => addEnded(ended, snapshot));
    this.#endedUsage = addUp([this.#endedUsage, usage]);
    if (this.#stopped !== undefined) {
      if (this.#running.size === 0) this.#stopped.resolve();
      else this.#jointStop.proceed();
      return;
    }
    this.#renewEpochs(worker);
    // A worker that cannot start, perhaps because a file has become wrong, must not stop the workers that serve.
    const isHarmless = !worker.hasServed && this.#serving().length > 0;
    const delay = this.#delayAfterEnd(index, isHarmless);
    this.#options.log('warn', 'a worker ended', { worker: index, how, restartMs: delay });
    if (delay === undefined) {
      this.#end.resolve(new Error(`workers end again and again, the last one with ${how}`));
      return;
    }
    this.#later(() => {
      this.#restarted += 1;
      this.#start(index).catch((error: unknown) => {
        if (this.#stopped !== undefined) return;
        this.#options.log('error', 'a worker could not start', { worker: index, reason: messageOf(error) });
      });
    }, delay);
  }
}
