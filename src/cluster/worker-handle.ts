import cluster, { type Worker } from 'node:cluster';
import { noUsage } from '../telemetry/client-usage.ts';
import { type Handovers, watchHandovers } from './handovers.ts';
import type { Measurements, Orders, PrimaryFunctions, Started, WorkerFunctions } from './messages.ts';
import { type ArgumentOf, type Batch, Channel } from './rpc.ts';
import type { EpochChange } from './worker-epochs.ts';

/** Workers that cannot serve. */
export class WorkersError extends Error {
  override readonly name = 'WorkersError';
  readonly exitCode: number;

  constructor(message: string, exitCode: number) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** What the primary does for one worker. */
export interface WorkerEvents {
  /** What it may call, but for what its handle deals with itself. */
  readonly functions: Omit<PrimaryFunctions, 'listening' | 'failed'>;
  /** It has ended, with a code or by a signal. */
  readonly onEnd: (how: string) => void;
}

/** How long a worker has to report its metrics, in milliseconds; after that its last report counts. */
const measureTimeoutMs = 1000;

/** How long a worker has to change an epoch, in milliseconds: writes wait for it. */
const changeTimeoutMs = 5000;

/** The primary's side of one worker, from its start to its end; `PrimaryLink` is the other side. */
export class WorkerHandle {
  /** Once it listens; rejects with a WorkersError if it ends before, which has to be handled. */
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
    // What cannot be sent is lost with its worker, whose end is handled below.
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

  /** True if it listens. */
  get serves(): boolean {
    return this.#serves;
  }

  /** Connections that it was handed. */
  get handed(): number {
    return this.#handovers.handed;
  }

  /** Those of them that it has not taken yet. */
  get untaken(): number {
    return this.#handovers.untaken;
  }

  /** What it had counted when it was last asked. */
  get lastMeasured(): Measurements {
    return this.#measured;
  }

  /** What it has counted now; what it said last if it does not answer. */
  async measure(): Promise<Measurements> {
    const measured = await this.#channel.ask('measure', undefined, measureTimeoutMs);
    this.#measured = measured ?? this.#measured;
    return this.#measured;
  }

  /** It changes the epoch of a key. Resolves once it has, or has ended; after a while in any case. */
  async change(change: EpochChange): Promise<void> {
    // Until it has been handed a connection it has read nothing.
    if (this.handed === 0) return;
    await this.#channel.ask('change', change, changeTimeoutMs);
  }

  /** Calls one of its functions. */
  tell<Name extends keyof WorkerFunctions>(name: Name, argument: ArgumentOf<WorkerFunctions[Name]>): void {
    this.#channel.tell(name, argument);
  }

  /** Ends it at once. */
  kill(): void {
    this.#worker.process.kill('SIGKILL');
  }
}

/** Has every worker started from here on run this program as a worker. */
export function setUpWorkers(): void {
  cluster.setupPrimary({ args: ['worker'], serialization: 'advanced' });
}
