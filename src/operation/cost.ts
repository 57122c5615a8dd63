import { type GraphQLError, type GraphQLSchema, getVariableValues } from 'graphql';
import type { CursorCodec } from '../context.ts';
import { fragmentsOf } from '../look-ahead/selection.ts';
import { type Bound, boundOf } from '../plan/bound.ts';
import { planInParts } from '../plan/first-part.ts';
import { type Plan, planOperation } from '../plan/plan.ts';
import { mostSteps, PlanLimitError } from '../plan/plan-builder.ts';
import type { PlannedCall } from '../plan/planned-calls.ts';
import { OperationCalls } from '../rest/operation-calls.ts';
import type { Tenant } from '../rest/tenants.ts';
import { createAnswerForecast } from './answer-forecast.ts';
import { isUndecided } from './defer.ts';
import type { PreparedOperation } from './document.ts';
import type { GraphQLParams } from './params.ts';
import { RefusedDocument, requestError } from './request-error.ts';
import type { BudgetStatus } from './spending.ts';
import { coercedVariables } from './variables.ts';

/** What plans are made with, and what an operation may cost. */
export interface CostsOptions {
  readonly schema: GraphQLSchema;
  readonly cursors: CursorCodec;
  readonly maxPageSize: number;
  readonly maxUpstreamCalls: number;
  readonly maxUpstreamRows: number;
  /** Most JSON objects of an answer. */
  readonly maxAnswerObjects: number;
  /** Whether clients may see which REST calls an operation makes. */
  readonly explain: boolean;
  /** Whether clients may read the schema, and so whether errors may suggest names of it. */
  readonly introspection: boolean;
  /** Whether answers come in parts, so that plans say when the first one goes out. */
  readonly incremental?: boolean | undefined;
  /** Whether REST answers are cached: then the cost that clients ask for says how many reads were no calls. */
  readonly isCaching?: boolean;
}

/** What one operation costs, and what its client wants to know of that. */
export interface Cost {
  /** Counts the calls that it makes, and stops it at the limit. */
  readonly calls: OperationCalls;
  /** Why it is not executed: it may make more calls, ask for more rows, or answer more, than it may. */
  readonly refusal: GraphQLError | undefined;
  /** Whether the client wants the plan, and nothing executed. */
  readonly planOnly: boolean;
  /** Whether the client wants to know anything of it. */
  readonly isTold: boolean;
  /** What is left of the budget of its key, if its client wants to know. */
  budget?: readonly BudgetStatus[];
  /** Whether its client wants to know what it costs. */
  readonly wantsCost: boolean;
  /** REST calls that it can make at most by what is known of it; undefined if that is not known. */
  readonly plannedCalls: number | undefined;
  /** Most calls that it may make. */
  readonly mostCalls: () => number;
  /** What it will call, planned now if it is not yet; undefined if its variables do not fit, or that takes too many steps. */
  readonly plan: () => Plan | undefined;
  /** Whether its answer takes long to make. */
  readonly isLarge: boolean;
  /**
   * What the client wants to know beside the answer, once the operation is done; `calls` are those of one of its messages if
   * it is a subscription.
   */
  readonly extensions: (calls?: OperationCalls) => Readonly<Record<string, unknown>> | undefined;
}

/**
 * The cost of an operation, before it runs. One that may make no call, for want of a usable key, is planned only if its
 * client wants the plan. Throws a GraphQLError if what the client wants to know is unknown, and a RefusedDocument if
 * variables fit no plan.
 */
export type Costs = (prepared: PreparedOperation, params: GraphQLParams, mayCall: boolean, tenant?: Tenant) => Cost;

/**
 * Refuses operations that would cost too much. Most cannot, whatever their variables are: those are planned only if
 * their client wants to know.
 */
