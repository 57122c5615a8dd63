import { hash } from 'node:crypto';
import type { CreateContext, GatewayContext } from '../context.ts';
import type { EventLoopYield } from '../event-loop-yield.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import { callerAllowing, callerNameOf } from '../rest/caller.ts';
import type { OperationCalls } from '../rest/operation-calls.ts';
import { OperationDeadline } from '../rest/operation-deadline.ts';
import type { OperationEpoch } from '../rest/read-your-writes.ts';
import type { Upstream } from '../rest/upstream.ts';
import type { AnswerLimits } from './answer-limits.ts';
import { refuseArguments } from './argument-sizes.ts';
import type { Costs } from './cost.ts';
import { type DeferredExecution, deferredOf, executeInParts } from './defer.ts';
import { codesOf, type OnOperation, reportOf, streamReportOf } from './operation-report.ts';
import { type AnswerParts, type OperationResult, textOf } from './operation-result.ts';
import { type AnsweredOperation, nameOf, OperationRun, type RequestContext, type Tracing } from './operation-run.ts';
import { asksForPlan, type GraphQLParams, keepDeclared } from './params.ts';
import type { ResolveDocument, Resolved } from './persisted/resolve.ts';
import { type ErrorReporting, toPublicErrors } from './public-errors.ts';
import { withRateLimits } from './rate-limits.ts';
import { overload, RefusedDocument, RequestError } from './request-error.ts';
import type { SharedOperations } from './shared-operations.ts';
import type { Subscriptions } from './subscriptions.ts';

/** Collaborators and settings of the operations. */
export interface OperationsOptions extends ErrorReporting {
  readonly resolve: ResolveDocument;
  readonly createContext: CreateContext;
  /** Undefined if there are no subscriptions. */
  readonly subscriptions: Subscriptions | undefined;
  readonly costs: Costs;
  /** The most bytes of the arguments of one field. */
  readonly argumentBytes: number;
  readonly upstream: Pick<Upstream, 'resources' | 'keyFaultOf' | 'epochOf'>;
  readonly wholeAnswers: WholeAnswers | undefined;
  readonly shared: SharedOperations;
  /** The total time that an operation may take, in milliseconds. */
  readonly operationDeadlineMs: number;
  readonly answerLimits: AnswerLimits;
  readonly eventLoop: EventLoopYield;
  /** The time for which a client may keep the answer to a GET by id, if it has no errors, in seconds. */
  readonly getMaxAge: number;
  /** The clock of `freshUntil`, in milliseconds. */
  readonly now: () => number;
  /** Records a span for every operation. Requests for a plan have none. */
  readonly tracing: Tracing | undefined;
  readonly onBegin: () => void;
  /** Called when a subscription has begun, with the milliseconds since its request. */
  readonly onOpen: (durationMs: number) => void;
  readonly onAnswered: OnOperation;
  /** Called when a client got a plan, or the reason why there is none. No operation is counted for such a request. */
  readonly onPlan: () => void;
}

/** Answers to whole queries, by name. Each was made of kept REST answers alone. */
export interface WholeAnswers {
  /** Finds an answer if all REST answers that it was made of are still kept and fresh. */
  find(name: string): OperationResult | undefined;
  keep(name: string, text: string, sources: OperationCalls['sources']): void;
}

/** Runs one operation from its parameters. Never rejects: every error becomes a result. */
export type RunOperation = (params: GraphQLParams, request: RequestContext) => Promise<OperationResult>;

/**
 * The steps of every operation, from top to bottom, the same for every transport: what is checked before the execution,
 * the execution, and what is noted at the end. The comment above a step names the codes with which the step refuses;
 * their statuses are in `refusals` (request-error.ts). All steps that may wait are in one function because each further
 * `await` costs a small operation one percent of its time.
 */
