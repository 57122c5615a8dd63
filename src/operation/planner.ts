import { type GraphQLSchema, getVariableValues, type VariableValues } from 'graphql';
import type { CursorCodec } from '../context.ts';
import { memoize } from '../memoize.ts';
import { type Bound, boundOf } from '../plan/bound.ts';
import { defersLittle, mostDeferredPlaces, mostNameBytes, planInParts } from '../plan/parts.ts';
import { type Plan, planOperation } from '../plan/plan.ts';
import { mostSteps, PlanLimitError } from '../plan/plan-builder.ts';
import type { Tenant } from '../rest/tenants.ts';
import { isUndecided } from './defer.ts';
import type { PreparedOperation } from './document.ts';
import type { GraphQLParams } from './params.ts';
import { RefusedDocument } from './request-error.ts';
import { coercedVariables } from './variables.ts';

/** Settings of plans. */
export interface PlannerOptions {
  readonly schema: GraphQLSchema;
  readonly cursors: CursorCodec;
  readonly maxPageSize: number;
  readonly maxUpstreamCalls: number;
  /** True if clients may read the schema. Otherwise errors do not suggest names from it. */
  readonly introspection: boolean;
  /** True if answers may come in parts. Plans then say when the first part is sent. */
  readonly incremental?: boolean | undefined;
}

/** An operation, and the facts about its cost that its client asks for. */
export interface Asked {
  readonly prepared: PreparedOperation;
  readonly params: GraphQLParams;
  /** The tenant of its caller, if the gateway holds the keys. */
  readonly tenant: Tenant | undefined;
  readonly explain: 'plan' | 'trace' | undefined;
  readonly wantsCost: boolean;
}

const tooMuchDeferred = `it may defer more than ${mostDeferredPlaces} fragments or ${mostNameBytes} bytes of labels and paths, so it is answered as one document`;

/** Plans the REST calls of operations. */
export class Planner {
  readonly #options: PlannerOptions;
  // These hold for any variables. Operations of narrowed tenants have separate bounds.
  readonly #boundOfAll = memoize((prepared: PreparedOperation) => this.#bound(prepared, false));
  readonly #boundOfNarrowed = memoize((prepared: PreparedOperation) => this.#bound(prepared, true));
  readonly #alwaysDefersLittle = memoize((prepared: PreparedOperation) => this.#defersLittle(prepared, undefined));
  /** The most calls of operations without variables, by their plans. */
  readonly #constantUppers = new WeakMap<PreparedOperation, number>();

  constructor(options: PlannerOptions) {
    this.#options = options;
  }

  /** The most REST calls that an operation may make. */
  get maxUpstreamCalls(): number {
    return this.#options.maxUpstreamCalls;
  }

  /** The most calls and rows that an operation needs with any variables. */
  boundOf({ prepared, tenant }: Asked): Bound {
    return tenant?.reach === undefined ? this.#boundOfAll(prepared) : this.#boundOfNarrowed(prepared);
  }

  #bound(prepared: PreparedOperation, isNarrowed: boolean): Bound {
    return boundOf({ ...prepared, maxPageSize: this.#options.maxPageSize, isNarrowed });
  }

  /**
   * The most REST calls of an operation without variables, planned once for all of its runs. Undefined for operations
   * with variables and for narrowed tenants, because planning each run would take a tenth of the time of a small
   * operation.
   */
  constantUpper(asked: Asked): number | undefined {
    const { prepared, tenant } = asked;
    if ((prepared.operation.variableDefinitions ?? []).length > 0 || tenant?.reach !== undefined) return undefined;
    const known = this.#constantUppers.get(prepared);
    if (known !== undefined) return known;
    const planned = this.plan(asked);
    if (planned === undefined || planned instanceof PlanLimitError) return undefined;
    this.#constantUppers.set(prepared, planned.upper);
    return planned.upper;
  }

  /**
   * True if an operation may be answered in parts: it defers something, its variables decide what is deferred, and the
   * deferred part is small enough (see `defersLittle`). A server may always ignore `@defer`.
   */
  mayDefer({ prepared, params: { variables = {} } }: Asked): boolean {
    const { deferred, operation } = prepared;
    if (deferred === undefined || isUndecided(deferred.conditions, variables)) return false;
    if (this.#alwaysDefersLittle(prepared)) return true;
    const variableValues = coercedVariables(this.#options.schema, operation, variables);
    return variableValues !== undefined && this.#defersLittle(prepared, variableValues);
  }

  /**
   * True if the deferred part is small enough with these variables. If they are undefined, it holds for any variables.
   */
  #defersLittle({ deferred }: PreparedOperation, variableValues: VariableValues | undefined): boolean {
    const { maxPageSize } = this.#options;
    return deferred === undefined || defersLittle({ ...deferred, maxPageSize, variableValues });
  }

  /**
   * The plan of an operation, or the reason why it has none. Undefined if the variables do not fit, because nothing is
   * executed then.
   */
  plan(asked: Asked): Plan | PlanLimitError | undefined {
    const { prepared, params, tenant, explain } = asked;
    const { operation, fragments, deferred } = prepared;
    const { schema, cursors, maxPageSize, maxUpstreamCalls, incremental = false } = this.#options;
    const { variables = {} } = params;
    const variableValues = coercedVariables(schema, operation, variables);
    if (variableValues === undefined) return undefined;
    const maxSteps = mostSteps(maxUpstreamCalls);
    try {
      const request = { schema, fragments, variableValues, operation, cursors, maxPageSize, maxSteps, tenant };
      const plan = planOperation(request);
      if (explain !== 'plan' || !incremental) return plan;
      if (deferred === undefined || isUndecided(deferred.conditions, variables))
        return planInParts(plan, request, undefined);
      if (this.mayDefer(asked)) return planInParts(plan, request, deferred);
      return { ...plan, hints: [...plan.hints, tooMuchDeferred] };
    } catch (error) {
      if (error instanceof PlanLimitError) return error;
      throw error;
    }
  }

  /**
   * The error of variables that do not fit. A client that requested a plan gets this error; otherwise the operation
   * would run, or a subscription would begin.
   */
  unfitVariables({ prepared, params: { variables = {} } }: Asked): RefusedDocument {
    const { schema, introspection } = this.#options;
    const { variableDefinitions = [] } = prepared.operation;
    const coerced = getVariableValues(schema, variableDefinitions, variables, { hideSuggestions: !introspection });
    return new RefusedDocument(coerced.errors ?? []);
  }
}
