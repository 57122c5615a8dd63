import {
  GraphQLError,
  type GraphQLObjectType,
  type GraphQLSchema,
  isNonNullType,
  isObjectType,
  type VariableValues,
} from 'graphql';
import type { CursorCodec } from '../context.ts';
import type { ConnectionArguments } from '../graphql/connections.ts';
import { UserInputError } from '../graphql/input-error.ts';
import { ForbiddenError, mutationReach } from '../graphql/narrowing.ts';
import { type SelectedField } from '../look-ahead/selection-tree.ts';
import type { NodeType } from '../rest/nouns.ts';
import { type Reach, reaches } from '../rest/reach.ts';
import type { Tenant } from '../rest/tenants.ts';
import { ListPlans } from './list-plans.ts';
import { currentProject, type Objects, type SelectedObjects, type Stage } from './objects.ts';
import { PlannedCalls, Schedule } from './planned-calls.ts';
import { RowPlans } from './row-plans.ts';

/** The schema and the variables of an operation that is planned, and what its arguments are checked with. */
export interface PlanOptions {
  readonly schema: GraphQLSchema;
  readonly variableValues: VariableValues;
  readonly cursors: CursorCodec;
  readonly maxPageSize: number;
  /** The most steps of the planning (see `mostSteps`); by default as many as it needs. */
  readonly maxSteps?: number;
  /** The tenant for whom it would run, if the gateway holds the key. */
  readonly tenant?: Tenant | undefined;
}

/** The place that asks what `@current` stands for. */
interface Asking {
  readonly stage: Stage;
  readonly certain: boolean;
  readonly path: string;
}

/**
 * A plan in the making. It runs through the waves of an operation as its loaders would: what is wanted at one stage is
 * turned into calls together, and the fields below it are planned at the stage at which the answers arrive.
 */
export class PlanBuilder {
  readonly options: PlanOptions;
  readonly schedule = new Schedule();
  readonly calls = new PlannedCalls();
  readonly lists: ListPlans;
  readonly rows: RowPlans;
  readonly steps: PlanSteps;
  readonly hints = new Set<string>();
  /** True if a field that must not be null is refused: then its siblings may not run either. */
  isRefused = false;
  /** The errors of fields whose arguments were refused. */
  readonly refusals: unknown[] = [];
  readonly #planObjects: (builder: PlanBuilder, place: SelectedObjects) => void;

  /** `planObjects` plans what is selected on objects of the answer. */
  constructor(options: PlanOptions, planObjects: (builder: PlanBuilder, place: SelectedObjects) => void) {
    this.options = options;
    this.steps = new PlanSteps(options.maxSteps ?? Number.POSITIVE_INFINITY);
    this.#planObjects = planObjects;
    this.lists = new ListPlans(this.calls, this.schedule, options.maxPageSize);
    this.rows = new RowPlans(this.calls, this.schedule, this.lists, options.maxPageSize);
  }

  /** The reach of the caller for whom it is planned; undefined if it reaches all that its key sees. */
  get reach(): Reach | undefined {
    return this.options.tenant?.reach;
  }

  /** Its reach in a mutation. Throws a ForbiddenError if it may not run that. */
  writeReach(mutation: string): Reach | undefined {
    return mutationReach(this.options.tenant, mutation);
  }

  /** Plans what is selected on objects that a field answers. */
  plan(place: SelectedObjects): void {
    this.steps.take(place.path);
    if (!this.#isOutside(place.objects)) this.#planObjects(this, place);
  }

  /** True if objects are known to be out of reach: they are absent, and nothing is read for them. */
  #isOutside({ type: noun, id, owner }: Objects): boolean {
    if (this.reach === undefined || id === undefined) return false;
    const scope = owner === undefined ? '' : owner.id;
    return scope !== undefined && !reaches(this.reach, { noun, scope, id });
  }

