import type { ExecutionResult } from 'graphql';
import type { GatewayContext } from '../context.ts';
import type { CallSpans, TraceContext } from '../rest/call-spans.ts';
import type { Caller } from '../rest/client.ts';
import type { UpstreamError } from '../rest/errors.ts';
import type { OperationCalls } from '../rest/operation-calls.ts';
import type { OperationDeadline } from '../rest/operation-deadline.ts';
import type { RefuseArguments } from './argument-sizes.ts';
import type { Cost, Costs } from './cost.ts';
import type { PreparedOperation } from './document.ts';
import { toPublicErrors } from './errors.ts';
import { EventLoopYield } from './event-loop-yield.ts';
import { type OnOperation, type OperationProgress, reportOf } from './operation-report.ts';
import type { GraphQLParams } from './params.ts';
import type { ResolveDocument, Resolved } from './persisted/resolve.ts';
import type { DocumentUse } from './persisted/uses.ts';
import { overload, refuseMutationByGet } from './refusals.ts';
import { RefusedDocument } from './refused-document.ts';
import type { OperationResult } from './result.ts';
import type { Results } from './results.ts';
import type { SharedOperations, Start } from './shared-operations.ts';
import { keepDeclared, nameOf, textOf } from './variables.ts';

/** What an operation may know of the request that brought it, whichever transport that was. */
export interface RequestContext {
  readonly method: string;
  /** Names the request in logs and in its answer. */
  readonly requestId: string;
  readonly caller: Caller | undefined;
  readonly trace: TraceContext;
  /** Follows its REST calls, where somebody traces. */
  readonly spans?: CallSpans;
  /** Calls back when the client leaves before it is answered. */
  readonly onLeave: (listener: () => void) => void;
  /** Hears what is kept of the request from now on: its document, and those variables as JSON that this declares. */
  readonly onKept: (query: string, variablesText: string) => void;
  /** Calls back when the answer has been taken, or the client has left. */
  readonly onClose: (listener: () => void) => void;
}

/** Collaborators and settings of the operations. */
export interface OperationsOptions {
  readonly resolve: ResolveDocument;
  readonly createContext: (
    request: RequestContext,
    deadline: OperationDeadline,
    calls: OperationCalls,
  ) => GatewayContext;
  readonly costs: Costs;
  readonly refuseArguments: RefuseArguments;
  /** Why no REST call of this caller can succeed; undefined where it may. */
  readonly refusalOf: (caller: Caller | undefined) => UpstreamError | undefined;
  /** Whether an operation of this caller would find no room for its calls. */
  readonly isOverloaded: (caller: Caller | undefined) => boolean;
  readonly shared: SharedOperations;
  readonly results: Results;
  /** Most errors that an answer tells. */
  readonly maxErrors: number;
  /** How long a GET by id without errors may be cached by its client, in seconds. */
  readonly getMaxAge: number;
  readonly onBegin: () => void;
  readonly onEnd: OnOperation;
  /** Hears of errors that nobody expected. */
  readonly report: (error: unknown) => void;
}

/** Runs one operation from its parameters. Never rejects: whatever happens becomes a result. */
export type RunOperation = (params: GraphQLParams, request: RequestContext) => Promise<OperationResult>;

/** The one path that every operation takes, whichever transport brought it. */
export function createRunOperation(options: OperationsOptions): RunOperation {
  const eventLoop = new EventLoopYield();
  return async (params, request) => {
    const startedAt = performance.now();
    const known: OperationProgress = {};
    options.onBegin();
    const turn = eventLoop.take(startedAt);
    if (turn !== undefined) await turn;
    let result: OperationResult;
    // One function for all that is awaited: each further one costs a small operation a percent.
    try {
      const found = options.resolve(params);
      const resolved = found instanceof Promise ? await found : found;
      const running = begin(resolved, params, request, options, known);
      result = finished(running instanceof Promise ? await running : running, resolved, request, options, known);
    } catch (error) {
      result = failed(error, options, known);
    }
    options.onEnd(reportOf(params, request, known, result, performance.now() - startedAt));
    return result;
  };
}

