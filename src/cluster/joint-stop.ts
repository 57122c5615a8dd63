import { setTimeout as delay, setImmediate as nextImmediate } from 'node:timers/promises';
import type { WorkerHandle } from './worker-handle.ts';

/** A worker that stops. */
type Stopping = Pick<WorkerHandle, 'tell' | 'handed' | 'untaken'>;

/**
 * Every connection has been accepted if so many looks in a row find no new one. So many milliseconds later it goes on in any
 * case.
 */
const emptyLooks = 4;
const longestLookMs = 1000;
const tickMs = 5;

/**
 * Has workers stop listening together. The primary accepts for all of them, and its socket closes when the last worker
 * leaves it: what it has accepted or not yet accepted then is reset. So first all workers let requests wait, until no
 * client is left to connect; then all leave the socket; and only then requests are answered, whose clients come again.
 */
export class JointStop {
  readonly #workers: ReadonlyMap<unknown, Stopping>;
  readonly #holding = new Set<Stopping>();
  readonly #closed = new Set<Stopping>();
  #hasBegun = false;
  #isLooking = false;

  /** `workers` are those that run, at any time. */
  constructor(workers: ReadonlyMap<unknown, Stopping>) {
    this.#workers = workers;
  }

  /** All workers are about to stop. */
  begin(): void {
    this.#hasBegun = true;
  }

  /** A worker lets its requests wait. One that stops alone need not wait for the others, which go on listening. */
  holding(worker: Stopping): void {
    this.#holding.add(worker);
    if (this.#hasBegun) this.proceed();
    else worker.tell('close', undefined);
  }

  /** A worker has stopped listening. */
  closed(worker: Stopping): void {
    this.#closed.add(worker);
    if (this.#hasBegun) this.proceed();
    else worker.tell('answer', undefined);
  }

  /** Goes on if no worker has to be waited for any more; called again when one has ended. */
  proceed(): void {
    const all = [...this.#workers.values()];
    if (!this.#isLooking && all.every((worker) => this.#holding.has(worker))) {
      this.#isLooking = true;
      void this.#emptyMoment().then(() => this.#tellAll('close'));
    }
    if (all.every((worker) => this.#closed.has(worker))) this.#tellAll('answer');
  }

  async #emptyMoment(): Promise<void> {
    const until = performance.now() + longestLookMs;
    let empty = 0;
    while (empty < emptyLooks && performance.now() < until) {
      const before = this.#sum(({ handed }) => handed);
      await delay(tickMs);
      // Node's event loop accepts after its timers and before its immediates.
      await nextImmediate();
      const isQuiet = this.#sum(({ handed }) => handed) === before && this.#sum(({ untaken }) => untaken) === 0;
      empty = isQuiet ? empty + 1 : 0;
    }
  }

  #sum(countOf: (worker: Stopping) => number): number {
    return [...this.#workers.values()].reduce((sum, worker) => sum + countOf(worker), 0);
  }

  #tellAll(what: 'close' | 'answer'): void {
    for (const worker of this.#workers.values()) worker.tell(what, undefined);
  }
}
