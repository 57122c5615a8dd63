import { type GraphQLSchema, getVariableValues } from 'graphql';
import type { CursorCodec } from '../context.ts';
import { fragmentsOf } from '../look-ahead/selection.ts';
import { type Bound, boundOf } from '../plan/bound.ts';
import { planInParts } from '../plan/first-part.ts';
import { type Plan, planOperation } from '../plan/plan.ts';
import { mostSteps, PlanLimitError } from '../plan/plan-builder.ts';
import type { Tenant } from '../rest/tenants.ts';
import { isUndecided } from './defer.ts';
import type { PreparedOperation } from './document.ts';
import type { GraphQLParams } from './params.ts';
import { RefusedDocument } from './request-error.ts';
import { coercedVariables } from './variables.ts';

/** What plans are made with. */
export interface PlannerOptions {
  readonly schema: GraphQLSchema;
  readonly cursors: CursorCodec;
  readonly maxPageSize: number;
  readonly maxUpstreamCalls: number;
  /** Whether clients may read the schema, and so whether errors may suggest names of it. */
  readonly introspection: boolean;
  /** Whether answers come in parts, so that plans say when the first one goes out. */
  readonly incremental?: boolean | undefined;
}

/** An operation, and what its client wants to know of its cost. */
export interface Asked {
  readonly prepared: PreparedOperation;
  readonly params: GraphQLParams;
  /** Whom its caller belongs to, if the gateway holds the keys. */
  readonly tenant: Tenant | undefined;
  readonly explain: 'plan' | 'trace' | undefined;
  readonly wantsCost: boolean;
}

/** Tells what operations will call. */
export class Planner {
  readonly #options: PlannerOptions;
  /** Bounds hold for any variables: they are worked out once for an operation, and for those of narrowed tenants apart. */
  readonly #boundsOfAll = new WeakMap<PreparedOperation, Bound>();
  readonly #boundsOfNarrowed = new WeakMap<PreparedOperation, Bound>();

  constructor(options: PlannerOptions) {
    this.#options = options;
  }

  /** Most REST calls that any operation may make. */
  get maxUpstreamCalls(): number {
    return this.#options.maxUpstreamCalls;
  }

  /** What an operation needs at most, whatever its variables are. */
  boundOf({ prepared, tenant }: Asked): Bound {
    const isNarrowed = tenant?.reach !== undefined;
    const bounds = isNarrowed ? this.#boundsOfNarrowed : this.#boundsOfAll;
    const known = bounds.get(prepared);
    if (known !== undefined) return known;
    const bound = boundOf({ ...this.#options, ...prepared, fragments: fragmentsOf(prepared.document), isNarrowed });
    bounds.set(prepared, bound);
    return bound;
  }

  /** The plan of an operation, or why it has none; undefined if the variables do not fit, and nothing will be executed. */
  plan({ prepared, params, tenant, explain }: Asked): Plan | PlanLimitError | undefined {
    const { document, operation, deferred } = prepared;
    const { schema, cursors, maxPageSize, maxUpstreamCalls, incremental = false } = this.#options;
    const { variables = {} } = params;
    const variableValues = coercedVariables(schema, operation, variables);
    if (variableValues === undefined) return undefined;
    const fragments = fragmentsOf(document);
    const maxSteps = mostSteps(maxUpstreamCalls);
    try {
      const request = { schema, fragments, variableValues, operation, cursors, maxPageSize, maxSteps, tenant };
      const plan = planOperation(request);
      if (explain !== 'plan' || !incremental) return plan;
      const isWhole = deferred === undefined || isUndecided(deferred.conditions, variables);
      return planInParts(plan, request, isWhole ? undefined : deferred.document);
    } catch (error) {
      if (error instanceof PlanLimitError) return error;
      throw error;
    }
  }

  /** Why variables do not fit. If there is no plan to answer, the operation would run: a subscription would begin. */
  unfitVariables({ prepared, params: { variables = {} } }: Asked): RefusedDocument {
    const { schema, introspection } = this.#options;
    const { variableDefinitions = [] } = prepared.operation;
    const coerced = getVariableValues(schema, variableDefinitions, variables, { hideSuggestions: !introspection });
    return new RefusedDocument(coerced.errors ?? []);
  }
}
