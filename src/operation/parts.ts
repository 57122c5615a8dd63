import type { GraphQLError } from 'graphql';
import type { AnswerCounter } from '../answer/answer-counter.ts';
import type { GatewayContext, PartsFormat } from '../context.ts';
import type { EventLoopYield } from '../event-loop-yield.ts';
import type { Claim } from '../memory.ts';
import type { CallBudget } from '../rest/budget/call-budget.ts';
import { UpstreamError } from '../rest/errors.ts';
import type { OperationDeadline } from '../rest/operation-deadline.ts';
import type { CreateContext } from './contexts.ts';
import type { ExecutedEntry, ExecutedPart } from './defer.ts';
import type { DeferredOperation } from './document.ts';
import { charactersOf, type ErrorReporting, maximumPaths, type PublicError, toPublicErrors } from './errors.ts';
import type { PlannedRun } from './operation-run.ts';
import { overload } from './request-error.ts';
import type { AnswerParts, OperationResult } from './result.ts';
import type { Results } from './results.ts';
import { formatted, stringifyResult } from './serialize.ts';
import { withBudget } from './spent-budget.ts';

interface PartsOptions extends ErrorReporting {
  readonly createContext: CreateContext;
  readonly results: Results;
  readonly eventLoop: EventLoopYield;
  readonly budget?: CallBudget | undefined;
}

/** An operation with `@defer`, and the format of its parts. */
type Deferred = Pick<DeferredOperation, 'execute'> & { readonly format: PartsFormat };

/** The operation with `@defer` and the format of its parts; undefined if it is answered as a whole. */
export function deferredOf({ document: { prepared }, cost, request }: PlannedRun): Deferred | undefined {
  const { deferred } = prepared;
  if (deferred === undefined || request.parts === undefined || !cost.mayDefer) return undefined;
  return { execute: deferred.execute, format: request.parts };
}

/**
 * Executes an operation in parts. The result describes the first part and holds the texts of all parts. If the
 * variables defer nothing, it is an ordinary result. The operation ends with its last part, however slowly the client
 * reads.
 */
export async function executeInParts(
  run: PlannedRun,
  { format, execute }: Deferred,
  deadline: OperationDeadline,
  options: PartsOptions,
): Promise<OperationResult> {
  const { cost, request, coerced, document } = run;
  const { results, eventLoop, budget } = options;
  const context: GatewayContext = { ...options.createContext(request, deadline, cost.calls, run.epoch), parts: format };
  const { answer } = context;
  deadline.isLarge = cost.isLarge;
  const finish = (): void => {
    deadline.finish();
    answer.finish();
  };
  const takeTurn = async (): Promise<void> => {
    if (cost.isLarge) await eventLoop.takeLast();
  };
  try {
    const executed = await execute(context, coerced);
    await takeTurn();
    const { prepared } = document;
    const isInParts = 'initialResult' in executed;
    const { data, errors } = isInParts ? executed.initialResult : executed;
    const execution = { data, errors, prepared, answer, deadline };
    const { why, mostBytes } = results.weigh(execution);
    if (!isInParts || why !== undefined) {
      finish();
      const { freshUntil } = cost.calls;
      return await withBudget(run, results.of({ ...execution, cost, freshUntil }), budget);
    }
    const writer = new PartsWriter(run, format, { answer, deadline }, options);
    const first = writer.first(executed.initialResult, mostBytes);
    cost.calls.answer();
    const parts = writeParts(writer, first, executed.subsequentResults, takeTurn);
    parts.over.finally(finish).catch(options.report);
    const { rateLimits } = await withBudget(run, {}, budget);
    return { prepared, data, errors: writer.errors, parts: { format, ...parts }, rateLimits };
  } catch (error) {
    finish();
    throw error;
  }
}

/** The texts of all parts, made as soon as the executor has them. `takeTurn` waits until there is time for a part. */
function writeParts(
  writer: PartsWriter,
  first: string,
  further: AsyncIterable<ExecutedPart>,
  takeTurn: () => Promise<void>,
): Omit<AnswerParts, 'format'> {
  let controller: ReadableStreamDefaultController<string> | undefined;
  const texts = new ReadableStream<string>({
    start: (taken) => {
      controller = taken;
      taken.enqueue(first);
    },
    // The client has left.
    cancel: () => {
      controller = undefined;
    },
  });
  const write = async (): Promise<OperationResult> => {
    try {
      for await (const part of further) {
        await takeTurn();
        const text = await writer.next(part);
        controller?.enqueue(text);
        if (writer.isOver) break;
      }
    } catch (error) {
      const text = await writer.fail(error);
      controller?.enqueue(text);
    }
    controller?.close();
    return { data: null, errors: writer.errors };
  };
  return { texts, over: write() };
}

/**
 * Writes the parts of one answer. The limits of an answer apply to all parts together. A part that exceeds a limit is
 * left out, with all parts after it; the last part gives the reason.
 */
class PartsWriter {
  readonly #run: PlannedRun;
  readonly #format: PartsFormat;
  readonly #counts: { readonly answer: AnswerCounter; readonly deadline: OperationDeadline };
  readonly #options: PartsOptions;
  /** The memory that all parts have claimed so far. */
  readonly #claim: Claim;
  /** The ids of the fragments that were announced to the client and have not been sent yet. */
  readonly #pending = new Set<unknown>();
  readonly #reported: PublicError[] = [];
  #paths = 0;
  #written = 0;
  isOver = false;