export function createCosts(options: CostsOptions): Costs {
  const boundOfAny = rememberBounds(options);
  const forecastAnswer = createAnswerForecast(options);
  const { incremental = false } = options;
  return (prepared, params, mayCall, tenant) => {
    const explain = explainOf(params, options);
    const wantsCost = params.extensions?.['cost'] === true;
    // Before the plan, which takes longer.
    const forecast = explain === 'plan' ? undefined : forecastAnswer(prepared, params.variables ?? {});
    const answerRefusal = forecast?.refusal;
    const bound = (): Bound => boundOfAny(prepared, tenant?.reach !== undefined);
    const isDue = (): boolean => wantsCost || (answerRefusal === undefined && isExpensive(bound(), prepared, options));
    const isPlanned = explain === 'plan' || (mayCall && isDue());
    const planNow = (): Plan | PlanLimitError | undefined =>
      planWith(
        prepared,
        params.variables ?? {},
        { ...options, incremental: explain === 'plan' && incremental },
        tenant,
      );
    const planned = isPlanned ? planNow() : undefined;
    if (explain === 'plan' && planned === undefined) throw unfitVariables(prepared, params, options);
    const planOnly = explain === 'plan' && withinSteps(planned) !== undefined;
    const isTold = planOnly || explain === 'trace' || wantsCost;
    const isBounded = !isPlanned && mayCall && answerRefusal === undefined;
    const callRefusal = planOnly || planned === undefined ? undefined : refusalOf(planned, prepared, options);
    const told: Cost = {
      ...{ planOnly, wantsCost, isTold },
      refusal: callRefusal ?? answerRefusal,
      calls: new OperationCalls(options.maxUpstreamCalls, explain === 'trace'),
      isLarge: forecast?.isLarge === true,
      plannedCalls: isBounded ? bound().calls : withinSteps(planned)?.upper,
      plan: () => withinSteps(isPlanned ? planned : planNow()),
      mostCalls: () => Math.min(bound().calls, options.maxUpstreamCalls),
      extensions: (calls = told.calls) =>
        isTold ? extensionsOf({ ...told, calls }, withinSteps(planned), explain, options) : undefined,
    };
    return told;
  };
}

/** Bounds hold for any variables: they are worked out once for an operation, and for those of narrowed tenants apart. */
function rememberBounds(options: CostsOptions): (prepared: PreparedOperation, isNarrowed: boolean) => Bound {
  const boundsOfAll = new WeakMap<PreparedOperation, Bound>();
  const boundsOfNarrowed = new WeakMap<PreparedOperation, Bound>();
  return (prepared, isNarrowed) => {
    const bounds = isNarrowed ? boundsOfNarrowed : boundsOfAll;
    const known = bounds.get(prepared);
    if (known !== undefined) return known;
    const bound = boundOf({ ...options, ...prepared, fragments: fragmentsOf(prepared.document), isNarrowed });
    bounds.set(prepared, bound);
    return bound;
  };
}

/** The `extensions` for a client that wants to know what its operation costs, or which calls it makes. */
function extensionsOf(
  { calls, planOnly, wantsCost, budget }: Cost,
  plan: Plan | undefined,
  explain: 'plan' | 'trace' | undefined,
  { maxUpstreamCalls: limit, isCaching = false }: CostsOptions,
): Readonly<Record<string, unknown>> {
  const { made, cached, stale } = calls;
  const cost = {
    ...{ requested: plan?.upper ?? 0, actual: made, limit },
    ...(isCaching && { cached, stale }),
    ...(budget !== undefined && { budget }),
  };
  return {
    ...(planOnly && { explain: plan }),
    ...(explain === 'trace' && { explain: { calls: calls.calls } }),
    ...(wantsCost && { cost }),
  };
}

function withinSteps(planned: Plan | PlanLimitError | undefined): Plan | undefined {
  return planned instanceof PlanLimitError ? undefined : planned;
}

