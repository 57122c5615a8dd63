import type { GraphQLError } from 'graphql';
import type { Bound } from '../plan/bound.ts';
import type { Plan } from '../plan/plan.ts';
import { PlanLimitError } from '../plan/plan-builder.ts';
import { OperationCalls } from '../rest/operation-calls.ts';
import type { Surface } from '../rest/operation-ids.ts';
import type { Tenant } from '../rest/tenants.ts';
import { createAnswerForecast } from './answer-forecast.ts';
import { expenseRefusal, isExpensive } from './cost-limits.ts';
import type { PreparedOperation } from './document.ts';
import type { GraphQLParams } from './params.ts';
import { type Asked, Planner, type PlannerOptions } from './planner.ts';
import { requestError } from './request-error.ts';

/** Settings of plans, and the limits of what an operation may cost. */
export interface CostsOptions extends PlannerOptions {
  readonly maxUpstreamRows: number;
  /** Most JSON objects of an answer. */
  readonly maxAnswerObjects: number;
  /** True if clients may see which REST calls an operation makes. */
  readonly explain: boolean;
  /**
   * True if REST answers are cached. Costs that clients request then include the number of reads that needed no call.
   */
  readonly isCaching?: boolean;
  /** Finds the tool of an operation; undefined if there are no tools. */
  readonly toolOf?: ToolOf | undefined;
}

/** Returns the tool of an operation, by its name and the text of its document; undefined if it is no tool. */
export type ToolOf = (name: string, text: string, tenant: Tenant | undefined) => ToolNote | undefined;

/** The tool of an operation, shown beside its plan: its name, and its cost as agents read it. */
export interface ToolNote {
  readonly name: string;
  readonly cost: string;
}

/** One window of a surface's budget, as clients see it. `window` and `resetsIn` are in seconds. */
export interface BudgetStatus {
  readonly surface: Surface;
  readonly window: number;
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until all of `limit` is available again if no further call is made. */
  readonly resetsIn: number;
}

/** Findings about an operation before it runs. */
interface Findings {
  /** Its plan, or the reason why it has none; undefined if it was not planned, or if its variables do not fit. */
  readonly planned: Plan | PlanLimitError | undefined;
  /** The most that it can need, if the limits were checked against this bound and not against its plan. */
  readonly bound: Bound | undefined;
  readonly refusal: GraphQLError | undefined;
  readonly isLarge: boolean;
}

/** The cost of one operation, and the parts of the cost that its client requested. */
export class Cost {
  /** Counts the calls that the operation makes, and stops it at the limit. */
  readonly calls: OperationCalls;
  /** The refusal of an operation that could exceed the limit of calls, of rows, or of objects in its answer. */
  readonly refusal: GraphQLError | undefined;
  /** True if the answer takes long to make. */
  readonly isLarge: boolean;
  /** True if the client wants only the plan. Nothing is executed then. */
  readonly planOnly: boolean;
  /** True if the client wants to know the cost. */
  readonly wantsCost: boolean;
  /** True if the client requested the cost, the plan or the trace. */
  readonly wantsExtensions: boolean;
  /** The state of the budget of the caller's key, if the client wants to know it. */
  budget: readonly BudgetStatus[] | undefined;
  readonly #asked: Asked;
  readonly #findings: Findings;
  readonly #planner: Planner;
  readonly #options: Pick<CostsOptions, 'isCaching' | 'toolOf'>;
  #mayDefer: boolean | undefined;

  constructor(asked: Asked, findings: Findings, planner: Planner, options: Pick<CostsOptions, 'isCaching' | 'toolOf'>) {
    const { explain, wantsCost } = asked;
    this.calls = new OperationCalls(planner.maxUpstreamCalls, explain === 'trace');
    this.refusal = findings.refusal;
    this.isLarge = findings.isLarge;
    this.planOnly = explain === 'plan' && withinSteps(findings.planned) !== undefined;
    this.wantsCost = wantsCost;
    this.wantsExtensions = this.planOnly || explain === 'trace' || wantsCost;
    this.#asked = asked;
    this.#findings = findings;
    this.#planner = planner;
    this.#options = options;
  }

  /**
   * The most REST calls that it makes, as `explain` reports them; undefined if it is not planned (see
   * `Planner.constantUpper`).
   */
  get plannedCalls(): number | undefined {
    const { bound, planned } = this.#findings;
    return bound === undefined ? withinSteps(planned)?.upper : this.#planner.constantUpper(this.#asked);
  }