export function createRunOperation(options: OperationsOptions): RunOperation {
  const { answerLimits, eventLoop, wholeAnswers } = options;
  return async (params, request) => {
    const startedAt = performance.now();
    const isPlan = asksForPlan(params);
    if (!isPlan) begin(request, options);
    let document: Resolved | undefined;
    let run: OperationRun | undefined;
    let result: OperationResult;
    try {
      const turn = eventLoop.waitForTurn(startedAt);
      if (turn !== undefined) await turn;

      // UNAUTHENTICATED, FORBIDDEN and AUTHENTICATION_UNAVAILABLE, if the gateway holds the keys
      if (request.identified !== undefined) await request.identified;
      if (request.refusal !== undefined) throw request.refusal;

      // BAD_USER_INPUT, PERSISTED_…, GRAPHQL_PARSE_FAILED, GRAPHQL_VALIDATION_FAILED, LIMIT_EXCEEDED
      const found = options.resolve(params);
      document = found instanceof Promise ? await found : found;

      // FORBIDDEN, METHOD_NOT_ALLOWED, LIMIT_EXCEEDED, and BAD_USER_INPUT, for example for an unknown `explain`. Also
      // determines the cost of the operation.
      run = checkedRun(params, request, startedAt, document, options);

      // COST_LIMIT_EXCEEDED
      const { cost } = run;
      if (cost.refusal !== undefined) throw cost.refusal;

      if (cost.planOnly) result = { data: null, extensions: cost.extensions() };
      else {
        // OVERLOADED
        if (!answerLimits.room.makeRoom(1) || (cost.isLarge && eventLoop.isCrowded)) throw overload();

        // BAD_USER_INPUT if the variables do not fit. OVERLOADED and RATE_LIMITED if the first REST calls are refused;
        // later errors are in the result.
        const current = epochOf(run, options);
        const epoch = current instanceof Promise ? await current : current;
        const deferred = deferredOf(run, options.costs);
        const name = deferred === undefined ? sharedNameOf(run, epoch) : undefined;
        const shared =
          name === undefined ? undefined : (wholeAnswers?.find(name) ?? options.shared.join(name, request));
        const executed = shared ?? execute(run, epoch, name, deferred, options);
        const made = executed instanceof Promise ? await executed : executed;
        if (answerLimits.isLarge(made)) await eventLoop.waitToWrite();

        // COST_LIMIT_EXCEEDED and OVERLOADED in place of the data
        result = answerLimits.claimText(made, request);

        const { sources } = cost.calls;
        if (name !== undefined && sources.length > 0 && result.errors === undefined)
          wholeAnswers?.keep(name, textOf(result), sources);
      }
    } catch (error) {
      const errors = error instanceof RefusedDocument ? error.errors : [error];
      result = { errors: toPublicErrors(errors, options), extensions: run?.cost.extensions() };
    }

    const operation: AnsweredOperation = run ?? { params, request, startedAt, document, cost: undefined };
    if (isPlan) options.onPlan();
    else if (result.parts !== undefined) noteEndOfParts(operation, result.parts, options);
    // A subscription ends when its stream does (see `beginStream`).
    else if (result.stream === undefined) noteEnd(operation, result, options);
    return withMaxAge(operation, result, options);
  };
}

/** Counts an operation that begins, and begins its span. */
function begin(request: RequestContext, { onBegin, tracing }: OperationsOptions): void {
  onBegin();
  request.span = tracing?.begin(request);
  if (request.span !== undefined) request.trace = request.span.trace;
}

/**
 * An operation whose document is known, with its cost. Throws if no role of its caller allows the document, or if its
 * method or its arguments are not allowed. Keeps only what the operation needs: the roles of the caller that allow the
 * document, and the variables that the operation declares.
 */
function checkedRun(
  params: GraphQLParams,
  request: RequestContext,
  startedAt: number,
  document: Resolved,
  { argumentBytes, costs }: OperationsOptions,
): OperationRun {
  const { prepared } = document;
  const { operation } = prepared;
  if (request.caller !== undefined) {
    const running = callerAllowing(request.caller, prepared.listed ? operation.name?.value : undefined);
    if (running === undefined)
      throw new RequestError('unallowedDocument', 'No role of the token may run this operation.');
    request.caller = running;
  }
  if (request.method === 'GET' && operation.operation === 'mutation')
    throw new RequestError('mutationByGet', 'Expected a mutation to come by POST, but it came by GET.');
  const variablesText = keepDeclared(params, operation);
  request.onKept(params.query ?? '', variablesText);
  refuseArguments(prepared, params.variables, variablesText, argumentBytes);
  return new OperationRun(params, request, startedAt, document, variablesText, costs);
}

/** The epoch in which an operation begins. Small operations that make no REST call are not shared, so they need none. */
function epochOf({ cost, request }: OperationRun, { upstream }: OperationsOptions): MaybePromise<OperationEpoch> {
  // Introspection is large.
  const isShared = cost.mayCall || cost.isLarge;
  return upstream.epochOf(isShared ? request.caller : undefined, request.reuse);
}

/**
 * The name under which equal queries of a caller are executed once. Undefined for an answer with the cost, and for a
 * request for the latest data.
 */
function sharedNameOf(run: OperationRun, epoch: OperationEpoch): string | undefined {
  const { request, cost, document } = run;
  if (document.prepared.operation.operation !== 'query') return undefined;
  if (request.caller === undefined || cost.wantsExtensions || epoch.isBypassed) return undefined;
  // With the epoch in the name, no request joins an operation that began before a write of the key.
  return `${epoch.name} ${nameOf(run, request.caller)}`;
}

/**
 * Executes an operation. It ends early if its client leaves. If it has a `name`, equal operations may join it, and it
 * ends early if all of their clients leave.
 */
