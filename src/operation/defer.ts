import {
  type DocumentNode,
  experimentalExecuteRootSelectionSet,
  GraphQLDeferDirective,
  type GraphQLError,
  Kind,
  legacyExecuteRootSelectionSet,
  type OperationDefinitionNode,
  type VariableValues,
  visit,
} from 'graphql';
import type { AnswerCounter } from '../answer-counter.ts';
import type { GatewayContext, PartsFormat } from '../context.ts';
import type { EventLoopYield } from '../event-loop-yield.ts';
import type { Claim } from '../memory.ts';
import { UpstreamError } from '../rest/errors.ts';
import type { Upstream } from '../rest/upstream.ts';
import type { AnswerLimits } from './answer-limits.ts';
import type { Costs } from './cost.ts';
import type { DeferredOperation } from './document.ts';
import { type ExecuteOptions, executionArgs } from './execute.ts';
import { type AnswerParts, formatted, type OperationResult, textOf } from './operation-result.ts';
import type { OperationRun } from './operation-run.ts';
import { type ErrorReporting, type PublicError, toPublicErrors } from './public-errors.ts';
import { withRateLimits } from './rate-limits.ts';
import { overload } from './request-error.ts';

/** One part of an answer, as graphql's executor makes it. */
export interface PartPayload {
  readonly data?: unknown;
  readonly errors?: readonly GraphQLError[];
  /** Announces the fragments that will follow, by their ids. */
  readonly pending?: readonly object[];
  readonly incremental?: readonly PartEntry[];
  readonly completed?: readonly PartEntry[];
  readonly hasNext: boolean;
}

/** The data or errors of one deferred fragment at one place. */
export interface PartEntry {
  readonly data?: unknown;
  readonly errors?: readonly GraphQLError[];
}

type WholeOrParts =
  | { readonly data?: unknown; readonly errors?: readonly GraphQLError[] }
  | { readonly initialResult: PartPayload; readonly subsequentResults: AsyncIterable<PartPayload> };

/** Runs an operation and delivers its deferred fragments later, in the format of `context.parts`. */
export type ExecuteInParts = (context: GatewayContext, variables: VariableValues) => Promise<WholeOrParts>;

/**
 * A document without `@defer`; the same object if it has none. The text is searched first, because few documents use
 * `@defer`.
 */
export function withoutDefer(text: string, document: DocumentNode): DocumentNode {
  if (!text.includes(GraphQLDeferDirective.name)) return document;
  // Returning null removes the node.
  const whole = visit(document, {
    Directive: ({ name }) => (name.value === GraphQLDeferDirective.name ? null : undefined),
  });
  if (whole === document) return document;
  // Selection trees are remembered by operation node. The two documents need different trees, so they must not share
  // such a node.
  const definitions = whole.definitions.map((one) => (one.kind === Kind.OPERATION_DEFINITION ? { ...one } : one));
  return { ...whole, definitions };
}

/**
 * Makes the function that executes an operation in parts; undefined if the operation is always answered as a whole.
 * Mutations are always answered as a whole, because the deferred fields of the first mutation would depend on whether
 * the second mutation has been executed.
 */
export function createExecuteInParts(
  { schemas: { incremental }, introspection }: ExecuteOptions,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): ExecuteInParts | undefined {
  if (incremental === undefined || operation.operation !== 'query') return undefined;
  const options = { schema: incremental.partsSchema, hideSuggestions: !introspection, enableEarlyExecution: true };
  const args = executionArgs(options, document, operation);
  return async (contextValue, variableValues) => {
    const execute = contextValue.parts === 'v0.2' ? experimentalExecuteRootSelectionSet : legacyExecuteRootSelectionSet;
    return execute({ ...args, contextValue, variableValues });
  };
}

interface PartsOptions extends ErrorReporting {
  readonly answerLimits: AnswerLimits;
  readonly upstream: Pick<Upstream, 'resources'>;
  readonly eventLoop: EventLoopYield;
}

