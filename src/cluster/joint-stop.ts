import { setTimeout as delay, setImmediate as nextImmediate } from 'node:timers/promises';
import { quietMoment } from '../server/graceful-stop.ts';
import type { Handovers, WorkerHandle } from './worker-handle.ts';

type Stopping = Pick<WorkerHandle, 'handovers'>;

/** The time between two checks for new connections, in milliseconds. */
const tickMs = 5;

/**
 * Makes all workers stop listening together. The primary accepts connections for all workers, and its socket is closed
 * when the last worker leaves it. That resets connections that no worker has taken yet. So all workers first let
 * requests wait until no client is about to connect. Then all leave the socket. Only then do they answer the requests,
 * and the clients reconnect. A worker that stops alone does not wait for the others, which go on listening.
 */
export class JointStop {
  readonly #workers: ReadonlyMap<unknown, Stopping>;
  /** The workers that let their requests wait. */
  readonly #holding = new Set<Stopping>();
  /** The workers that have left the socket. */
  readonly #closed = new Set<Stopping>();
  readonly #mayClose = Promise.withResolvers<void>();
  readonly #mayAnswer = Promise.withResolvers<void>();
  #hasBegun = false;
  #isChecking = false;

  /** `workers` always holds the running workers. */
  constructor(workers: ReadonlyMap<unknown, Stopping>) {
    this.#workers = workers;
  }

  begin(): void {
    this.#hasBegun = true;
  }

  /** Notes that a worker lets its requests wait. Resolves when it may leave the socket. */
  async mayClose(worker: Stopping): Promise<void> {
    this.#holding.add(worker);
    if (!this.#hasBegun) return;
    this.proceed();
    await this.#mayClose.promise;
  }

  /** Notes that a worker has left the socket. Resolves when it may answer the requests that wait. */
  async mayAnswer(worker: Stopping): Promise<void> {
    this.#closed.add(worker);
    if (!this.#hasBegun) return;
    this.proceed();
    await this.#mayAnswer.promise;
  }

  /** Takes the next step once no worker has to be waited for. It is called again when a worker has ended. */
  proceed(): void {
    const all = [...this.#workers.values()];
    if (!this.#isChecking && all.every((worker) => this.#holding.has(worker))) {
      this.#isChecking = true;
      void quietMoment(() => this.#isQuiet()).then(this.#mayClose.resolve);
    }
    if (all.every((worker) => this.#closed.has(worker))) this.#mayAnswer.resolve();
  }

  /** True if a moment passes without a new connection, and the workers have taken all earlier ones. */
  async #isQuiet(): Promise<boolean> {
    const before = this.#sum(({ handed }) => handed);
    await delay(tickMs);
    // Node's event loop accepts connections after timers and before immediates.
    await nextImmediate();
    return this.#sum(({ handed }) => handed) === before && this.#sum(({ untaken }) => untaken) === 0;
  }

  #sum(countOf: (handovers: Handovers) => number): number {
    return [...this.#workers.values()].reduce((sum, { handovers }) => sum + countOf(handovers), 0);
  }
}
