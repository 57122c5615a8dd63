import { type GraphQLSchema, type VariableValues } from 'graphql';
import type { CursorCodec } from '../context.ts';
import { rootOf } from '../look-ahead/operation-trees.ts';
import { memoize } from '../memoize.ts';
import { type Estimate, estimateOf } from '../plan/estimate.ts';
import { defersLittle, mostDeferredPlaces, mostNameBytes, planInParts } from '../plan/parts.ts';
import { type Plan, planOperation } from '../plan/plan.ts';
import { mostSteps, PlanLimitError } from '../plan/plan-builder.ts';
import type { CostLimits } from './cost-limits.ts';
import { isUndecided } from './defer.ts';
import type { PreparedOperation } from './document.ts';
import type { PlannedRun } from './operation-run.ts';

/** Settings of plans. */
export interface PlannerOptions extends CostLimits {
  readonly schema: GraphQLSchema;
  readonly cursors: CursorCodec;
  readonly maxPageSize: number;
  /** True if answers may come in parts. Plans then say when the first part is sent. */
  readonly incremental?: boolean | undefined;
}

/** An operation whose cost is determined, with its coerced variables and its caller. */
export interface Asked extends Pick<PlannedRun, 'params' | 'coerced'> {
  readonly document: Pick<PlannedRun['document'], 'prepared'>;
  readonly request: Pick<PlannedRun['request'], 'caller'>;
}

const tooMuchDeferred = `it may defer more than ${mostDeferredPlaces} fragments or ${mostNameBytes} bytes of labels and paths, so it is answered as one document`;

/** Predicts the REST calls and the answers of operations. */
export class Planner {
  readonly #options: PlannerOptions;
  // These hold for any variables.
  readonly #largest = memoize((prepared: PreparedOperation) => this.#estimateOf(prepared, undefined));
  readonly #alwaysDefersLittle = memoize((prepared: PreparedOperation) => this.#defersLittle(prepared, undefined));
  readonly #constantUpper = memoize((prepared: PreparedOperation) => this.#upperOf(prepared));

  constructor(options: PlannerOptions) {
    this.#options = options;
  }

  /**
   * The most calls and rows that an operation needs with any variables. A narrowed tenant reads each project of a list by
   * its key, which the estimate does not cover.
   */
  boundOf({ document: { prepared }, request: { caller } }: Asked): Pick<Estimate, 'calls' | 'rows'> {
    const isNarrowed = caller?.tenant?.reach !== undefined;
    const readsByKey = isNarrowed && rootOf(prepared, undefined)?.fields.some(({ role }) => role.kind === 'list');
    return readsByKey === true ? { calls: Infinity, rows: Infinity } : this.#largest(prepared);
  }

  /**
   * The most that an operation answers: with any variables if that is within the limit, as it is for most operations,
   * else with its own.
   */
  answerSizeOf(asked: Asked): Estimate {
    const { prepared } = asked.document;
    const largest = this.#largest(prepared);
    return largest.objects <= this.#options.maxAnswerObjects ? largest : this.#estimateOf(prepared, asked.coerced);
  }

  #estimateOf(prepared: PreparedOperation, variableValues: VariableValues | undefined): Estimate {
    return estimateOf({ ...prepared, maxPageSize: this.#options.maxPageSize, variableValues });
  }

  /**
   * The most REST calls of an operation without variables, planned once for all of its runs. Undefined for operations
   * with variables and for narrowed tenants, because planning each run would take a tenth of the time of a small
   * operation.
   */
  constantUpper({ document: { prepared }, request: { caller } }: Asked): number | undefined {
    const isConstant = (prepared.operation.variableDefinitions ?? []).length === 0;
    return isConstant && caller?.tenant?.reach === undefined ? this.#constantUpper(prepared) : undefined;
  }

  #upperOf(prepared: PreparedOperation): number | undefined {
    const params = { query: undefined, variables: undefined, operationName: undefined, extensions: undefined, ids: {} };
    const coerced = { sources: {}, coerced: {} };
    const planned = this.plan({ params, coerced, document: { prepared }, request: { caller: undefined } });
    return planned instanceof PlanLimitError ? undefined : planned.upper;
  }

  /**
   * True if an operation may be answered in parts: it defers something, its variables decide what is deferred, and the
   * deferred part is small enough (see `defersLittle`). A server may always ignore `@defer`.
   */
  mayDefer(asked: Asked): boolean {
    const { prepared } = asked.document;
    const { deferred } = prepared;
    if (deferred === undefined || isUndecided(deferred.conditions, asked.params.variables)) return false;
    return this.#alwaysDefersLittle(prepared) || this.#defersLittle(prepared, asked.coerced);
  }

  /**
   * True if the deferred part is small enough with these variables. If they are undefined, it holds for any variables.
   */
  #defersLittle({ deferred }: PreparedOperation, variableValues: VariableValues | undefined): boolean {
    const { maxPageSize } = this.#options;
    return deferred === undefined || defersLittle({ ...deferred, maxPageSize, variableValues }, deferred.document);
  }

  /** The plan of an operation, or the reason why it has none. If it is explained, it also tells when parts are sent. */
  plan(asked: Asked, isExplained = false): Plan | PlanLimitError {
    const { schema, cursors, maxPageSize, maxUpstreamCalls, incremental = false } = this.#options;
    const { operation, fragments, deferred } = asked.document.prepared;
    const maxSteps = mostSteps(maxUpstreamCalls);
    const limits = { cursors, maxPageSize, maxSteps, tenant: asked.request.caller?.tenant };
    const request = { schema, operation, fragments, variableValues: asked.coerced, ...limits };
    try {
      const plan = planOperation(request);
      if (!isExplained || !incremental) return plan;
      if (deferred === undefined || isUndecided(deferred.conditions, asked.params.variables))
        return planInParts(plan, request, undefined);
      if (this.mayDefer(asked)) return planInParts(plan, request, deferred);
      return { ...plan, hints: [...plan.hints, tooMuchDeferred] };
    } catch (error) {
      if (error instanceof PlanLimitError) return error;
      throw error;
    }
  }
}