  constructor(
    run: PlannedRun,
    format: PartsFormat,
    counts: { readonly answer: AnswerCounter; readonly deadline: OperationDeadline },
    options: PartsOptions,
  ) {
    this.#run = run;
    this.#format = format;
    this.#counts = counts;
    this.#options = options;
    this.#claim = options.results.claimFor(run.request);
  }

  get errors(): readonly PublicError[] | undefined {
    return this.#reported.length === 0 ? undefined : this.#reported;
  }

  /**
   * The JSON text of the first part. The part must be within the limits and have at most `mostBytes` bytes. Throws if
   * there is no room for it.
   */
  first({ data, errors = [], pending = [] }: ExecutedPart, mostBytes: number): string {
    if (!this.#options.results.hasRoomFor(data, mostBytes)) throw overload();
    for (const entry of pending) this.#pending.add(idOf(entry));
    const { prepared } = this.#run.document;
    const reported = errors.length === 0 ? undefined : toPublicErrors(errors, this.#options);
    this.#note(reported ?? []);
    const result = stringifyResult({ data, errors: reported, prepared });
    const rest = JSON.stringify({ pending: this.#format === 'v0.2' ? pending : undefined, hasNext: true });
    const text = `${result.slice(0, -1)},${rest.slice(1)}`;
    this.#written = Buffer.byteLength(text);
    if (!this.#claim.resize(this.#written)) throw overload();
    return text;
  }

  async next(part: ExecutedPart): Promise<string> {
    const why = this.#whyNot(part);
    if (why !== undefined) return this.fail(why);
    if (!part.hasNext) await this.#completeCost();
    const text = this.#textOf(part);
    if (text === undefined) return this.fail(new UpstreamError('UPSTREAM_INVALID_RESPONSE'));
    const written = this.#written + Buffer.byteLength(text);
    if (!this.#claim.resize(written)) return this.fail(new UpstreamError('OVERLOADED'));
    this.#written = written;
    for (const entry of part.pending ?? []) this.#pending.add(idOf(entry));
    for (const entry of part.completed ?? []) this.#pending.delete(idOf(entry));
    this.isOver = !part.hasNext;
    return text;
  }

  /** The JSON text of a last part that ends the answer early, with the reason. */
  async fail(why: unknown): Promise<string> {
    const { report } = this.#options;
    // The budget is reported if its state can be determined.
    await this.#completeCost().catch(report);
    const reported = toPublicErrors([why], { maxErrors: 1, report });
    this.#reported.push(...reported);
    this.isOver = true;
    const errors = reported.map(formatted);
    const given =
      this.#format === 'v0.2'
        ? { completed: [...this.#pending].map((id) => ({ id, errors })) }
        : { incremental: [{ data: null, path: [], errors }] };
    return JSON.stringify({ ...given, hasNext: false, extensions: this.#run.cost.extensions() });
  }

  /** Adds the state of the budget to the cost, which the last part reports. */
  async #completeCost(): Promise<void> {
    if (this.#run.cost.wantsCost) await withBudget(this.#run, {}, this.#options.budget);
  }

  #whyNot({ incremental = [] }: ExecutedPart): Error | undefined {
    const { results } = this.#options;
    const { prepared } = this.#run.document;
    const data = incremental.map((entry) => entry.data);
    const { why, mostBytes } = results.weigh({ data, prepared, ...this.#counts, written: this.#written });
    if (why === undefined && !results.hasRoomFor(data, mostBytes)) return new UpstreamError('OVERLOADED');
    return why;
  }

  /** The JSON text of a part; undefined if values from the upstream nest too deeply to be written. */
  #textOf({ pending, incremental, completed, hasNext }: ExecutedPart): string | undefined {
    const part = {
      pending,
      incremental: incremental?.map((entry) => this.#masked(entry)),
      completed: completed?.map((entry) => this.#masked(entry)),
      hasNext,
      extensions: hasNext ? undefined : this.#run.cost.extensions(),
    };
    try {
      return JSON.stringify(part);
    } catch (error) {
      if (error instanceof RangeError) return undefined;
      throw error;
    }
  }

  #masked(entry: ExecutedEntry): object {
    return entry.errors === undefined ? entry : { ...entry, errors: this.#publicErrors(entry.errors) };
  }

  /**
   * Converts errors to the form that clients may see. Once the limits of the whole answer are reached, each place only
   * reports how many errors are left out.
   */
  #publicErrors(errors: readonly GraphQLError[]): readonly object[] {
    const { maxErrors, report } = this.#options;
    const left = this.#paths > maximumPaths ? 0 : Math.max(maxErrors - this.#reported.length, 0);
    const reported = toPublicErrors(errors, { maxErrors: left, report });
    this.#note(reported);
    return reported.map(formatted);
  }

  #note(reported: readonly PublicError[]): void {
    this.#reported.push(...reported);
    for (const error of reported) this.#paths += charactersOf(error);
  }
}

function idOf(entry: object): unknown {
  return 'id' in entry ? entry.id : undefined;
}
