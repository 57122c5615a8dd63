import { getVariableValues, isInputType, isNonNullType, typeFromAST, type VariableDefinitionNode } from 'graphql';
import type { CursorCodec } from '../context.ts';
import type { OperationScope } from '../look-ahead/selection-tree.ts';
import type { Tenant } from '../rest/tenants.ts';
import { type CheckedPlan, type Plan, planChecked } from './plan.ts';
import { samplesOf } from './samples.ts';

/** An operation, and for whom and how long it is planned. */
interface PlanningOptions extends OperationScope {
  readonly maxPageSize: number;
  /** The most steps of each planning (see `mostSteps`); by default as many as it needs. */
  readonly maxSteps?: number;
  /** The tenant for whom it would run, if the gateway holds the key. */
  readonly tenant?: Tenant | undefined;
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
  /** With the defaults of variables, what can be left out left out. */
  readonly usual: Plan;
  /** That with the most calls, and among those with the most rows; its `objects` are those of the largest answer. */
  readonly worst: Plan;
  /** The variables of the worst that are others than those of the usual one. */
  readonly variables: Variables;
  /** The fewest calls of any. */
  readonly lower: number;
}

/** Any text is taken for a cursor, because any variable may hold one. */
const cursors: CursorCodec = {
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
  const base: Variables = Object.fromEntries(choices.map(({ name, values }) => [name, values[0]]));
  const first = planWith(base, options);
  if (first === undefined) return undefined;
  const start: Found = { ...first, variables: base };
  let usual = start;
  let worst = start;
  let least = start;
  /** The cheapest of all, those that are refused too: one more variable may make it a plan. */
  let bottom = start;
  let { objects } = first.plan;
  const search = (): void => {
    for (const { name, values } of choices) {
      // Also without what the others were found to be: some exclude each other, as `first` and `last` do.
      for (const around of new Set([worst, least, bottom, start])) {
        for (const value of values) {
          const variables = { ...around.variables, [name]: value };
          const planned = planWith(variables, options);
          if (planned === undefined) continue;
          const found = { ...planned, variables };
          objects = Math.max(objects, found.plan.objects);
          if (isRefused(usual) && !isRefused(found)) usual = found;
          if (costsMore(found, worst)) worst = found;
          if (!isRefused(found) && (isRefused(least) || costsLess(found, least))) least = found;
          if (costsLess(found, bottom)) bottom = found;
        }
      }
    }
  };
  for (let round = 0, before: readonly Found[] = []; round < mostRounds; round += 1) {
    if (before[0] === worst && before[1] === least && before[2] === bottom) break;
    before = [worst, least, bottom];
    search();
  }
  const lower = Math.min(least.plan.lower, worst.plan.upper);
  const changed = Object.entries(worst.variables).filter(([name, value]) => value !== usual.variables[name]);
  return {
    usual: usual.plan,
    worst: { ...worst.plan, lower, objects },
    variables: Object.fromEntries(changed),
    lower,
  };
}

/** A plan, and the variables that it is of. */
type Found = CheckedPlan & { readonly variables: Variables };

/** The most rounds over all variables: the effect of one variable may depend on those that are examined after it. */
const mostRounds = 3;

/** True if the values are of another sort than the operation takes: nothing would be called. */
function isRefused({ hasRefusals, plan }: CheckedPlan): boolean {
  return hasRefusals && plan.upper === 0;
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
    Number(found.hasRefusals) - Number(other.hasRefusals),
  ];
  return (by.find((difference) => difference !== 0) ?? 0) < 0;
}

/** The values to try for a variable: its default, else left out if it can be, or one of the values that cost differently. */
function choicesOf(
  { variable, type, defaultValue }: VariableDefinitionNode,
  { schema, maxPageSize: many, variesDefaults, tenant }: WorstCaseOptions,
  number: number,
): { readonly name: string; readonly values: readonly unknown[] } {
  const known = typeFromAST(schema, type);
  const name = variable.name.value;
  if (defaultValue !== undefined && !variesDefaults) return { name, values: [undefined] };
  const samples = isInputType(known) ? samplesOf(known, { many, number, reach: tenant?.reach }) : [];
  const canBeLeftOut = defaultValue !== undefined || !isNonNullType(known);
  return { name, values: canBeLeftOut ? [undefined, ...samples] : samples };
}

/** The plan with these variables, any text being a cursor; undefined if they do not fit. */
export function planWith(variables: Variables, options: PlanningOptions): CheckedPlan | undefined {
  const { schema, operation } = options;
  const given = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined));
  const { variableValues } = getVariableValues(schema, operation.variableDefinitions ?? [], given);
  if (variableValues === undefined) return undefined;
  return planChecked({ ...options, variableValues, cursors });
}
