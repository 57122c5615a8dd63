import { statusOf } from './errors.ts';
import { reasonOf } from './failure-reasons.ts';
import type { Surface } from './rest-operations.ts';

/** A call that an operation made, or joined. */
export interface MadeCall {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** Undefined if there was no answer. */
  readonly status: number | undefined;
  readonly milliseconds: number;
  /** From 1. A call of a wave began after a call of the previous wave had ended. A retry stays in its wave. */
  readonly wave: number;
  /** The reason of the failure before this retry: an HTTP status, or a code such as `ECONNRESET`. */
  readonly retryOf?: string | undefined;
  /** True if another operation had it in flight already. */
  readonly shared: boolean;
  /** Set for a read that the cache answered; `hit` if the answer was fresh. */
  readonly cache?: 'hit' | 'stale';
}

/** Facts about a kept answer. Times in milliseconds, on the clock of its cache. */
export interface AnswerSource {
  readonly noun: string;
  /** The time at which the upstream gave it. */
  readonly readAt: number;
  readonly freshUntil: number;
  /** True until another answer replaces this one, or evicts it. */
  isKept: boolean;
}

const none: ReadonlySet<Surface> = new Set();
const noSources: readonly AnswerSource[] = [];

/** Called with the HTTP status when a call has ended; undefined if there was no answer. */
export type CallEnded = (status: number | undefined) => void;

/** The REST calls of one operation. The calls themselves are kept only if the operation is traced. */
export class OperationCalls {
  /** The number of sent calls, retries included. */
  made = 0;
  /** True once a call has succeeded. A later 401 is about the request, not about the key. */
  hasSucceeded = false;
  /** The number of stale answers that the cache gave. */
  stale = 0;
  /** The time until which all answers given to the operation stay fresh. Only nouns that are cached limit it. */
  freshUntil = Number.POSITIVE_INFINITY;
  readonly #maximum: number;
  readonly #isTraced: boolean;
  readonly #calls: MadeCall[] = [];
  #surfaces: Set<Surface> | undefined;
  #reserved = 0;
  #sources: AnswerSource[] | undefined;
  /** The latest wave with a call that has ended. */
  #ended = 0;
  #isAnswered = false;

  constructor(maximum: number, isTraced = false) {
    this.#maximum = maximum;
    this.#isTraced = isTraced;
  }

  /** An empty object with the same limit and tracing. */
  forNextMessage(): OperationCalls {
    return new OperationCalls(this.#maximum, this.#isTraced);
  }

  /** True as long as no call and no part of the answer was sent, so that the whole operation may be refused. */
  get mayBeRefused(): boolean {
    return this.made === 0 && !this.#isAnswered;
  }

  /** Notes that a part of the answer is sent. */
  noteAnswer(): void {
    this.#isAnswered = true;
  }

  /** The number of reads that the cache answered. */
  get cached(): number {
    return this.#sources?.length ?? 0;
  }

  /** The kept answers that the operation was given. Empty if one of them was stale, or if a read needed a REST call. */
  get sources(): readonly AnswerSource[] {
    const isAll = this.stale === 0 && this.#surfaces === undefined;
    return isAll ? (this.#sources ?? noSources) : noSources;
  }

  /** The surfaces of all wanted calls, shared and refused ones included. */
  get surfaces(): ReadonlySet<Surface> {
    return this.#surfaces ?? none;
  }

  /** The ended calls by wave, and within a wave by their beginning; empty unless the operation is traced. */
  get calls(): readonly MadeCall[] {
    return this.#calls.filter((call) => call !== unfinished).toSorted((a, b) => a.wave - b.wave);
  }

  noteSurface(surface: Surface): void {
    this.#surfaces ??= new Set();
    this.#surfaces.add(surface);
  }

  /** False if the operation may make no more calls. */
  reserve(): boolean {
    if (this.#reserved >= this.#maximum) return false;
    this.#reserved += 1;
    return true;
  }

  /**
   * Notes a call that is sent; `failure` is the error of the previous attempt. Returns the listener for its end if the
   * operation is traced.
   */
  begin(method: string, path: string, failure?: unknown): CallEnded | undefined {
    this.made += 1;
    return this.#isTraced ? this.#trace(method, path, false, failure) : undefined;
  }

  /** Takes back a call that was given up before a connection took it. */
  withdraw(): void {
    this.made -= 1;
  }

  /** Notes a call in flight that the operation joins. Returns the listener for its end if the operation is traced. */
  noteShared(path: string): CallEnded | undefined {
    return this.#isTraced ? this.#trace('GET', path, true) : undefined;
  }

  /** Notes that an answer which the operation uses stays fresh at least until `freshUntil`. */
  limitFreshness(freshUntil: number): void {
    if (freshUntil < this.freshUntil) this.freshUntil = freshUntil;
  }

  /** Notes a read that the cache answers. */
  noteCached(path: string, source: AnswerSource, cache: 'hit' | 'stale'): void {
    this.#sources ??= [];
    this.#sources.push(source);
    if (cache === 'stale') this.stale += 1;
    this.limitFreshness(source.freshUntil);
    if (!this.#isTraced) return;
    const wave = this.#ended + 1;
    this.#calls.push({ method: 'GET', path, status: 200, milliseconds: 0, wave, shared: false, cache });
  }

  #trace(method: string, path: string, shared: boolean, failure?: unknown): CallEnded {
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
