import {
  getNamedType,
  getVariableValues,
  isInputType,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  typeFromAST,
  type VariableDefinitionNode,
  valueFromASTUntyped,
} from 'graphql';
import type { CursorCodec } from '../context.ts';
import { rootOf } from '../look-ahead/operation-trees.ts';
import type { OperationScope } from '../look-ahead/selection-tree.ts';
import type { Reach } from '../rest/reach.ts';
import type { Tenant } from '../rest/tenants.ts';
import { literalsOf } from './literals.ts';
import { type CheckedPlan, type Plan, planChecked } from './plan.ts';
import { samplesOf } from './samples.ts';

/** An operation, and for whom and how long it is planned. */
interface PlanningOptions extends OperationScope {
  readonly maxPageSize: number;
  /** The most steps of each planning (see `mostSteps`); by default as many as it needs. */
  readonly maxSteps?: number;
  /** The tenant for whom it would run, if the gateway holds the key. */
  readonly tenant?: Tenant | undefined;
  /** Checks cursors; by default any text is taken for one. */
  readonly cursors?: CursorCodec | undefined;
}

/** An operation whose variables are not known. */
interface WorstCaseOptions extends PlanningOptions {
  /** True if variables with a default may have other values, too. */
  readonly variesDefaults: boolean;
}

/** Values of variables by their names. */
export type Variables = Readonly<Record<string, unknown>>;

/** The plans of an operation over all values of its variables. */
export interface Extremes {
  /** The plan with the defaults of variables, and without everything that can be left out. */
  readonly usual: Plan;
  /** That with the most calls, and among those with the most rows; its `objects` are those of the largest answer. */
  readonly worst: Plan;
  /** The variables of the worst that are others than those of the usual one. */
  readonly variables: Variables;
  /** The fewest calls of any. */
  readonly lower: number;
}

/** Any text is taken for a cursor, because any variable may hold one. */
const anyCursors: CursorCodec = {
  encode: () => '',
  decode: () => ({ offset: 1_000_000 }),
  isOfCurrent: () => true,
  encodeQuery: () => '',
  decodeQuery: () => '?',
};

/**
 * The extremes among the plans of an operation, looked for one variable after the other: with its default, or else with
 * each of the values that cost differently. Undefined if no variables fit.
 */
export function extremesOf(options: WorstCaseOptions): Extremes | undefined {
  const { operation, maxPageSize } = options;
  const choices = (operation.variableDefinitions ?? []).map((one, place) =>
    // Further from each other than a list is long: no two variables have an object in common.
    choicesOf(one, options, 1 + place * maxPageSize),
  );
  const twinsOf = createTwins(options);
  const base: Variables = Object.fromEntries(choices.map(({ name, values }) => [name, values[0]]));
  const first = planWith(base, options);
  if (first === undefined) return undefined;
  const start: Found = { ...first, variables: base };
  // A mutation may be refused unless several of its variables are given.
  const given = Object.fromEntries(choices.map(({ name, values }) => [name, values.find((one) => one !== undefined)]));
  const changes = [...switchesOf(operation), ...(isRefused(start) ? [given] : [])];
  const changed = changes.flatMap((some): readonly Found[] => {
    const variables = { ...base, ...some };
    const planned = planWith(variables, options);
    return planned === undefined ? [] : [{ ...planned, variables }];
  });
  let usual = start;
  let worst = start;
  let least = start;
  /** The cheapest of all, those that are refused too: one more variable may make it a plan. */
  let bottom = start;
  let { objects } = first.plan;
  /** Plans of as many calls as the worst, with another value of each variable: a further variable may make one dearer. */
  const ties = new Map<string, Found>();
  const search = (): void => {
    for (const { name, values } of choices) {
      // Each is also tried without the others: some exclude each other, as `first` and `last` do.
      for (const around of new Set([worst, least, bottom, start, ...changed, ...ties.values()])) {
        const twins = around === least || around === bottom ? twinsOf(name, around.variables) : [];
        for (const value of [...values, ...twins]) {
          const variables = { ...around.variables, [name]: value };
          const planned = planWith(variables, options);
          if (planned === undefined) continue;
          const found = { ...planned, variables };
          objects = Math.max(objects, found.plan.objects);
          if (isRefused(usual) && !isRefused(found)) usual = found;
          if (found.plan.upper > worst.plan.upper) ties.clear();
          if (costsMore(found, worst)) worst = found;
          else if (found.plan.upper === worst.plan.upper && value !== worst.variables[name]) ties.set(name, found);
          if (!isRefused(found) && (isRefused(least) || costsLess(found, least))) least = found;
          if (costsLess(found, bottom)) bottom = found;
        }
      }
    }
  };
  for (let round = 0, before: readonly unknown[] = []; round < mostRounds; round += 1) {
    const now = [worst, least, bottom, ties.size];
    if (now.every((one, place) => one === before[place])) break;
    before = now;
    search();
  }
  const lower = Math.min(least.plan.lower, worst.plan.upper);
  const others = Object.entries(worst.variables).filter(([name, value]) => value !== usual.variables[name]);
  return {
    usual: usual.plan,
    worst: { ...worst.plan, lower, objects },
    variables: Object.fromEntries(others),
    lower,
  };
}

