import { UpstreamError } from './errors.ts';
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
  /**
   * The wave of the call, from 1. A call of a wave began after a call of the previous wave had ended. A retry stays in
   * its wave.
   */
  readonly wave: number;
  /** The reason of the previous failure if this is a retry: its HTTP status or a code such as `ECONNRESET`. */
  readonly retryOf?: string | undefined;
  /** True if another operation had it in flight already. */
  readonly shared: boolean;
  /** Set for a read that the cache answered, with a fresh (`hit`) or a stale answer. */
  readonly cache?: 'hit' | 'stale';
}

/** Facts about a kept answer, apart from its value. Times in milliseconds, on the clock of its cache. */
export interface AnswerSource {
  readonly noun: string;
  /** The time at which the upstream gave it. */
  readonly readAt: number;
  readonly freshUntil: number;
  /** True while the cache keeps the answer: until another one replaces it, or it is evicted to make room for others. */
  isKept: boolean;
}

const none: ReadonlySet<Surface> = new Set();
const noSources: readonly AnswerSource[] = [];

/** Called with the HTTP status when a call has ended; undefined if there was no answer. */
export type OnEnd = (status: number | undefined) => void;

/** The REST calls of one operation: their limit, their number, and the calls themselves if the operation is traced. */
export class OperationCalls {
  /** The number of calls that were sent, retries included. */
  made = 0;
  /** True once a call has succeeded. A later 401 is about the request, not about the key. */
  hasSucceeded = false;
  /** The number of reads that the cache answered with a stale answer. */
  stale = 0;
  /**
   * The time until which all answers given to the operation stay fresh. It is limited only by answers of nouns that the
   * cache keeps.
   */
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

  /** A new, empty object with the same limit and tracing. */
  forNextMessage(): OperationCalls {
    return new OperationCalls(this.#maximum, this.#isTraced);
  }

  /** True as long as the gateway may refuse the whole operation: no call and no part of the answer was sent. */
  get mayBeRefused(): boolean {
    return this.made === 0 && !this.#isAnswered;
  }

  /** Notes that a part of the answer is sent. */
  noteAnswer(): void {
    this.#isAnswered = true;
  }

  /** The number of reads that the cache answered, with a fresh or a stale answer. */
  get cached(): number {
    return this.#sources?.length ?? 0;
  }

  /**
   * Facts about the kept answers that the operation was given. Empty if one of these was stale, or if the operation
   * wanted to make a call.
   */
  get sources(): readonly AnswerSource[] {
    const isAll = this.stale === 0 && this.#surfaces === undefined;
    return isAll ? (this.#sources ?? noSources) : noSources;
  }

  /** The surfaces of the calls that the operation wanted to make, shared and refused calls included. */
  get surfaces(): ReadonlySet<Surface> {
    return this.#surfaces ?? none;
  }

  /**
   * The calls that have ended, by wave, and within a wave in the order of their beginning; empty unless the operation
   * is traced.
   */
  get calls(): readonly MadeCall[] {
    return this.#calls.filter((call) => call !== unfinished).toSorted((a, b) => a.wave - b.wave);
  }

  /** Notes the surface of a call that the operation wants to make. */
  noteSurface(surface: Surface): void {
    this.#surfaces ??= new Set();
    this.#surfaces.add(surface);
  }

  /** Reserves one more call; false if the operation may make no more. */
  reserve(): boolean {
    if (this.#reserved >= this.#maximum) return false;
    this.#reserved += 1;
    return true;
  }

  /**
   * Notes a call that is sent; `failure` is the error of the previous attempt, if there was one. Returns the listener
   * for its end if the operation is traced.
   */
  begin(method: string, path: string, failure?: unknown): OnEnd | undefined {
    this.made += 1;
    return this.#isTraced ? this.#trace(method, path, false, failure) : undefined;
  }

  /** Takes back a call that was given up before a connection took it. */
  withdraw(): void {
    this.made -= 1;
  }

  /** Notes a call in flight that the operation joins. Returns the listener for its end if the operation is traced. */
  share(path: string): OnEnd | undefined {
    return this.#isTraced ? this.#trace('GET', path, true) : undefined;
  }

  /**
   * Notes that an answer that the operation uses stays fresh at least until `freshUntil`. The earliest such time
   * counts. The call for the answer may be another operation's.
   */
  limitFreshness(freshUntil: number): void {
    if (freshUntil < this.freshUntil) this.freshUntil = freshUntil;
  }

  /** Notes a read that the cache answers. */
  reuse(path: string, source: AnswerSource, cache: 'hit' | 'stale'): void {
    this.#sources ??= [];
    this.#sources.push(source);
    if (cache === 'stale') this.stale += 1;
    this.limitFreshness(source.freshUntil);
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

/** The HTTP status of a failure, if there was an answer. */
export function statusOf(error: unknown): number | undefined {
  return error instanceof UpstreamError ? error.upstream?.status : undefined;
}