/** The plan of an operation, or why it has none; undefined if the variables do not fit, and nothing will be executed. */
function planWith(
  { document, operation, deferred }: PreparedOperation,
  variables: Readonly<Record<string, unknown>>,
  { schema, cursors, maxPageSize, maxUpstreamCalls, incremental = false }: CostsOptions,
  tenant: Tenant | undefined,
): Plan | PlanLimitError | undefined {
  const variableValues = coercedVariables(schema, operation, variables);
  if (variableValues === undefined) return undefined;
  const fragments = fragmentsOf(document);
  const maxSteps = mostSteps(maxUpstreamCalls);
  try {
    const request = { schema, fragments, variableValues, operation, cursors, maxPageSize, maxSteps, tenant };
    const plan = planOperation(request);
    if (!incremental) return plan;
    const isWhole = deferred === undefined || isUndecided(deferred.conditions, variables);
    return planInParts(plan, request, isWhole ? undefined : deferred.document);
  } catch (error) {
    if (error instanceof PlanLimitError) return error;
    throw error;
  }
}

/** Why variables do not fit. If there is no plan to answer, the operation would run: a subscription would begin. */
function unfitVariables(
  { operation: { variableDefinitions = [] } }: PreparedOperation,
  { variables = {} }: GraphQLParams,
  { schema, introspection }: CostsOptions,
): RefusedDocument {
  const coerced = getVariableValues(schema, variableDefinitions, variables, { hideSuggestions: !introspection });
  return new RefusedDocument(coerced.errors ?? []);
}

/** Throws if clients may not see REST calls, too: a client that asks for a plan does not expect the operation to run. */
function explainOf({ extensions }: GraphQLParams, { explain: isAllowed }: CostsOptions): 'plan' | 'trace' | undefined {
  const explain = extensions?.['explain'] ?? undefined;
  if (explain === undefined) return undefined;
  if (isAllowed && (explain === 'plan' || explain === 'trace')) return explain;
  const expected = isAllowed ? 'to be "plan" or "trace"' : 'to be left out: it is switched off here';
  throw requestError('badParameter', `Expected the extension \`explain\` ${expected}.`);
}

/** Whether an operation might make more calls, or ask for more rows, than it may. */
function isExpensive({ calls, rows }: Bound, { listed }: PreparedOperation, limits: CostsOptions): boolean {
  return calls > limits.maxUpstreamCalls || (rows > limits.maxUpstreamRows && !listed);
}

function refusalOf(
  plan: Plan | PlanLimitError,
  { listed }: PreparedOperation,
  limits: CostsOptions,
): GraphQLError | undefined {
  if (plan instanceof PlanLimitError) return tooManySteps(plan);
  const { maxUpstreamCalls, maxUpstreamRows } = limits;
  if (plan.upper > maxUpstreamCalls)
    return tooExpensive('calls', plan.upper, maxUpstreamCalls, plan, ({ upper }) => upper);
  if (plan.rows <= maxUpstreamRows || listed) return undefined;
  return tooExpensive('rows', plan.rows, maxUpstreamRows, plan, ({ rows }) => rows);
}

function tooExpensive(
  unit: 'calls' | 'rows',
  count: number,
  limit: number,
  { calls }: Plan,
  measure: (call: PlannedCall) => number,
): GraphQLError {
  const [mostExpensive] = calls.toSorted((a, b) => measure(b) - measure(a));
  const path = mostExpensive?.paths[0] ?? '';
  const most = mostExpensive === undefined ? 0 : measure(mostExpensive);
  const does = unit === 'calls' ? 'make up to' : 'ask for up to';
  const what = unit === 'calls' ? 'REST calls' : 'rows';
  return requestError(
    'expensiveOperation',
    `The operation may ${does} ${count} ${what}, ${most} of them for \`${path}\`, but the limit is ${limit}.`,
    { details: { [unit]: count, limit, path } },
  );
}

/** How many steps it would take is not known: planning ended with the first one too many. */
function tooManySteps({ limit, path }: PlanLimitError): GraphQLError {
  const details = { steps: limit + 1, limit, path: path.slice(0, longestPath) };
  return requestError(
    'expensiveOperation',
    `The operation has more places and relations, those of each id counted, than are planned: the limit is ${limit}.`,
    { details },
  );
}

/** An alias may be as long as a document. */
const longestPath = 300;