/** The way to execute an operation in parts, and the format of the parts. */
export interface DeferredExecution extends Pick<DeferredOperation, 'execute'> {
  readonly format: PartsFormat;
}

/** Undefined if the operation is answered as a whole. Throws a RefusedDocument if the variables do not fit. */
export function deferredOf(run: OperationRun, costs: Costs): DeferredExecution | undefined {
  const { prepared } = run.document;
  const { parts: format } = run.request;
  if (prepared.deferred === undefined || format === undefined) return undefined;
  return costs.mayDefer(prepared, run.coerced) ? { execute: prepared.deferred.execute, format } : undefined;
}

/**
 * Executes an operation in parts. The result has the data of the first part and the texts of all parts. If the
 * variables defer nothing, it is an ordinary result. The operation ends with its last part, however slowly the client
 * reads.
 */
export async function executeInParts(
  run: OperationRun,
  context: GatewayContext,
  { format, execute }: DeferredExecution,
  options: PartsOptions,
): Promise<OperationResult> {
  const { cost, coerced } = run;
  const { prepared } = run.document;
  const { answerCounter } = context;
  const { answerLimits, eventLoop, upstream } = options;
  const finish = (): void => answerCounter.finish();
  const waitToWrite = async (): Promise<void> => {
    if (cost.isLarge) await eventLoop.waitToWrite();
  };
  try {
    const executed = await execute(context, coerced);
    await waitToWrite();
    const isInParts = 'initialResult' in executed;
    const whole = isInParts ? executed.initialResult : executed;
    const { error, mostBytes } = answerLimits.check(whole, prepared, answerCounter);
    if (!isInParts || error !== undefined) {
      finish();
      return await withRateLimits(run, answerLimits.resultOf(whole, run, answerCounter), upstream.resources);
    }
    const writer = new PartsWriter(run, format, answerCounter, options);
    const first = writer.first(executed.initialResult, mostBytes);
    cost.calls.noteAnswer();
    const parts = writeParts(writer, first, executed.subsequentResults, waitToWrite);
    parts.finished.then(finish, finish);
    const { rateLimits } = await withRateLimits(run, {}, upstream.resources);
    return { prepared, data: whole.data, errors: writer.errors, parts: { format, ...parts }, rateLimits };
  } catch (error) {
    finish();
    throw error;
  }
}

/** The texts of all parts: `first`, and then the others, each once the event loop has time for it. */
function writeParts(
  writer: PartsWriter,
  first: string,
  further: AsyncIterable<PartPayload>,
  waitToWrite: () => Promise<void>,
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
        await waitToWrite();
        const text = await writer.next(part);
        controller?.enqueue(text);
      }
    } catch (error) {
      const text = await writer.fail(error);
      controller?.enqueue(text);
    }
    controller?.close();
    return { data: null, errors: writer.errors };
  };
  const finished = write();
  // If not even the last part can be made, the client must see that its answer is incomplete.
  finished.catch((error: unknown) => controller?.error(error));
  return { texts, finished };
}

/** Writes the parts of one answer. The limits of an answer apply to all parts together. */
class PartsWriter {
  readonly #run: OperationRun;
  readonly #format: PartsFormat;
  readonly #counter: AnswerCounter;
  readonly #options: PartsOptions;
  /** The memory that all parts have claimed so far. */
  readonly #claim: Claim;
  /** The ids of the fragments that were announced to the client and have not been sent yet. */
  readonly #pending = new Set<unknown>();
  readonly #reported: PublicError[] = [];
  #written = 0;

  constructor(run: OperationRun, format: PartsFormat, counter: AnswerCounter, options: PartsOptions) {
    this.#run = run;
    this.#format = format;
    this.#counter = counter;
    this.#options = options;
    this.#claim = options.answerLimits.room.claimFor(run.request);
  }

