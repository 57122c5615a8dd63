import { setTimeout as delay, setImmediate as nextImmediate } from 'node:timers/promises';
import { emptyMoment } from '../server/graceful-stop.ts';
import type { WorkerHandle } from './worker-handle.ts';

type Stopping = Pick<WorkerHandle, 'tell' | 'handed' | 'untaken'>;

/** The time between two looks for new connections, in milliseconds. */
const tickMs = 5;

/**
 * Makes all workers stop listening together. The primary accepts for all of them, and its socket is closed when the last
 * worker leaves it. Connections that are still waiting then are reset. So all workers first let requests wait until no
 * client is about to connect. Then all leave the socket. Only then are requests answered, after which their clients
 * reconnect.
 */
export class JointStop {
  readonly #workers: ReadonlyMap<unknown, Stopping>;
  readonly #holding = new Set<Stopping>();
  readonly #closed = new Set<Stopping>();
  #hasBegun = false;
  #isLooking = false;

  /** `workers` always holds the running workers. */
  constructor(workers: ReadonlyMap<unknown, Stopping>) {
    this.#workers = workers;
  }

  begin(): void {
    this.#hasBegun = true;
  }

  /**
   * Notes that a worker lets its requests wait. A worker that stops alone does not wait for the others, which go on
   * listening.
   */
  holding(worker: Stopping): void {
    this.#holding.add(worker);
    if (this.#hasBegun) this.proceed();
    else worker.tell('close', undefined);
  }

  closed(worker: Stopping): void {
    this.#closed.add(worker);
    if (this.#hasBegun) this.proceed();
    else worker.tell('answer', undefined);
  }

  /** Takes the next step once no worker has to be waited for. It is called again when a worker has ended. */
  proceed(): void {
    const all = [...this.#workers.values()];
    if (!this.#isLooking && all.every((worker) => this.#holding.has(worker))) {
      this.#isLooking = true;
      void emptyMoment(() => this.#isQuiet()).then(() => this.#tellAll('close'));
    }
    if (all.every((worker) => this.#closed.has(worker))) this.#tellAll('answer');
  }

  /** True if a moment passes without a new connection, and the workers have taken all earlier ones. */
  async #isQuiet(): Promise<boolean> {
    const before = this.#sum(({ handed }) => handed);
    await delay(tickMs);
    // Node's event loop accepts connections after timers and before immediates.
    await nextImmediate();
    return this.#sum(({ handed }) => handed) === before && this.#sum(({ untaken }) => untaken) === 0;
  }

  #sum(countOf: (worker: Stopping) => number): number {
    return [...this.#workers.values()].reduce((sum, worker) => sum + countOf(worker), 0);
  }

  #tellAll(what: 'close' | 'answer'): void {
    for (const worker of this.#workers.values()) worker.tell(what, undefined);
  }
}
