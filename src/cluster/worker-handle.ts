import cluster, { type Worker } from 'node:cluster';
import { noUsage } from '../telemetry/client-usage.ts';
import { type Handovers, watchHandovers } from './handovers.ts';
import type { Measurements, Orders, PrimaryFunctions, Started, WorkerFunctions } from './messages.ts';
import { type ArgumentOf, type Batch, Channel } from './rpc.ts';
import type { EpochChange } from './worker-epochs.ts';

/** The error of workers that cannot serve. */
export class WorkersError extends Error {
  override readonly name = 'WorkersError';
  readonly exitCode: number;

  constructor(message: string, exitCode: number) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** The primary's handlers for one worker. */
export interface WorkerEvents {
  /** The functions that the worker may call, except those that the handle itself provides. */
  readonly functions: Omit<PrimaryFunctions, 'listening' | 'failed'>;
  /** Called when it has ended, with a code or by a signal. */
  readonly onEnd: (how: string) => void;
}

/** The time in which a worker has to report its metrics, in milliseconds; after that its last report counts. */
const measureTimeoutMs = 1000;

/** The time in which a worker has to change an epoch, in milliseconds: writes wait for it. */
const changeTimeoutMs = 5000;

/** The primary's side of one worker, from its start to its end; `PrimaryLink` is the other side. */
export class WorkerHandle {
  /** Resolves once it listens. Rejects with a WorkersError if it ends before, which the owner must handle. */
  readonly started: Promise<Started>;
  readonly #worker: Worker;
  readonly #handovers: Handovers;
  readonly #channel: Channel<WorkerFunctions>;
  #measured: Measurements = { snapshot: [], usage: noUsage };
  #serves = false;

  constructor(orders: Orders, events: WorkerEvents) {
    const start = Promise.withResolvers<Started>();
    this.started = start.promise;
    this.#worker = cluster.fork();
    this.#handovers = watchHandovers(this.#worker.process);
    const functions: PrimaryFunctions = {
      ...events.functions,
      listening: (started) => {
        this.#serves = true;
        start.resolve(started);
      },
      failed: ({ message, exitCode }) => start.reject(new WorkersError(message, exitCode)),
    };
    const send = (batch: Batch): void => {
      if (this.#worker.isConnected()) this.#worker.send(batch);
    };
    this.#channel = new Channel(send, { ...functions });
    this.#worker.on('message', (message: unknown) => this.#channel.receive(message));
    // A message that cannot be sent is lost with its worker, whose end is handled below.
    this.#worker.on('error', () => undefined);
    this.#worker.on('exit', (code: number | null, signal: string | null) => {
      this.#serves = false;
      this.#channel.end();
      const how = signal === null ? `code ${code}` : `signal ${signal}`;
      start.reject(new WorkersError(`a worker ended with ${how} before it served`, 1));
      events.onEnd(how);
    });
    this.tell('start', orders);
  }

  get serves(): boolean {
    return this.#serves;
  }

  get handed(): number {
    return this.#handovers.handed;
  }

  /** The number of these connections that it has not taken yet. */
  get untaken(): number {
    return this.#handovers.untaken;
  }

  get lastMeasured(): Measurements {
    return this.#measured;
  }

  /** Its current counts; those of its last report if it does not answer. */
  async measure(): Promise<Measurements> {
    const measured = await this.#channel.ask('measure', undefined, measureTimeoutMs);
    this.#measured = measured ?? this.#measured;
    return this.#measured;
  }

  /** Makes it change the epoch of a key. Resolves once it has done so or has ended, at the latest after the timeout. */
  async change(change: EpochChange): Promise<void> {
    // A worker that has not been handed a connection has read nothing.
    if (this.handed === 0) return;
    await this.#channel.ask('change', change, changeTimeoutMs);
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
