import type { ChildProcess } from 'node:child_process';
import cluster, { type Worker } from 'node:cluster';
import { ConfigError } from '../config-error.ts';
import type { EpochChange } from '../rest/read-your-writes.ts';
import { isObject } from '../rest/values.ts';
import { noUsage } from '../telemetry/client-usage.ts';
import type { Measurements, PrimaryFunctions, Started, WorkerFunctions } from './messages.ts';
import { type ArgumentOf, type Batch, Channel } from './rpc.ts';

/** The primary's handlers for one worker. */
export interface WorkerEvents {
  /** The functions that the worker may call, except those that the handle itself provides. */
  readonly functions: Omit<PrimaryFunctions, 'listening' | 'failed'>;
  /** Called when the worker has ended. `how` names its exit code, or the signal that ended it. */
  readonly onEnd: (how: string) => void;
}

/** The time in which a worker has to report its metrics, in milliseconds; after that its last report counts. */
const measureTimeoutMs = 1000;

/** The time in which a worker has to change an epoch, in milliseconds: writes wait for it. */
const changeTimeoutMs = 5000;

/** The primary's side of one worker, from its start to its end; `PrimaryLink` is the other side. */
export class WorkerHandle {
  /** Resolves once the worker listens. Rejects with the reason if it fails before. The owner must handle rejections. */
  readonly started: Promise<Started>;
  readonly handovers: Handovers;
  readonly #worker: Worker;
  readonly #channel: Channel<WorkerFunctions>;
  /** The counts in its last report. */
  measured: Measurements = { snapshot: [], usage: noUsage };
  /** True from when it listens until it ends. */
  serves = false;
  /** True once it has served, even if it has ended since. */
  hasServed = false;

  constructor(events: WorkerEvents) {
    const start = Promise.withResolvers<Started>();
    this.started = start.promise;
    this.#worker = cluster.fork();
    this.handovers = new Handovers(this.#worker.process);
    const functions: PrimaryFunctions = {
      ...events.functions,
      listening: (started) => {
        this.serves = true;
        this.hasServed = true;
        start.resolve(started);
      },
      failed: ({ message, exitCode }) => start.reject(exitCode === 2 ? new ConfigError(message) : new Error(message)),
    };
    const send = (batch: Batch): void => {
      if (this.#worker.isConnected()) this.#worker.send(batch);
    };
    this.#channel = new Channel(send, { ...functions });
    this.#worker.on('message', (message: unknown) => this.#channel.receive(message));
    // A message that cannot be sent is lost with its worker, whose end is handled below.
    this.#worker.on('error', () => undefined);
    this.#worker.on('exit', (code: number | null, signal: string | null) => {
      this.serves = false;
      this.#channel.end();
      const how = signal === null ? `code ${code}` : `signal ${signal}`;
      start.reject(new Error(`a worker ended with ${how} before it served`));
      events.onEnd(how);
    });
  }

  /** The worker's current counts, or the counts of its last report if it does not answer. */
  async measure(): Promise<Measurements> {
    const measured = await this.#channel.ask('measure', undefined, measureTimeoutMs);
    return (this.measured = measured ?? this.measured);
  }

  /**
   * Makes the worker change the epoch of one key or of all keys. Resolves to true when the worker has done so or has
   * ended, and to false when the time is up.
   */
  async adoptEpoch(change: EpochChange): Promise<boolean> {
    // A worker that was never handed a connection has read nothing that the change could affect.
    if (this.handovers.handed === 0) return true;
    const isAdopted = await this.#channel.ask('adoptEpoch', change, changeTimeoutMs);
    return isAdopted ?? this.#worker.isDead();
  }

  tell<Name extends keyof WorkerFunctions>(name: Name, argument: ArgumentOf<WorkerFunctions[Name]>): void {
    this.#channel.tell(name, argument);
  }

  kill(): void {
    this.#worker.process.kill('SIGKILL');
  }
}

/** Makes every worker that is started from now on run this program as a worker. */
export function setUpWorkers(): void {
  cluster.setupPrimary({ args: ['worker'], serialization: 'advanced' });
}

/** The time for which `createRestarts` remembers the end of a worker, in milliseconds. */
const memoryMs = 60_000;

const firstDelayMs = 100;
const longestDelayMs = 5000;

/** The number of ends within a minute, on average for each worker, after which no further worker is started. */
const mostEnds = 5;

/**
 * Makes the function that returns the delay before an ended worker is replaced, in milliseconds; undefined if workers
 * keep ending. The delay doubles after each further end of a worker with the same index.
 */
export function createRestarts(workers: number): (index: number, isHarmless?: boolean) => number | undefined {
  let ends: { readonly index: number; readonly at: number; readonly isHarmless: boolean }[] = [];
  return (index, isHarmless = false) => {
    const at = performance.now();
    ends = [...ends.filter((end) => at - end.at < memoryMs), { index, at, isHarmless }];
    if (!isHarmless && ends.filter((end) => !end.isHarmless).length >= mostEnds * workers) return undefined;
    const times = ends.filter((end) => end.index === index).length;
    return Math.min(firstDelayMs * 2 ** (times - 1), longestDelayMs);
  };
}

/** A connection that has been handed to a worker and that the worker does not read yet. */
interface Connection {
  readonly close: () => void;
}

/**
 * Counts the connections that a worker is handed. When the worker ends, closes the connections that it had not taken;
 * the operating system closes the others. Node's cluster would wait forever for the ended worker to acknowledge them,
 * and their clients would wait forever for an answer. In `handoff` of lib/internal/cluster/round_robin_handle.js, the
 * primary sends a message `newconn` with a number. The worker sends an `ack` with that number before it reads from the
 * connection.
 */
export class Handovers {
  readonly #untaken = new Map<unknown, Connection>();
  handed = 0;

  constructor(worker: ChildProcess) {
    const send = worker.send.bind(worker);
    const watched = (message: unknown, handle?: unknown, ...others: unknown[]): unknown => {
      if (isObject(message) && message['act'] === 'newconn' && isConnection(handle)) {
        this.handed += 1;
        this.#untaken.set(message['seq'], handle);
      }
      return Reflect.apply(send, undefined, [message, handle, ...others]);
    };
    Object.defineProperty(worker, 'send', { value: watched });
    worker.on('internalMessage', (message: unknown) => {
      if (isObject(message)) this.#untaken.delete(message['ack']);
    });
    worker.once('exit', () => {
      for (const connection of this.#untaken.values()) connection.close();
      this.#untaken.clear();
    });
  }

  /** The number of connections that the worker was handed and has not taken yet. */
  get untaken(): number {
    return this.#untaken.size;
  }
}

function isConnection(handle: unknown): handle is Connection {
  return typeof handle === 'object' && handle !== null && 'close' in handle && typeof handle.close === 'function';
}
