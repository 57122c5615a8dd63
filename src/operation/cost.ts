import { type GraphQLError, type GraphQLSchema, locatedError, type VariableValues } from 'graphql';
import type { CursorCodec } from '../context.ts';
import { ForbiddenError } from '../graphql/reach-refusals.ts';
import { rootOf } from '../look-ahead/operation-trees.ts';
import { memoize } from '../memoize.ts';
import { type Estimate, estimateOf } from '../plan/estimate.ts';
import { isDeferUndecided, isWithinDeferLimits, planInParts } from '../plan/parts.ts';
import { type CheckedPlan, type Plan, planOperation } from '../plan/plan.ts';
import { mostSteps, PlanLimitError } from '../plan/plan-builder.ts';
import { type Caller, rightsOf } from '../rest/caller.ts';
import { OperationCalls } from '../rest/operation-calls.ts';
import type { Rights } from '../rest/reach.ts';
import { answerRefusal, type CostLimits, expenseRefusal, isExpensive } from './cost-limits.ts';
import type { PreparedOperation } from './document.ts';
import type { OperationRun, RequestContext } from './operation-run.ts';
import { noVariables } from './params.ts';
import type { Resolved } from './persisted/resolve.ts';
import { type RateLimit, scarcestOf } from './rate-limits.ts';
import { RefusedDocument, RequestError } from './request-error.ts';

/** Settings of plans, and the limits of what an operation may cost. */
export interface CostsOptions extends CostLimits {
  readonly schema: GraphQLSchema;
  readonly cursors: CursorCodec;
  readonly maxPageSize: number;
  /** True if answers may come in parts. An explained plan then says after which wave the first part is sent. */
  readonly incremental?: boolean | undefined;
  /** True if clients may see which REST calls an operation makes. */
  readonly explain: boolean;
  /** True if the cost tells how many reads needed no call. */
  readonly isCaching?: boolean;
  /** Undefined if there are no tools. */
  readonly toolOf?: ToolOf | undefined;
  /** Returns the error of a caller whose key cannot be used. An operation of such a caller makes no REST call. */
  readonly keyFaultOf: (caller: Caller | undefined) => object | undefined;
}

/**
 * Finds the tool for an operation, by its name and the text of its document. Undefined if it is not offered as a tool.
 */
export type ToolOf = (name: string, text: string, caller: Caller | undefined) => ToolNote | undefined;

/** The tool of an operation, shown beside its plan: its name, and its cost as agents read it. */
export interface ToolNote {
  readonly name: string;
  readonly cost: string;
}

interface CostedRun extends Pick<OperationRun, 'params' | 'coerced'> {
  readonly document: Pick<Resolved, 'prepared'>;
  readonly request: Pick<RequestContext, 'caller' | 'tool'>;
}

/** Answers with more objects than this take tens of milliseconds to make. */
const manyObjects = 2000;

/**
 * Determines the costs of operations before they run, and refuses those that would cost too much. Most operations stay
 * within the limits whatever their variables are. These are planned only if their client wants the plan or the cost, or
 * if an agent runs them as a tool.
 */