/** Plans and starts an operation. */
function begin(
  { prepared, use }: Resolved,
  params: GraphQLParams,
  request: RequestContext,
  options: OperationsOptions,
  known: OperationProgress,
): Promise<OperationResult> | OperationResult {
  known.prepared = prepared;
  known.use = use;
  keepDeclared(params, prepared.operation);
  refuseMutationByGet(prepared, request);
  const variablesText = textOf(params.variables);
  request.onKept(params.query ?? '', variablesText);
  options.refuseArguments(prepared, params.variables, variablesText);
  const cost = options.costs(prepared, params, options.refusalOf(request.caller) === undefined, request.caller?.tenant);
  known.cost = cost;
  if (cost.refusal !== undefined) throw cost.refusal;
  if (cost.planOnly) return { data: null, extensions: cost.extensions() ?? {} };
  if (options.isOverloaded(request.caller) || options.results.isFull) throw overload();
  const running = start(prepared, params, variablesText, request, cost, options);
  if (running instanceof Promise) {
    request.onLeave(() => {
      known.left = true;
    });
  }
  return running;
}

/** Counts what was executed, makes the text of a large answer, and says how long it may be kept. */
function finished(
  made: OperationResult,
  resolved: Resolved,
  request: RequestContext,
  options: OperationsOptions,
  { cost }: OperationProgress,
): OperationResult {
  const { use, prepared } = resolved;
  const result = options.results.withRoom(made, prepared, request.onClose);
  if (use !== undefined && cost !== undefined && !cost.planOnly) countUse(use, result, cost);
  return isCacheable(resolved, request, result, options) ? { ...result, maxAge: options.getMaxAge } : result;
}

/** Nothing was executed, which counts as well, and costs nothing. */
function failed(
  error: unknown,
  { maxErrors, report }: OperationsOptions,
  { use, cost }: OperationProgress,
): OperationResult {
  const errors = error instanceof RefusedDocument ? error.errors : [error];
  const result = { errors: toPublicErrors(errors, maxErrors, report), extensions: cost?.extensions() };
  if (use !== undefined) countUse(use, result, cost);
  return result;
}

/** Queries that ask the same at the same time are one run; whoever wants to know what it costs runs alone. */
function start(
  prepared: PreparedOperation,
  params: GraphQLParams,
  variablesText: string,
  request: RequestContext,
  cost: Cost,
  options: OperationsOptions,
): Promise<OperationResult> | OperationResult {
  const { shared } = options;
  const run: Start = (deadline) => execute(prepared, params, request, cost, deadline, options);
  const { caller } = request;
  if (caller === undefined) return shared.startUnshared(request, run);
  if (prepared.operation.operation === 'query') {
    if (cost.isTold) return shared.startUnshared(request, run);
    return shared.joinOrStart(caller.hash, `${prepared.serial} ${nameOf(variablesText)}`, request, run, cost.calls);
  }
  shared.invalidate(caller.hash);
  const written = shared.startUnshared(request, run);
  return written instanceof Promise ? written.finally(() => shared.invalidate(caller.hash)) : written;
}

function execute(
  prepared: PreparedOperation,
  { variables }: GraphQLParams,
  request: RequestContext,
  cost: Cost,
  deadline: OperationDeadline,
  options: OperationsOptions,
): Promise<OperationResult> | OperationResult {
  const context = options.createContext(request, deadline, cost.calls);
  const { answer } = context;
  const executed = prepared.execute(context, variables);
  const end = ({ data, errors }: ExecutionResult): OperationResult => {
    deadline.finish();
    answer.finish();
    return options.results.of({ data, errors, prepared, cost, answer, deadline });
  };
  if (!(executed instanceof Promise)) return end(executed);
  return executed.then(end, (error: unknown) => {
    deadline.finish();
    answer.finish();
    throw error;
  });
}

function countUse(use: DocumentUse, { errors }: OperationResult, cost: Cost | undefined): void {
  use.hits += 1;
  use.restCalls += cost?.calls.made ?? 0;
  if (errors !== undefined) use.errors += 1;
}

/** A URL that names its document by an id stands for the same question always. */
function isCacheable(
  { byId }: Resolved,
  { method }: RequestContext,
  { errors }: OperationResult,
  { getMaxAge }: OperationsOptions,
): boolean {
  return byId && method === 'GET' && getMaxAge > 0 && errors === undefined;
}