  /**
   * Plans the read of the project that tells what `@current` stands for, as `resolvers/current-scope.ts` reads it: one for an
   * operation.
   */
  planCurrent({ stage, certain, path }: Asking, done: (arrival: Stage) => void = () => undefined): void {
    this.rows.want({ noun: 'Project', objects: currentProject(stage, certain), view: 'list', path, done });
  }

  /** Runs what is scheduled to its end. */
  run(): void {
    const settleLists = (): void => this.lists.settle((collection) => this.rows.reads(collection));
    this.schedule.run(() => {
      this.rows.settle();
      settleLists();
    });
    this.rows.settleAbsence();
    settleLists();
  }

  /** Called after a write: rows that were read before it answer nothing any more. */
  forget(): void {
    this.calls.forget();
    this.lists.forget();
    this.rows.forget();
  }

  type(name: NodeType): GraphQLObjectType {
    const type = this.options.schema.getType(name);
    if (!isObjectType(type)) throw new Error(`the schema has no object type ${name}`);
    return type;
  }

  /** Plans a field with its arguments. */
  withArguments(selected: SelectedField, plan: (args: Arguments) => void): void {
    const variables = (): VariableValues => this.options.variableValues;
    const isDone = this.attempt(() => plan(new Arguments(selected.argumentsWith(variables))));
    if (!isDone && isNonNullType(selected.field.type)) this.isRefused = true;
  }

  /** Plans something that costs nothing if its arguments are refused; false if they are. */
  attempt(plan: () => void): boolean {
    try {
      plan();
      return true;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      this.refusals.push(error);
      return false;
    }
  }
}

/** The arguments of a field, by the types that the schema gave them. */
export class Arguments {
  readonly all: Readonly<Record<string, unknown>>;

  constructor(all: Readonly<Record<string, unknown>>) {
    this.all = all;
  }

  text(name: string): string | undefined {
    const value = this.all[name];
    return typeof value === 'string' ? value : undefined;
  }

  number(name: string): number | undefined {
    const value = this.all[name];
    return typeof value === 'number' ? value : undefined;
  }

  /** The arguments of a connection that say which rows it asks for. */
  get connection(): ConnectionArguments {
    const [first, last] = [this.number('first'), this.number('last')];
    return { first, last, after: this.text('after'), before: this.text('before') };
  }

  texts(name: string): readonly string[] {
    const value = this.all[name];
    return Array.isArray(value) ? value.map(String) : [];
  }
}

/** The path of a field below that of its object. */
export function pathOf(parent: string, { responseKey }: Pick<SelectedField, 'responseKey'>): string {
  return parent === '' ? responseKey : `${parent}.${responseKey}`;
}

/** Arguments that the resolvers refuse too, before any call. */
function isRefusal(error: unknown): boolean {
  return error instanceof UserInputError || error instanceof ForbiddenError || error instanceof GraphQLError;
}

/** An operation is too large to be planned: planning ends at the limit. */
export class PlanLimitError extends Error {
  override readonly name = 'PlanLimitError';
  readonly limit: number;
  /** The place of the answer at which planning ended. */
  readonly path: string;

  constructor(limit: number, path: string) {
    super(`the plan takes more than ${limit} steps`);
    this.limit = limit;
    this.path = path;
  }
}

/** The steps of planning for each REST call that an operation may make: as many places may need its answer. */
const stepsOfCall = 30;

/** Small operations are planned even if few calls are allowed. */
const leastSteps = 2000;

/** The most steps of planning if an operation may make so many REST calls. */
export function mostSteps(maxUpstreamCalls: number): number {
  return Math.max(leastSteps, stepsOfCall * maxUpstreamCalls);
}

/** Longer paths take as much of the planning as several places. In characters. */
const usualPath = 256;

/** Counts the steps of one planning: places in the answer and fields there that no row holds. */
export class PlanSteps {
  readonly #limit: number;
  #taken = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Takes the step to a path. Throws a PlanLimitError beyond the limit. */
  take(path: string): void {
    this.#taken += 1 + Math.floor(path.length / usualPath);
    if (this.#taken > this.#limit) throw new PlanLimitError(this.#limit, path);
  }
}