export class Costs {
  readonly options: CostsOptions;
  // The results of these two functions hold for all values of the variables.
  readonly #worstEstimateOf = memoize((prepared: PreparedOperation) => this.#estimateOf(prepared, undefined));
  readonly #isAlwaysWithinDeferLimits = memoize((prepared: PreparedOperation) =>
    this.#isWithinDeferLimits(prepared, undefined),
  );
  /** The most REST calls of an operation without variables. It is planned once for all of its runs. */
  readonly upperOfEveryRun = memoize((prepared: PreparedOperation) => {
    const planned = this.plan(prepared, noVariables, undefined);
    return planned instanceof PlanLimitError ? undefined : planned.plan.upper;
  });

  constructor(options: CostsOptions) {
    this.options = options;
  }

  /**
   * True if an operation may be answered in parts. It must defer something. No variable may leave open what is deferred
   * (see `isDeferUndecided`). The deferred part must be small enough (see `isWithinDeferLimits`). If one of these is
   * not so, `@defer` is ignored, which a server is always allowed to do.
   */
  mayDefer(prepared: PreparedOperation, coerced: VariableValues): boolean {
    if (prepared.deferred === undefined || isDeferUndecided(prepared.deferred, coerced)) return false;
    return this.#isAlwaysWithinDeferLimits(prepared) || this.#isWithinDeferLimits(prepared, coerced);
  }

  /**
   * The most calls and rows of an operation, whatever its variables are. Infinite if a caller with limited reach asks
   * for a list: each project of the list is then read by its id, which the estimate does not cover.
   */
  upperBoundOf(prepared: PreparedOperation, rights: Rights | undefined): Pick<Estimate, 'calls' | 'rows'> {
    const hasLimitedReach = rights?.reach !== undefined;
    const readsByKey =
      hasLimitedReach && rootOf(prepared, undefined)?.fields.some(({ origin }) => origin.kind === 'list');
    return readsByKey === true ? { calls: Infinity, rows: Infinity } : this.#worstEstimateOf(prepared);
  }

  /**
   * The most that an operation can answer, whatever its variables are. If that is too much, the most that it can answer
   * with the variables of the request.
   */
  answerEstimateOf(run: CostedRun): Estimate {
    const { prepared } = run.document;
    const worst = this.#worstEstimateOf(prepared);
    return worst.objects <= this.options.maxAnswerObjects ? worst : this.#estimateOf(prepared, run.coerced);
  }

  #estimateOf(prepared: PreparedOperation, variableValues: VariableValues | undefined): Estimate {
    return estimateOf({ ...prepared, maxPageSize: this.options.maxPageSize, variableValues });
  }

  /** True if the deferred part is small enough: with these variables, or with any if they are undefined. */
  #isWithinDeferLimits({ deferred }: PreparedOperation, variableValues: VariableValues | undefined): boolean {
    const { maxPageSize } = this.options;
    return (
      deferred === undefined || isWithinDeferLimits({ ...deferred, maxPageSize, variableValues }, deferred.document)
    );
  }

  /** The plan of an operation, or the reason why it has none. */
  plan(
    prepared: PreparedOperation,
    variableValues: VariableValues,
    rights: Rights | undefined,
    isExplained = false,
  ): CheckedPlan | PlanLimitError {
    const { schema, cursors, maxPageSize, maxUpstreamCalls, incremental = false } = this.options;
    const { operation, fragments, deferred } = prepared;
    const limits = { cursors, maxPageSize, maxSteps: mostSteps(maxUpstreamCalls), rights };
    const request = { schema, operation, fragments, variableValues, ...limits };
    try {
      const planned = planOperation(request);
      return isExplained && incremental ? { ...planned, plan: planInParts(planned.plan, request, deferred) } : planned;
    } catch (error) {
      if (error instanceof PlanLimitError) return error;
      throw error;
    }
  }
}

/**
 * Throws a RefusedDocument if fields would refuse their arguments. A field whose object is out of the caller's reach is
 * no reason to throw, because the caller may see the other fields.
 */
function refuseToolArguments(planned: CheckedPlan | PlanLimitError): void {
  const refusals = planned instanceof PlanLimitError ? [] : planned.argumentErrors;
  const wrong = refusals.filter((refusal) => !(refusal instanceof ForbiddenError));
  if (wrong.length > 0) throw new RefusedDocument(wrong.map((refusal) => locatedError(refusal, undefined)));
}

/** The facts that a client asks for about the REST calls of its operation. */
type Explain = 'plan' | 'trace' | undefined;

/**
 * The `explain` of a request. Throws if its value is unknown, or if clients may not see REST calls. Such a value is not
 * ignored, because a client that requests a plan does not expect the operation to run.
 */
function explainOf({ params: { extensions } }: CostedRun, { explain: isAllowed }: CostsOptions): Explain {
  const explain = extensions?.['explain'] ?? undefined;
  if (explain === undefined) return undefined;
  if (isAllowed && (explain === 'plan' || explain === 'trace')) return explain;
  const expected = isAllowed ? 'to be "plan" or "trace"' : 'to be left out: it is switched off here';
  throw new RequestError('badParameter', `Expected the extension \`explain\` ${expected}.`);
}

/** The cost of one operation, and the parts of the cost that its client requested. */
export class Cost {
  /** Counts the calls that the operation makes, and stops it at the limit. */
  readonly calls: OperationCalls;
  readonly refusal: GraphQLError | undefined;
  readonly isLarge: boolean;
  /** True if the operation may make a REST call. */
  readonly mayCall: boolean;
  /** The plan of its calls; undefined if it was not planned, or if planning takes too many steps. */
  readonly plan: Plan | undefined;
  readonly wantsCost: boolean;
  /** The rate limits of the surfaces of its calls, if the client wants to know them. */
  rateLimits: readonly RateLimit[] | undefined;
  readonly #run: CostedRun;
  readonly #costs: Costs;
  readonly #explain: Explain;
  /**
   * True if the operation was not planned, and the most calls that it can make are the same for each run. All runs then
   * share one plan, because to plan each run would take a tenth of the time of a small operation.
   */
  readonly #isSameForEveryRun: boolean;

