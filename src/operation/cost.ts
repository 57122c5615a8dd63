import type { GraphQLError } from 'graphql';
import type { Plan } from '../plan/plan.ts';
import { PlanLimitError } from '../plan/plan-builder.ts';
import { OperationCalls } from '../rest/operation-calls.ts';
import type { Surface } from '../rest/operation-ids.ts';
import type { Tenant } from '../rest/tenants.ts';
import { answerRefusal, expenseRefusal, isExpensive } from './cost-limits.ts';
import { type Asked, Planner, type PlannerOptions } from './planner.ts';
import { requestError } from './request-error.ts';

/** Settings of plans, and the limits of what an operation may cost. */
export interface CostsOptions extends PlannerOptions {
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

interface Findings {
  /** Its plan, or the reason why it has none; undefined if it was not planned. */
  readonly planned: Plan | PlanLimitError | undefined;
  /** True if it was not planned because it cannot exceed the limits with any variables. */
  readonly isCheap: boolean;
  readonly refusal: GraphQLError | undefined;
  readonly isLarge: boolean;
}

/** The cost of one operation, and the parts of the cost that its client requested. */
export class Cost {
  /** Counts the calls that the operation makes, and stops it at the limit. */
  readonly calls: OperationCalls;
  readonly refusal: GraphQLError | undefined;
  readonly isLarge: boolean;
  /** The plan of its calls; undefined if it was not planned, or if planning takes too many steps. */
  readonly plan: Plan | undefined;
  /** True if the client wants only the plan. Nothing is executed then. */
  readonly planOnly: boolean;
  readonly wantsCost: boolean;
  /** True if the client requested the cost, the plan or the trace. */
  readonly wantsExtensions: boolean;
  /** The state of the budget of the caller's key, if the client wants to know it. */
  budget: readonly BudgetStatus[] | undefined;
  readonly #asked: Asked;
  readonly #explain: Explain;
  readonly #isCheap: boolean;
  readonly #planner: Planner;
  readonly #options: CostsOptions;
  #mayDefer: boolean | undefined;

  constructor(asked: Asked, explain: Explain, findings: Findings, planner: Planner, options: CostsOptions) {
    const { planned, isCheap, refusal, isLarge } = findings;
    this.calls = new OperationCalls(options.maxUpstreamCalls, explain === 'trace');
    this.refusal = refusal;
    this.isLarge = isLarge;
    this.plan = planned instanceof PlanLimitError ? undefined : planned;
    this.planOnly = explain === 'plan' && this.plan !== undefined;
    this.wantsCost = wantsCost(asked);
    this.wantsExtensions = this.planOnly || explain === 'trace' || this.wantsCost;
    this.#asked = asked;
    this.#explain = explain;
    this.#isCheap = isCheap;
    this.#planner = planner;
    this.#options = options;
  }

  /**
   * The most REST calls that it makes, as `explain` reports them; undefined if it is not planned (see
   * `Planner.constantUpper`).
   */
  get plannedCalls(): number | undefined {
    return this.#isCheap ? this.#planner.constantUpper(this.#asked) : this.plan?.upper;
  }

  /** True if it may be answered in parts (see `Planner`). */
  get mayDefer(): boolean {
    this.#mayDefer ??= this.#planner.mayDefer(this.#asked);
    return this.#mayDefer;
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
    const { document, params, request } = this.#asked;
    const name = document.prepared.operation.name?.value;
    const tool = name && this.#options.toolOf?.(name, params.query ?? '', request.caller?.tenant);
    return { ...this.plan, ...(tool && { tool }) };
  }

  #costOf({ made, cached, stale }: OperationCalls): Readonly<Record<string, unknown>> {
    return {
      ...{ requested: this.plan?.upper ?? 0, actual: made, limit: this.#options.maxUpstreamCalls },
      ...(this.#options.isCaching === true && { cached, stale }),
      ...(this.budget !== undefined && { budget: this.budget }),
    };
  }
}

/**
 * Determines the cost of an operation before it runs. An operation without a usable key makes no call, so it is planned
 * only if its client wants the plan. Throws a GraphQLError for an unknown `explain`, and a RefusedDocument if the
 * variables do not fit.
 */
export type Costs = (asked: Asked, mayCall: boolean) => Cost;

/** Answers with more objects than this take tens of milliseconds to make. */
const manyObjects = 2000;

/**
 * Refuses operations that would cost too much. Most operations cannot exceed the limits with any variables. These are
 * planned only if their client wants the plan.
 */
export function createCosts(options: CostsOptions): Costs {
  const planner = new Planner(options);
  const findingsOf = (asked: Asked, explain: Explain, mayCall: boolean): Findings => {
    const { prepared } = asked.document;
    if (explain === 'plan') {
      const planned = planner.plan(asked, true);
      const refusal = planned instanceof PlanLimitError ? expenseRefusal(planned, prepared, options) : undefined;
      return { planned, isCheap: false, refusal, isLarge: false };
    }
    // Checked before the plan, which takes longer.
    const size = planner.answerSizeOf(asked);
    const isLarge = size.objects > manyObjects || size.introspects;
    const tooMany = answerRefusal(size, options);
    const mayRun = mayCall && tooMany === undefined;
    const isPlanned =
      (mayCall && wantsCost(asked)) || (mayRun && isExpensive(planner.boundOf(asked), prepared, options));
    const planned = isPlanned ? planner.plan(asked) : undefined;
    const refusal = (planned && expenseRefusal(planned, prepared, options)) ?? tooMany;
    return { planned, isCheap: mayRun && !isPlanned, refusal, isLarge };
  };
  return (asked, mayCall) => {
    const explain = explainOf(asked, options);
    return new Cost(asked, explain, findingsOf(asked, explain, mayCall), planner, options);
  };
}

function wantsCost({ params: { extensions } }: Asked): boolean {
  return extensions?.['cost'] === true;
}

/** The facts about the REST calls of its operation that a client asks for. */
type Explain = 'plan' | 'trace' | undefined;

/**
 * The `explain` of a request. Also throws if clients may not see REST calls, because a client that requests a plan does
 * not expect the operation to run.
 */
function explainOf({ params: { extensions } }: Asked, { explain: isAllowed }: CostsOptions): Explain {
  const explain = extensions?.['explain'] ?? undefined;
  if (explain === undefined) return undefined;
  if (isAllowed && (explain === 'plan' || explain === 'trace')) return explain;
  const expected = isAllowed ? 'to be "plan" or "trace"' : 'to be left out: it is switched off here';
  throw requestError('badParameter', `Expected the extension \`explain\` ${expected}.`);
}
