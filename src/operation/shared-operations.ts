import type { CallSpans, TraceContext } from '../rest/call-spans.ts';
import type { OperationCalls } from '../rest/operation-calls.ts';
import { Lifetime } from '../rest/operation-deadline.ts';
import type { OperationResult } from './result.ts';

/** Executes an operation within a lifetime; the result comes at once where nothing had to be read. */
export type Start = (lifetime: Lifetime) => Promise<OperationResult> | OperationResult;

/** Who waits for a run. */
export interface Waiting {
  /** Calls back when the client leaves before it is answered. */
  readonly onLeave: (listener: () => void) => void;
  /** What stands for its operation in traces. */
  readonly trace?: TraceContext;
  /** Hears that it is answered by another's run, where somebody traces. */
  readonly spans?: Pick<CallSpans, 'share'>;
}

/**
 * Nobody joins a run that has been under way for so long, in milliseconds: its deadline is that of the first, and who
 * comes later has a later one. The reads of those can still be shared.
 */
const boardingMs = 100;

/**
 * Equal queries under way under the same caller are one run: it is executed once, and everybody who waits gets its
 * result. It ends early when the last of them has left; its deadline is that of the first.
 */
export class Runs {
  readonly #deadlineMs: number;
  readonly #byCaller = new Map<string, Map<string, Run>>();
  #joined = 0;
  #savedCalls = 0;

  /** `deadlineMs` is the total deadline of an operation. */
  constructor(deadlineMs: number) {
    this.#deadlineMs = deadlineMs;
  }

  /** How often a run was joined so far. */
  get joined(): number {
    return this.#joined;
  }

  /** REST calls that those who joined a run would have made at least, so far. */
  get savedCalls(): number {
    return this.#savedCalls;
  }

  /** Joins the run of (caller, name), or starts it; `calls` are those of the one who starts it. */
  take(
    caller: string,
    name: string,
    waiting: Waiting,
    start: Start,
    calls: Pick<OperationCalls, 'made'>,
  ): Promise<OperationResult> | OperationResult {
    const running = this.#byCaller.get(caller)?.get(name)?.join(waiting);
    if (running !== undefined) {
      this.#joined += 1;
      return running;
    }
    const lifetime = new Lifetime(this.#deadlineMs);
    const result = start(lifetime);
    if (!(result instanceof Promise)) return result;
    const run = new Run(result, lifetime, waiting);
    const runs = this.#byCaller.get(caller);
    if (runs === undefined) this.#byCaller.set(caller, new Map([[name, run]]));
    else runs.set(name, run);
    const forget = (): void => {
      run.end();
      this.#savedCalls += run.joined * calls.made;
      this.#forget(caller, name, run);
    };
    result.then(forget, forget);
    return result;
  }

  /** Executes what must not be shared. */
  alone({ onLeave }: Waiting, start: Start): Promise<OperationResult> | OperationResult {
    const lifetime = new Lifetime(this.#deadlineMs);
    const result = start(lifetime);
    if (result instanceof Promise) onLeave(() => lifetime.end('left'));
    return result;
  }

  /** Nobody joins a run of this caller that began before now: a caller reads its own writes. */
  ground(caller: string): void {
    this.#byCaller.delete(caller);
  }

  #forget(caller: string, name: string, run: Run): void {
    const runs = this.#byCaller.get(caller);
    if (runs?.get(name) !== run) return;
    runs.delete(name);
    if (runs.size === 0) this.#byCaller.delete(caller);
  }
}

/** An operation under way, and how many wait for it. */
class Run {
  readonly #startedAt = performance.now();
  readonly #lifetime: Lifetime;
  readonly #trace: TraceContext | undefined;
  // Let go at the end: a map that has grown keeps entries that were deleted before alive for a while.
  #result: Promise<OperationResult> | undefined;
  #waiting = 0;
  /** How often it was joined. */
  joined = 0;

  constructor(result: Promise<OperationResult>, lifetime: Lifetime, first: Waiting) {
    this.#result = result;
    this.#lifetime = lifetime;
    this.#trace = first.trace;
    this.#seat(first);
  }

  /** The result, with one more who waits for it; undefined where it is too late to join. */
  join(waiting: Waiting): Promise<OperationResult> | undefined {
    if (this.#waiting === 0 || performance.now() - this.#startedAt >= boardingMs) return undefined;
    this.#seat(waiting);
    this.joined += 1;
    if (waiting.spans !== undefined && this.#trace !== undefined) waiting.spans.share(this.#trace);
    return this.#result;
  }

  /** It has its result. */
  end(): void {
    this.#result = undefined;
  }

  #seat({ onLeave }: Waiting): void {
    this.#waiting += 1;
    this.#lifetime.operations = this.#waiting;
    onLeave(() => {
      this.#waiting -= 1;
      this.#lifetime.operations = this.#waiting;
      if (this.#waiting === 0) this.#lifetime.end('left');
    });
  }
}