  /** True if it may be answered in parts (see `Planner`). */
  get mayDefer(): boolean {
    this.#mayDefer ??= this.#planner.mayDefer(this.#asked);
    return this.#mayDefer;
  }

  /**
   * The plan of its calls, made when it is first needed. Undefined if the variables do not fit, or if planning takes
   * too many steps.
   */
  plan(): Plan | undefined {
    return withinSteps(this.#findings.planned ?? this.#planner.plan(this.#asked));
  }

  /**
   * The extensions that the client requested, once the operation is done. For a message of a subscription, `calls` are
   * the calls of the message.
   */
  extensions(calls = this.calls): Readonly<Record<string, unknown>> | undefined {
    if (!this.wantsExtensions) return undefined;
    const { planOnly, wantsCost } = this;
    return {
      ...(planOnly && { explain: this.#explained() }),
      ...(this.#asked.explain === 'trace' && { explain: { calls: calls.calls } }),
      ...(wantsCost && { cost: this.#costOf(calls) }),
    };
  }

  #explained(): Readonly<Record<string, unknown>> {
    const { prepared, params, tenant } = this.#asked;
    const name = prepared.operation.name?.value;
    const tool = name === undefined ? undefined : this.#options.toolOf?.(name, params.query ?? '', tenant);
    return { ...withinSteps(this.#findings.planned), ...(tool && { tool }) };
  }

  #costOf({ made, cached, stale }: OperationCalls): Readonly<Record<string, unknown>> {
    const requested = withinSteps(this.#findings.planned)?.upper ?? 0;
    return {
      ...{ requested, actual: made, limit: this.#planner.maxUpstreamCalls },
      ...(this.#options.isCaching === true && { cached, stale }),
      ...(this.budget !== undefined && { budget: this.budget }),
    };
  }
}

/**
 * Determines the cost of an operation before it runs. An operation without a usable key makes no call, so it is planned
 * only if its client wants the plan. Throws a GraphQLError for an unknown `explain`, and a RefusedDocument if the
 * variables fit no plan.
 */
export type Costs = (prepared: PreparedOperation, params: GraphQLParams, mayCall: boolean, tenant?: Tenant) => Cost;

/**
 * Refuses operations that would cost too much. Most operations cannot exceed the limits with any variables. These are
 * planned only if their client wants the plan.
 */
export function createCosts(options: CostsOptions): Costs {
  const planner = new Planner(options);
  const forecastAnswer = createAnswerForecast(options);
  return (prepared, params, mayCall, tenant) => {
    const explain = explainOf(params, options);
    const wantsCost = params.extensions?.['cost'] === true;
    const wantsPlan = explain === 'plan';
    const asked: Asked = { prepared, params, tenant, explain, wantsCost };
    // Checked before the plan, which takes longer.
    const forecast = wantsPlan ? undefined : forecastAnswer(prepared, params.variables ?? {});
    const isHeld = mayCall && !wantsPlan && forecast?.refusal === undefined;
    const bound = isHeld ? planner.boundOf(asked) : undefined;
    const isDue = wantsPlan || (mayCall && wantsCost) || (bound !== undefined && isExpensive(bound, prepared, options));
    const planned = isDue ? planner.plan(asked) : undefined;
    if (wantsPlan && planned === undefined) throw planner.unfitVariables(asked);
    const isShown = wantsPlan && withinSteps(planned) !== undefined;
    const refusal = planned === undefined || isShown ? undefined : expenseRefusal(planned, prepared, options);
    const isLarge = forecast?.isLarge === true;
    const findings = { planned, bound: isDue ? undefined : bound, refusal: refusal ?? forecast?.refusal, isLarge };
    return new Cost(asked, findings, planner, options);
  };
}

function withinSteps(planned: Plan | PlanLimitError | undefined): Plan | undefined {
  return planned instanceof PlanLimitError ? undefined : planned;
}

/**
 * The `explain` of a request; undefined without one. Also throws if clients may not see REST calls, because a client
 * that requests a plan does not expect the operation to run.
 */
function explainOf({ extensions }: GraphQLParams, { explain: isAllowed }: CostsOptions): 'plan' | 'trace' | undefined {
  const explain = extensions?.['explain'] ?? undefined;
  if (explain === undefined) return undefined;
  if (isAllowed && (explain === 'plan' || explain === 'trace')) return explain;
  const expected = isAllowed ? 'to be "plan" or "trace"' : 'to be left out: it is switched off here';
  throw requestError('badParameter', `Expected the extension \`explain\` ${expected}.`);
}
