import { UpstreamError } from './errors.ts';
import { reasonOf } from './failure-reasons.ts';
import type { Surface } from './operation-ids.ts';

/** A call that an operation made, or shared with one that was under way. */
export interface MadeCall {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** Undefined if there was no answer. */
  readonly status: number | undefined;
  readonly milliseconds: number;
  /** From 1; a call of a wave began after one of the wave before it had ended. One that is sent again stays in its wave. */
  readonly wave: number;
  /** Of a call that is sent again: why it had failed, as its HTTP status or a reason such as `ECONNRESET`. */
  readonly retryOf?: string | undefined;
  /** True if it was under way already for another operation. */
  readonly shared: boolean;
  /** Of a read that was no call: whether the cache answered it in time, or with what is too old by a little. */
  readonly cache?: 'hit' | 'stale';
}

const none: ReadonlySet<Surface> = new Set();

/** Called with how a call ended. */
export type OnEnd = (status: number | undefined) => void;

/** The REST calls of one operation: how many it may make, how many it made, and which, if it is traced. */
export class OperationCalls {
  readonly #maximum: number;
  readonly #isTraced: boolean;
  readonly #calls: MadeCall[] = [];
  #surfaces: Set<Surface> | undefined;
  #reserved = 0;
  #made = 0;
  #cached = 0;
  #stale = 0;
  /** The latest wave of which a call has ended. */
  #ended = 0;
  #isAnswered = false;

  constructor(maximum: number, isTraced = false) {
    this.#maximum = maximum;
    this.#isTraced = isTraced;
  }

  /** Calls with the same limit, traced if these are, of which none is made yet. */
  again(): OperationCalls {
    return new OperationCalls(this.#maximum, this.#isTraced);
  }

  /** How many calls went out, repeated ones included. */
  get made(): number {
    return this.#made;
  }

  /** True as long as the gateway may refuse the operation as a whole: none of its calls was sent, and nothing of its answer. */
  get mayBeRefused(): boolean {
    return this.#made === 0 && !this.#isAnswered;
  }

  /** A part of the answer goes out. */
  answer(): void {
    this.#isAnswered = true;
  }

  /** Reads that the cache answered, stale ones included. */
  get cached(): number {
    return this.#cached;
  }

  /** Those of them whose answers were stale. */
  get stale(): number {
    return this.#stale;
  }

  /** The surfaces of the calls that it wanted to make, whether these went out, were shared or refused. */
  get surfaces(): ReadonlySet<Surface> {
    return this.#surfaces ?? none;
  }

  /** The calls by their beginning; empty unless it is traced. */
  get calls(): readonly MadeCall[] {
    return this.#calls.filter((call) => call !== unfinished).toSorted((a, b) => a.wave - b.wave);
  }

  /** The operation wants to make a call of a surface. */
  touch(surface: Surface): void {
    this.#surfaces ??= new Set();
    this.#surfaces.add(surface);
  }

  /** True if the operation may make one more call, which is then counted as granted. */
  reserve(): boolean {
    if (this.#reserved >= this.#maximum) return false;
    this.#reserved += 1;
    return true;
  }

  /** A call goes out; `failure` is how it failed before, if it did. */
  begin(method: string, path: string, failure?: unknown): OnEnd {
    this.#made += 1;
    return this.#isTraced ? this.#trace(method, path, false, failure) : ignored;
  }

  /** A call is under way already, and answers this operation too. */
  share(path: string): OnEnd {
    return this.#isTraced ? this.#trace('GET', path, true) : ignored;
  }

  /** The cache answers a read. */
  reuse(path: string, cache: 'hit' | 'stale'): void {
    this.#cached += 1;
    if (cache === 'stale') this.#stale += 1;
    if (!this.#isTraced) return;
    const wave = this.#ended + 1;
    this.#calls.push({ method: 'GET', path, status: 200, milliseconds: 0, wave, shared: false, cache });
  }

  #trace(method: string, path: string, shared: boolean, failure?: unknown): OnEnd {
    const before = failure === undefined ? undefined : this.#calls.findLast((call) => call.path === path);
    const at = this.#calls.push(unfinished) - 1;
    const startedAt = performance.now();
    const wave = before?.wave ?? this.#ended + 1;
    const retryOf = before && { retryOf: String(statusOf(failure) ?? reasonOf(failure) ?? 'OTHER') };
    return (status) => {
      const milliseconds = Math.round((performance.now() - startedAt) * 10) / 10;
      this.#calls[at] = { method, path, status, milliseconds, wave, shared, ...retryOf };
      this.#ended = Math.max(this.#ended, wave);
    };
  }
}

const unfinished: MadeCall = { method: '', path: '', status: undefined, milliseconds: 0, wave: 0, shared: false };

function ignored(): void {
  // It is not traced.
}

/** The HTTP status of a failure, if there was an answer. */
export function statusOf(error: unknown): number | undefined {
  return error instanceof UpstreamError ? error.upstream?.status : undefined;
}