/** The most switches that are tried one by one. */
const mostSwitches = 4;

/** Switches both ways: they may take away what other variables make a difference to. */
function switchesOf({ variableDefinitions = [] }: OperationDefinitionNode): readonly Variables[] {
  const names = variableDefinitions.flatMap(({ variable, type }) => {
    const named = type.kind === Kind.NON_NULL_TYPE ? type.type : type;
    return named.kind === Kind.NAMED_TYPE && named.name.value === 'Boolean' ? [variable.name.value] : [];
  });
  const all = (value: boolean): Variables => Object.fromEntries(names.map((name) => [name, value]));
  const each = names.slice(0, mostSwitches).flatMap((name) => [{ [name]: true }, { [name]: false }]);
  return names.length === 0 ? [] : [all(true), all(false), ...(names.length === 1 ? [] : each)];
}

/** The types of which no value names what is read. */
const amounts: ReadonlySet<string> = new Set(['Boolean', 'Float', 'Int']);

/** The most other values that are tried for a variable. */
const mostTwins = 12;

/**
 * Makes the look-up of the values that make a variable name the same as another one, or as the document itself: what two
 * places read alike is read once.
 */
function createTwins(options: WorstCaseOptions): (name: string, variables: Variables) => readonly unknown[] {
  const { schema, operation } = options;
  const literals = literalsOf(options);
  const declared = (operation.variableDefinitions ?? []).map(({ variable, type, defaultValue }) => {
    const known = typeFromAST(schema, type);
    const fallback = defaultValue && valueFromASTUntyped(defaultValue);
    return { name: variable.name.value, type: known && getNamedType(known).name, fallback };
  });
  return (name, variables) => {
    const type = declared.find((one) => one.name === name)?.type;
    if (type === undefined || amounts.has(type)) return [];
    const others = declared.filter((one) => one.type === type && one.name !== name);
    const values = others.map((other) => variables[other.name] ?? other.fallback);
    const known = [...(literals.get(type) ?? []), ...values].filter((value) => value !== undefined);
    return [...new Set(known)].slice(0, mostTwins);
  };
}

/** A plan, and the variables that it was made for. */
type Found = CheckedPlan & { readonly variables: Variables };

/** The most rounds over all variables: the effect of one variable may depend on those that are examined after it. */
const mostRounds = 3;

/** True if the values are of another sort than the operation takes: nothing would be called. */
function isRefused({ refusals, plan }: CheckedPlan): boolean {
  return refusals.length > 0 && plan.upper === 0;
}

/** Rows decide between plans of as many calls. */
function costsMore(found: CheckedPlan, other: CheckedPlan): boolean {
  if (isRefused(found) !== isRefused(other)) return isRefused(other);
  const { upper, rows } = found.plan;
  return upper > other.plan.upper || (upper === other.plan.upper && rows > other.plan.rows);
}

/** Between plans of as few calls, one from which the search may go on to fewer. */
function costsLess(found: CheckedPlan, other: CheckedPlan): boolean {
  const by = [
    found.plan.lower - other.plan.lower,
    found.plan.upper - other.plan.upper,
    found.refusals.length - other.refusals.length,
  ];
  return (by.find((difference) => difference !== 0) ?? 0) < 0;
}

/** The values to try for a variable: its default, else left out if it can be, or one of the values that cost differently. */
function choicesOf(
  { variable, type, defaultValue }: VariableDefinitionNode,
  options: WorstCaseOptions,
  number: number,
): { readonly name: string; readonly values: readonly unknown[] } {
  const { schema, maxPageSize: many, variesDefaults } = options;
  const known = typeFromAST(schema, type);
  const name = variable.name.value;
  if (defaultValue !== undefined && !variesDefaults) return { name, values: [undefined] };
  const samples = isInputType(known)
    ? reachesOf(options).flatMap((reach) => samplesOf(known, { many, number, reach }))
    : [];
  const canBeLeftOut = defaultValue !== undefined || !isNonNullType(known);
  return { name, values: canBeLeftOut ? [undefined, ...samples] : samples };
}

/** The reaches of an operation, one for each of its mutations if the tenant has roles. */
function reachesOf({ tenant, ...scope }: PlanningOptions): readonly (Reach | undefined)[] {
  if (scope.operation.operation !== 'mutation' || tenant?.roles === undefined) return [tenant?.reach];
  return (rootOf(scope, undefined)?.fields ?? []).map(({ field }) => tenant.mutations.get(field.name));
}

/** The plan with these variables; undefined if they do not fit. */
export function planWith(variables: Variables, options: PlanningOptions): CheckedPlan | undefined {
  const { schema, operation, cursors = anyCursors } = options;
  const given = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined));
  const { variableValues } = getVariableValues(schema, operation.variableDefinitions ?? [], given);
  if (variableValues === undefined) return undefined;
  return planChecked({ ...options, variableValues, cursors });
}