function execute(
  run: OperationRun,
  epoch: OperationEpoch,
  name: string | undefined,
  deferred: DeferredExecution | undefined,
  options: OperationsOptions,
): Promise<OperationResult> {
  const { request, cost, document } = run;
  if (document.prepared.operation.operation === 'subscription') return beginStream(run, options);
  const deadline = new OperationDeadline(options.operationDeadlineMs);
  deadline.isLarge = cost.isLarge;
  const { caller, trace, span: spans } = request;
  const context = options.createContext({ caller, deadline, calls: cost.calls, epoch, trace, spans });
  const result =
    deferred === undefined
      ? executeWhole(run, context, options)
      : executeInParts(run, { ...context, parts: deferred.format }, deferred, options);
  if (name === undefined) request.onLeave(() => deadline.end('left'));
  else options.shared.add(name, run, deadline, result);
  return result;
}

async function executeWhole(
  run: OperationRun,
  context: GatewayContext,
  { answerLimits, eventLoop, upstream }: OperationsOptions,
): Promise<OperationResult> {
  const { answerCounter } = context;
  let result: OperationResult;
  try {
    const executed = await run.document.prepared.execute(context, run.coerced);
    // Comes before the result, because its cost must not count calls that are given up before they are sent.
    answerCounter.deadline.finish();
    // A large result is made when there is time for it.
    if (run.cost.isLarge) await eventLoop.waitToWrite();
    result = answerLimits.resultOf(executed, run, answerCounter);
  } finally {
    answerCounter.finish();
  }
  return withRateLimits(run, result, upstream.resources);
}

async function beginStream(run: OperationRun, options: OperationsOptions): Promise<OperationResult> {
  const { request, document } = run;
  const { caller, span } = request;
  const { subscriptions, upstream, onOpen } = options;
  const refusal = upstream.keyFaultOf(caller);
  if (refusal !== undefined) throw refusal;
  if (subscriptions === undefined || caller === undefined)
    throw new Error('expected a schema with subscriptions, and a key');
  if (!request.takesMessages) throw new RequestError('onlyStreamed', streamed);
  const result = await subscriptions.subscribe(run, caller, (end) => {
    // If the client has already left, this runs while the stream begins. The span ends below, with the code
    // `CLIENT_LEFT`.
    request.span = undefined;
    noteEnd(run, end, options, streamReportOf(run, end));
  });
  // The span of a subscription ends when its stream begins.
  request.span = undefined;
  span?.end(document.prepared, codesOf(request)[0]);
  onOpen(performance.now() - run.startedAt);
  return result;
}

const streamed =
  'A subscription is answered as a stream: accept `text/event-stream`, or `multipart/mixed; subscriptionSpec="1.0"`.';

/** Notes the end of an operation with its last part, or when a part cannot be made. */
function noteEndOfParts(operation: AnsweredOperation, { finished }: AnswerParts, options: OperationsOptions): void {
  finished
    .catch((error: unknown): OperationResult => ({ errors: toPublicErrors([error], options) }))
    .then((last) => noteEnd(operation, last, options))
    .catch(options.report);
}

/**
 * Counts the use of a listed document, even if the operation was refused, and reports the operation. A document that
 * its client registered is published to other processes, but only for an accepted caller: other callers must not use
 * the memory of these processes.
 */
function noteEnd(
  operation: AnsweredOperation,
  last: Pick<OperationResult, 'errors'>,
  { upstream, onAnswered }: OperationsOptions,
  report = reportOf(operation, last),
): void {
  const { document, request } = operation;
  const { caller } = request;
  request.span?.end(document?.prepared, report.codes[0]);
  const { counts, publish } = document ?? {};
  if (counts !== undefined) {
    counts.hits += 1;
    counts.restCalls += report.calls;
    // Not the codes of the report: they are `CLIENT_LEFT` if the client has left, even if its answer is complete.
    if (last.errors !== undefined) counts.errors += 1;
  }
  if (publish !== undefined && caller !== undefined && upstream.resources.keys.isProven(caller))
    publish(callerNameOf(caller));
  onAnswered(report);
}

/**
 * Adds to a result its tag, and the time for which the client may keep it. Only a GET with the id of a document
 * qualifies, because it always requests the same operation. The freshness of REST answers may shorten the time.
 */
function withMaxAge(
  { document, request: { method } }: AnsweredOperation,
  result: OperationResult,
  { getMaxAge, now }: OperationsOptions,
): OperationResult {
  const { errors, parts, freshUntil = Number.POSITIVE_INFINITY } = result;
  const isKept = method === 'GET' && document?.byId === true && errors === undefined && parts === undefined;
  if (getMaxAge === 0 || !isKept) return result;
  result.tag ??= hash('sha1', textOf(result), 'base64url');
  return { ...result, maxAge: Math.max(0, Math.min(getMaxAge, Math.floor((freshUntil - now()) / 1000))) };
}