  get errors(): readonly PublicError[] | undefined {
    return this.#reported.length === 0 ? undefined : this.#reported;
  }

  /** The JSON text of the first part, which has at most `mostBytes` bytes. Throws if there is no room for it. */
  first({ data, errors = [], pending = [] }: PartPayload, mostBytes: number): string {
    if (!this.#options.answerLimits.makeRoomForText(data, mostBytes)) throw overload();
    for (const entry of pending) this.#pending.add(idOf(entry));
    const { prepared } = this.#run.document;
    const reported = errors.length === 0 ? undefined : toPublicErrors(errors, this.#options);
    this.#reported.push(...(reported ?? []));
    const result = textOf({ data, errors: reported, prepared });
    const rest = JSON.stringify({ pending: this.#format === 'v0.2' ? pending : undefined, hasNext: true });
    const text = `${result.slice(0, -1)},${rest.slice(1)}`;
    this.#written = Buffer.byteLength(text);
    if (!this.#claim.resize(this.#written)) throw overload();
    return text;
  }

  /** The JSON text of a further part. Rejects with the reason if the part exceeds a limit. */
  async next({ pending = [], incremental = [], completed = [], hasNext }: PartPayload): Promise<string> {
    const { answerLimits } = this.#options;
    const data = incremental.map((entry) => entry.data);
    const { error, mostBytes } = answerLimits.check(
      { data },
      this.#run.document.prepared,
      this.#counter,
      this.#written,
    );
    if (error !== undefined) throw error;
    if (!answerLimits.makeRoomForText(data, mostBytes)) throw new UpstreamError('OVERLOADED');
    if (!hasNext) await this.#completeCost();
    const text = stringifyPart({
      pending: pending.length === 0 ? undefined : pending,
      incremental: incremental.length === 0 ? undefined : incremental.map((entry) => this.#masked(entry)),
      completed: completed.length === 0 ? undefined : completed.map((entry) => this.#masked(entry)),
      hasNext,
      extensions: hasNext ? undefined : this.#run.cost.extensions(),
    });
    const written = this.#written + Buffer.byteLength(text);
    if (!this.#claim.resize(written)) throw new UpstreamError('OVERLOADED');
    this.#written = written;
    for (const entry of pending) this.#pending.add(idOf(entry));
    for (const entry of completed) this.#pending.delete(idOf(entry));
    return text;
  }

  /** The JSON text of a last part that ends the answer early, with the reason. */
  async fail(error: unknown): Promise<string> {
    const { report } = this.#options;
    await this.#completeCost().catch(report);
    const reported = toPublicErrors([error], { maxErrors: 1, report });
    this.#reported.push(...reported);
    const errors = reported.map(formatted);
    const given =
      this.#format === 'v0.2'
        ? { completed: [...this.#pending].map((id) => ({ id, errors })) }
        : { incremental: [{ data: null, path: [], errors }] };
    return JSON.stringify({ ...given, hasNext: false, extensions: this.#run.cost.extensions() });
  }

  /** Adds the rate limits to the cost, which the last part reports. */
  async #completeCost(): Promise<void> {
    if (this.#run.cost.wantsCost) await withRateLimits(this.#run, {}, this.#options.upstream.resources);
  }

  #masked(entry: PartEntry): object {
    if (entry.errors === undefined) return entry;
    const reported = toPublicErrors(entry.errors, this.#options, this.#reported);
    this.#reported.push(...reported);
    return { ...entry, errors: reported.map(formatted) };
  }
}

function idOf(entry: object): unknown {
  return 'id' in entry ? entry.id : undefined;
}

/** The JSON text of a part. Values that the upstream nests too deeply overflow the stack. */
function stringifyPart(part: object): string {
  try {
    return JSON.stringify(part);
  } catch (error) {
    throw error instanceof RangeError ? new UpstreamError('UPSTREAM_INVALID_RESPONSE') : error;
  }
}
