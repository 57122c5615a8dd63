import { GraphQLError, isNonNullType, type VariableValues } from 'graphql';
import type { CursorCodec } from '../context.ts';
import type { ConnectionArguments } from '../graphql/connections.ts';
import type { EventFilter } from '../graphql/generated/resolvers.ts';
import { UserInputError } from '../graphql/input-error.ts';
import { ForbiddenError } from '../graphql/reach-refusals.ts';
import type { OperationPart, OperationScope, SelectedField } from '../look-ahead/selection-tree.ts';
import { current } from '../rest/paths.ts';
import { type Reach, type Rights, reaches } from '../rest/reach.ts';
import type { RestOperation } from '../rest/rest-operations.ts';
import { planObjects } from './field-plans.ts';
import { ListPlans } from './list-plans.ts';
import { objectByKey, type PlannedObjects, type SelectedObjects, type Stage } from './objects.ts';
import { PlannedCalls, Schedule } from './planned-calls.ts';
import { RowPlans } from './row-plans.ts';

/** An operation that is planned, with its coerced variables. Its document is valid. */
export interface PlanRequest extends OperationScope {
  readonly variableValues: VariableValues;
  readonly cursors: CursorCodec;
  readonly maxPageSize: number;
  /** The maximum number of steps of planning (see `mostSteps`); by default unlimited. */
  readonly maxSteps?: number;
  /** The rights of the caller; undefined if it has all rights of the API key. */
  readonly rights?: Rights | undefined;
  /** The part that is planned; by default all. */
  readonly part?: OperationPart;
}

/**
 * A plan under construction. It follows the stages of an operation as the loaders do: the rows and windows that are
 * wanted at one stage become calls together, and the fields below are planned at the stage at which the answers arrive.
 */
export class PlanBuilder {
  readonly options: PlanRequest;
  readonly schedule = new Schedule();
  readonly calls = new PlannedCalls();
  lists = new ListPlans(this);
  rows = new RowPlans(this);
  readonly hints = new Set<string>();
  /** True if a field that must not be null is refused. The executor may then skip the field's siblings. */
  isNonNullRefused = false;
  readonly argumentErrors: unknown[] = [];
  #steps = 0;

  constructor(options: PlanRequest) {
    this.options = options;
  }

  /** Forgets all rows. Called after a write, because rows that were read before it are not used any more. */
  forget(): void {
    this.calls.forget();
    this.lists = new ListPlans(this);
    this.rows = new RowPlans(this);
  }

  /** The objects that the caller may reach; undefined for all objects of the API key. */
  get reach(): Reach | undefined {
    return this.options.rights?.reach;
  }

  plan(place: SelectedObjects): void {
    this.countStep(place.path);
    if (!this.#isOutside(place.objects)) planObjects(this, place);
  }

  /** True if objects are known to be out of reach. They are answered as absent, and nothing is read for them. */
  #isOutside({ type: noun, id, owner }: PlannedObjects): boolean {
    if (this.reach === undefined || id === undefined) return false;
    const scope = owner === undefined ? '' : owner.id;
    return scope !== undefined && !reaches(this.reach, { noun, scope, id });
  }

  /** Plans the read of the project that `@current` stands for, which is read once (see `resolvers/current-owner.ts`). */
  planCurrent(
    { stage, certain, path }: Pick<PlannedField, 'stage' | 'certain' | 'path'>,
    onArrival?: (stage: Stage) => void,
  ): void {
    const objects = objectByKey({ type: 'Project', scope: '', id: current }, stage, certain);
    this.rows.want({ noun: 'Project', objects, view: 'list', path, onArrival });
  }

  /** Counts the steps of planning the field at `path`. Throws a PlanLimitError if the limit is exceeded. */
  countStep(path: string): void {
    const { maxSteps = Number.POSITIVE_INFINITY } = this.options;
    this.#steps += 1 + Math.floor(path.length / charactersPerStep);
    if (this.#steps > maxSteps) throw new PlanLimitError(maxSteps, path);
  }

  run(): void {
    this.schedule.run(() => {
      this.rows.settle();
      this.lists.settle();
    });
    this.rows.settleAbsence();
    this.lists.settle();
  }

  withArguments(selected: SelectedField, plan: (args: Arguments) => void): void {
    const isPlanned = this.planUnlessRefused(() => plan(selected.argumentsWith(() => this.options.variableValues)));
    if (!isPlanned && isNonNullType(selected.field.type)) this.isNonNullRefused = true;
  }

  /** Runs `plan`. Returns false and keeps the error if arguments are refused. The field then needs no call. */
  planUnlessRefused(plan: () => void): boolean {
    try {
      plan();
      return true;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      this.argumentErrors.push(error);
      return false;
    }
  }
}

/** A field that needs a read of its own, and the objects that have the field. */
export interface PlannedField {
  readonly builder: PlanBuilder;
  readonly selected: SelectedField;
  readonly endpoint: RestOperation;
  /** The objects that have the field; undefined for a field of the query itself. */
  readonly parent: PlannedObjects | undefined;
  readonly stage: Stage;
  readonly certain: boolean;
  readonly path: string;
}

/** The arguments of any planned field, as its resolver gets them. */
export interface Arguments extends ConnectionArguments {
  readonly id?: string;
  readonly ids?: readonly string[];
  readonly projectId?: string;
  readonly filter?: EventFilter | null;
  readonly select?: readonly string[] | null;
  readonly input?: object;
}

/** True if arguments are refused. The resolvers refuse the same arguments before they make a call. */
function isRefusal(error: unknown): boolean {
  return error instanceof UserInputError || error instanceof ForbiddenError || error instanceof GraphQLError;
}

/** The error of an operation that is too large to be planned. */
export class PlanLimitError extends Error {
  override readonly name = 'PlanLimitError';
  readonly limit: number;
  /** The response path at which planning ended. */
  readonly path: string;

  constructor(limit: number, path: string) {
    super(`the plan takes more than ${limit} steps`);
    this.limit = limit;
    this.path = path;
  }
}

/** The steps of planning that are allowed for each REST call. Each field takes at least one. */
const stepsPerCall = 30;

/** The lowest limit of steps, so that small operations are planned even if few calls are allowed. */
const leastSteps = 2000;

/** The maximum number of steps of planning, by the number of REST calls that an operation may make. */
export function mostSteps(maxUpstreamCalls: number): number {
  return Math.max(leastSteps, stepsPerCall * maxUpstreamCalls);
}

/** The number of characters in a path that count as one further step, because long paths take longer to plan. */
const charactersPerStep = 256;