  /**
   * An operation without a usable key makes no call, so it is planned only if its client wants the plan. Throws a
   * GraphQLError for an unknown `explain`. Throws a RefusedDocument if the variables do not fit, or if an agent's tool
   * has arguments that a field would refuse: the agent will ask again, so answering the other fields would be wasted
   * work.
   */
  constructor(run: CostedRun, costs: Costs) {
    const { options } = costs;
    const { prepared } = run.document;
    const { caller, tool } = run.request;
    const rights = rightsOf(caller);
    this.#run = run;
    this.#costs = costs;
    this.#explain = explainOf(run, options);
    this.calls = new OperationCalls(options.maxUpstreamCalls, this.#explain === 'trace');
    this.wantsCost = run.params.extensions?.['cost'] === true;
    const isExplained = this.#explain === 'plan';
    // Checked before the plan, which takes longer.
    const size = isExplained ? undefined : costs.answerEstimateOf(run);
    const tooMany = size && answerRefusal(size, options);
    const hasKey = options.keyFaultOf(caller) === undefined;
    const mayRun = hasKey && tooMany === undefined;
    const isWanted = this.wantsCost || tool !== undefined;
    const isPlanned =
      isExplained ||
      (hasKey && isWanted) ||
      (mayRun && isExpensive(costs.upperBoundOf(prepared, rights), prepared, options));
    const planned = isPlanned ? costs.plan(prepared, run.coerced, rights, isExplained) : undefined;
    if (tool !== undefined && planned !== undefined) refuseToolArguments(planned);
    const hasVariables = (prepared.operation.variableDefinitions ?? []).length > 0;
    this.#isSameForEveryRun = mayRun && !isPlanned && !hasVariables && rights?.reach === undefined;
    this.plan = planned instanceof PlanLimitError ? undefined : planned?.plan;
    // A plan that is only shown may exceed the limits.
    this.refusal = this.planOnly ? undefined : ((planned && expenseRefusal(planned, prepared, options)) ?? tooMany);
    this.isLarge = size !== undefined && (size.objects > manyObjects || size.introspects);
    this.mayCall = size === undefined || size.calls > 0;
  }

  /** True if the answer is the plan of the operation. Nothing is executed then. */
  get planOnly(): boolean {
    return this.#explain === 'plan' && this.plan !== undefined;
  }

  /** True if the client requested the cost, the plan or the trace. */
  get wantsExtensions(): boolean {
    return this.planOnly || this.#explain === 'trace' || this.wantsCost;
  }

  /** The most REST calls of the operation; undefined if the number depends on the run and this run was not planned. */
  get plannedCalls(): number | undefined {
    return this.#isSameForEveryRun ? this.#costs.upperOfEveryRun(this.#run.document.prepared) : this.plan?.upper;
  }

  /**
   * The extensions that the client requested, once the operation is done. For a message of a subscription, `calls` are
   * the calls of the message.
   */
  extensions(calls = this.calls): Readonly<Record<string, unknown>> | undefined {
    if (!this.wantsExtensions) return undefined;
    return {
      ...(this.planOnly && { explain: this.#explained() }),
      ...(this.#explain === 'trace' && { explain: { calls: calls.calls } }),
      ...(this.wantsCost && { cost: this.#costOf(calls) }),
    };
  }

  #explained(): Readonly<Record<string, unknown>> {
    const { document, params, request } = this.#run;
    const name = document.prepared.operation.name?.value;
    const tool = name && this.#costs.options.toolOf?.(name, params.query ?? '', request.caller);
    return { ...this.plan, ...(tool && { tool }) };
  }

  /** The cost as clients see it. Agents are told less: what their tool has cost, and what they may still use. */
  #costOf({ made: actual, cached, stale }: OperationCalls): Readonly<Record<string, unknown>> {
    const { rateLimits } = this;
    if (this.#run.request.tool !== undefined)
      return { actual, cached, ...(rateLimits && { budget: scarcestOf(rateLimits).map(leftOf) }) };
    return {
      ...{ requested: this.plan?.upper ?? 0, actual, limit: this.#costs.options.maxUpstreamCalls },
      ...(this.#costs.options.isCaching === true && { cached, stale }),
      ...(rateLimits && { budget: rateLimits }),
    };
  }
}

/** The cost that an agent is told if its operation has not begun. */
export const noToolCost = { actual: 0, cached: 0 };

function leftOf({ surface, remaining, resetsIn }: RateLimit): Partial<RateLimit> {
  return { surface, remaining, resetsIn };
}
