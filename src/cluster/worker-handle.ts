import cluster, { type Worker } from 'node:cluster';
import { noUsage } from '../telemetry/client-usage.ts';
import { type Handovers, watchHandovers } from './handovers.ts';
import {
  isToPrimary,
  type Measurements,
  type Orders,
  type Started,
  type ToPrimary,
  type ToWorker,
} from './messages.ts';
import { createPending } from './pending.ts';
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

/** What the primary learns of one worker. */
export interface WorkerEvents {
  /** Anything but what its handle deals with itself. */
  readonly onMessage: (message: ToPrimary) => void;
  /** It has ended, with a code or by a signal. */
  readonly onEnd: (how: string) => void;
}

/** How long a worker has to report its metrics, in milliseconds; after that its last report counts. */
const measureTimeoutMs = 1000;

/**
 * How long a worker has to change an epoch, in milliseconds: writes wait for it. There are as many changes at a time as
 * writes, which have a limit of their own.
 */
const changeTimeoutMs = 5000;

/** The primary's side of one worker, from its start to its end; `PrimaryLink` is the other side. */
export class WorkerHandle {
  /** Once it listens; rejects with a WorkersError if it ends before, which has to be handled. */
  readonly started: Promise<Started>;
  readonly #worker: Worker;
  readonly #handovers: Handovers;
  readonly #measures = createPending<Measurements>(measureTimeoutMs);
  readonly #changes = createPending<true>(changeTimeoutMs, Number.POSITIVE_INFINITY);
  #measured: Measurements = { snapshot: [], usage: noUsage };
  #serves = false;

  constructor(orders: Orders, events: WorkerEvents) {
    const start = Promise.withResolvers<Started>();
    this.started = start.promise;
    this.#worker = cluster.fork();
    this.#handovers = watchHandovers(this.#worker.process);
    this.#worker.on('message', (message: unknown) => {
      if (!isToPrimary(message)) return;
      if (message.kind === 'listening') {
        this.#serves = true;
        start.resolve({ url: message.url, upstream: message.upstream });
      } else if (message.kind === 'failed') start.reject(new WorkersError(message.message, message.exitCode));
      else if (message.kind === 'measured') this.#measures.answer(message.id, message.measured);
      else if (message.kind === 'changed') this.#changes.answer(message.id, true);
      else events.onMessage(message);
    });
    // What cannot be sent is lost with its worker, whose end is handled below.
    this.#worker.on('error', () => undefined);
    this.#worker.on('exit', (code: number | null, signal: string | null) => {
      this.#serves = false;
      this.#changes.end();
      const how = signal === null ? `code ${code}` : `signal ${signal}`;
      start.reject(new WorkersError(`a worker ended with ${how} before it served`, 1));
      events.onEnd(how);
    });
    this.send({ kind: 'start', orders });
  }

  /** Whether it listens. */
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
    const measured = await this.#measures.ask((id) => this.send({ kind: 'measure', id }));
    this.#measured = measured ?? this.#measured;
    return this.#measured;
  }

  /** It changes the epoch of a key. Resolves once it has, or has ended; after a while in any case. */
  async change(change: EpochChange): Promise<void> {
    // Until it has been handed a connection it has read nothing.
    if (this.handed === 0) return;
    await this.#changes.ask((id) => this.send({ kind: 'change', id, change }));
  }

  send(message: ToWorker): void {
    if (this.#worker.isConnected()) this.#worker.send(message);
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
