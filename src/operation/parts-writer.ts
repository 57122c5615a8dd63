import type { GraphQLError } from 'graphql';
import type { AnswerCounter } from '../answer/answer-counter.ts';
import type { PartsFormat } from '../context.ts';
import type { Claim, Reader } from '../memory.ts';
import { UpstreamError } from '../rest/errors.ts';
import type { OperationDeadline } from '../rest/operation-deadline.ts';
import type { Cost } from './cost.ts';
import type { ExecutedEntry, ExecutedPart } from './defer.ts';
import type { PreparedOperation } from './document.ts';
import { charactersOf, type ErrorReporting, maximumPaths, type PublicError, toPublicErrors } from './errors.ts';
import { overload } from './request-error.ts';
import type { Results } from './results.ts';
import { formatted, stringifyResult } from './serialize.ts';

/** Collaborators and limits of an answer in parts. */
export interface PartsOptions extends ErrorReporting {
  readonly format: PartsFormat;
  readonly prepared: PreparedOperation;
  readonly request: Reader;
  readonly cost: Cost;
  readonly answer: AnswerCounter;
  readonly deadline: OperationDeadline;
  readonly results: Results;
  /** Completes the cost that the last part reports. */
  readonly beforeLast: () => Promise<void>;
}

/**
 * Writes the parts of one answer. The limits of an answer apply to all parts together. A part that exceeds a limit is
 * left out, with all parts after it; the last part gives the reason.
 */
export class PartsWriter {
  readonly #options: PartsOptions;
  /** The memory that all parts have claimed so far. */
  readonly #claim: Claim;
  /** The ids of the fragments that were announced to the client and have not been sent yet. */
  readonly #pending = new Set<unknown>();
  readonly #reported: PublicError[] = [];
  /** Characters of the paths of the errors so far. */
  #paths = 0;
  #written = 0;
  #isOver = false;

  constructor(options: PartsOptions) {
    this.#options = options;
    this.#claim = options.results.claimFor(options.request);
  }

  /** True if the last part has been written. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The errors of all parts so far. */
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
    const { format, prepared } = this.#options;
    const reported = errors.length === 0 ? undefined : toPublicErrors(errors, this.#options);
    this.#note(reported ?? []);
    const result = stringifyResult({ data, errors: reported, prepared });
    const rest = JSON.stringify({ pending: format === 'v0.2' ? pending : undefined, hasNext: true });
    const text = `${result.slice(0, -1)},${rest.slice(1)}`;
    this.#written = Buffer.byteLength(text);
    if (!this.#claim.resize(this.#written)) throw overload();
    return text;
  }

  /** The JSON text of a further part. */
  async next(part: ExecutedPart): Promise<string> {
    const why = this.#whyNot(part);
    if (why !== undefined) return this.fail(why);
    if (!part.hasNext) await this.#options.beforeLast();
    const text = this.#textOf(part);
    if (text === undefined) return this.fail(new UpstreamError('UPSTREAM_INVALID_RESPONSE'));
    const written = this.#written + Buffer.byteLength(text);
    if (!this.#claim.resize(written)) return this.fail(new UpstreamError('OVERLOADED'));
    this.#written = written;
    for (const entry of part.pending ?? []) this.#pending.add(idOf(entry));
    for (const entry of part.completed ?? []) this.#pending.delete(idOf(entry));
    this.#isOver = !part.hasNext;
    return text;
  }

  /** The JSON text of a last part that ends the answer early, with the reason. */
  async fail(why: unknown): Promise<string> {
    const { format, cost, report, beforeLast } = this.#options;
    // The budget is reported if its state can be determined.
    await beforeLast().catch(report);
    const reported = toPublicErrors([why], { maxErrors: 1, report });
    this.#reported.push(...reported);
    this.#isOver = true;
    const errors = reported.map(formatted);
    const given =
      format === 'v0.2'
        ? { completed: [...this.#pending].map((id) => ({ id, errors })) }
        : { incremental: [{ data: null, path: [], errors }] };
    return JSON.stringify({ ...given, hasNext: false, extensions: cost.extensions() });
  }

  #whyNot({ incremental = [] }: ExecutedPart): Error | undefined {
    const { results, prepared, answer, deadline } = this.#options;
    const data = incremental.map((entry) => entry.data);
    const { why, mostBytes } = results.weigh({ data, prepared, answer, deadline, written: this.#written });
    if (why === undefined && !results.hasRoomFor(data, mostBytes)) return new UpstreamError('OVERLOADED');
    return why;
  }

  /** The JSON text of a part; undefined if values from the upstream nest too deeply to be written. */
  #textOf({ pending, incremental, completed, hasNext }: ExecutedPart): string | undefined {
    const { cost } = this.#options;
    const part = {
      pending,
      incremental: incremental?.map((entry) => this.#masked(entry)),
      completed: completed?.map((entry) => this.#masked(entry)),
      hasNext,
      extensions: hasNext ? undefined : cost.extensions(),
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
    const reported = toPublicErrors(errors, {
      maxErrors: this.#paths > maximumPaths ? 0 : Math.max(maxErrors - this.#reported.length, 0),
      report,
    });
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
