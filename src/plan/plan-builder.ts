import {
  type FieldNode,
  GraphQLError,
  type GraphQLObjectType,
  getArgumentValues,
  getNamedType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import type { CursorCodec } from '../context.ts';
import { UserInputError } from '../graphql/input-error.ts';
import { ForbiddenError } from '../graphql/narrowing.ts';
import { answersScopes, type Needs, needsOf } from '../look-ahead/needs.ts';
import { type SelectedField, type Selecting, type SelectionScope, selectedFields } from '../look-ahead/selection.ts';
import type { NodeType } from '../rest/nouns.ts';
import { reaches } from '../rest/reach.ts';
import type { Tenant } from '../rest/tenants.ts';
import { ListPlans } from './list-plans.ts';
import type { Objects } from './objects.ts';
import { PlanSteps } from './plan-steps.ts';
import { PlannedCalls } from './planned-calls.ts';
import { Remembered } from './remembered.ts';
import { RowPlans } from './row-plans.ts';
import { Schedule } from './schedule.ts';
import type { SelectedObjects } from './selected-objects.ts';

/** What planning reads: where selections are read in, and what arguments are checked with. */
export interface PlanOptions extends SelectionScope {
  readonly cursors: CursorCodec;
  readonly maxPageSize: number;
  /** How many steps the planning may take (see `mostSteps`); by default as many as it needs. */
  readonly maxSteps?: number;
  /** For whom it would run, where the gateway holds the key. */
  readonly tenant?: Tenant | undefined;
}

/** A plan in the making. */
export class PlanBuilder {
  readonly options: PlanOptions;
  readonly schedule = new Schedule();
  readonly calls = new PlannedCalls();
  readonly lists: ListPlans;
  readonly rows: RowPlans;
  readonly steps: PlanSteps;
  readonly hints = new Set<string>();
  /** Whether a field that must not be null is refused: then its siblings may not run either. */
  isRefused = false;
  readonly #planObjects: (builder: PlanBuilder, place: SelectedObjects) => void;
  // Variables may decide about what is selected, but within one plan they are the same.
  readonly #fields = new Remembered<readonly SelectedField[]>();
  readonly #needs = new Remembered<Needs>();
  readonly #scopes = new Remembered<boolean>();

  /** `planObjects` plans what is selected on objects of the answer. */
  constructor(options: PlanOptions, planObjects: (builder: PlanBuilder, place: SelectedObjects) => void) {
    this.options = options;
    this.steps = new PlanSteps(options.maxSteps ?? Number.POSITIVE_INFINITY);
    this.#planObjects = planObjects;
    this.lists = new ListPlans(this.calls, this.schedule, options.maxPageSize);
    this.rows = new RowPlans(this.calls, this.schedule, this.lists, options.maxPageSize);
  }

  /** Plans what is selected on objects that a field answers. */
  plan(place: SelectedObjects): void {
    this.steps.take(place.path);
    if (!this.#isOutside(place.objects)) this.#planObjects(this, place);
  }

  /** Whether objects are known to be out of the tenant's reach: they are absent, and nothing is read for them. */
  #isOutside({ type: noun, id, owner }: Objects): boolean {
    const reach = this.options.tenant?.reach;
    if (reach === undefined || id === undefined) return false;
    const scope = owner === undefined ? '' : owner.id;
    return scope !== undefined && !reaches(reach, { noun, scope, id });
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

  /** Nothing that was read answers anything any more. */
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

  fields(type: GraphQLObjectType, { nodes }: { readonly nodes: readonly Selecting[] }): readonly SelectedField[] {
    return this.#fields.of(type, nodes, () => selectedFields(type, nodes, this.options));
  }

  /** What is needed of the rows of objects for what nodes select on them. */
  needs(type: GraphQLObjectType, nodes: readonly FieldNode[]): Needs {
    return this.#needs.of(type, nodes, () => needsOf(type, nodes, this.options));
  }

  /** Whether global ids are selected below a connection or a payload (see `answersScopes`). */
  answersScopes(type: GraphQLObjectType, nodes: readonly FieldNode[]): boolean {
    return this.#scopes.of(type, nodes, () => answersScopes(type, nodes, this.options));
  }

  /** The type of the object or the objects that a field answers; undefined for leaves and interfaces. */
  answerOf({ field }: Pick<SelectedField, 'field'>): GraphQLObjectType | undefined {
    const type = getNamedType(field.type);
    return isObjectType(type) ? type : undefined;
  }

  /** Plans a field with its arguments. */
  withArguments({ field, nodes: [node] }: SelectedField, plan: (args: Arguments) => void): void {
    if (node === undefined) return;
    const isDone = this.attempt(() => plan(new Arguments(getArgumentValues(field, node, this.options.variableValues))));
    if (!isDone && isNonNullType(field.type)) this.isRefused = true;
  }

  /** Plans something that costs nothing where its arguments are refused; false where they are. */
  attempt(plan: () => void): boolean {
    try {
      plan();
      return true;
    } catch (error) {
      if (!isRefusal(error)) throw error;
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
