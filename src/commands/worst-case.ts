import {
  type GraphQLSchema,
  getVariableValues,
  isInputType,
  isNonNullType,
  typeFromAST,
  type VariableDefinitionNode,
} from 'graphql';
import type { CursorCodec } from '../context.ts';
import type { OperationScope } from '../look-ahead/selection-tree.ts';
import { type Plan, planOperation } from '../plan/plan.ts';
import { samplesOf } from './samples.ts';

/** An operation whose variables are not known. */
interface WorstCaseOptions extends OperationScope {
  readonly maxPageSize: number;
}

type Variables = Readonly<Record<string, unknown>>;

/** Any text is taken for a cursor, because any variable may hold one. */
const cursors: CursorCodec = {
  encode: () => '',
  decode: () => ({ offset: 1_000_000 }),
  isOfCurrent: () => true,
  encodeQuery: () => '',
  decodeQuery: () => '?',
};

/**
 * The plan of an operation with its variables' defaults and, for those without, the values that make the most calls (and
 * among those ask for the most rows), looked for one variable after the other; its `lower` is that of the cheapest plan
 * met on the way, and its `objects` that of the largest answer. Undefined if no variables fit.
 */
export function worstPlan(options: WorstCaseOptions): Plan | undefined {
  const { operation, maxPageSize } = options;
  const choices = (operation.variableDefinitions ?? []).map((one, place) =>
    // Further from each other than a list is long: no two variables have an object in common.
    choicesOf(one, options.schema, maxPageSize, 1 + place * maxPageSize),
  );
  const base: Variables = Object.fromEntries(choices.map(({ name, values }) => [name, values[0]]));
  let variables = base;
  let worst = planWith(variables, options);
  let objects = worst?.objects ?? 0;
  let lower = worst === undefined || worst.upper === 0 ? Number.POSITIVE_INFINITY : worst.lower;
  for (const { name, values } of choices) {
    // Also without what the others were found to be: some exclude each other, as `first` and `last` do.
    for (const tried of values
      .slice(1)
      .flatMap((value) => [variables, base].map((all) => ({ ...all, [name]: value })))) {
      const plan = planWith(tried, options);
      objects = Math.max(objects, plan?.objects ?? 0);
      // One without calls was refused: the value is of another sort than the operation takes.
      if (plan === undefined || plan.upper === 0) continue;
      lower = Math.min(lower, plan.lower);
      if (worst !== undefined && !costsMore(plan, worst)) continue;
      worst = plan;
      variables = tried;
    }
  }
  return worst && { ...worst, lower: Math.min(lower, worst.upper), objects };
}

/** Rows decide between plans of as many calls. */
function costsMore(plan: Plan, other: Plan): boolean {
  return plan.upper > other.upper || (plan.upper === other.upper && plan.rows > other.rows);
}

/** What a variable may be: its default, else left out if it can be, or one of the values that cost differently. */
function choicesOf(
  { variable, type, defaultValue }: VariableDefinitionNode,
  schema: GraphQLSchema,
  many: number,
  number: number,
) {
  const known = typeFromAST(schema, type);
  const samples = isInputType(known) ? samplesOf(known, many, number) : [];
  const name = variable.name.value;
  if (defaultValue !== undefined) return { name, values: [undefined] };
  return { name, values: isNonNullType(known) ? samples : [undefined, ...samples] };
}

function planWith(variables: Variables, options: WorstCaseOptions): Plan | undefined {
  const { schema, operation } = options;
  const given = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined));
  const { variableValues } = getVariableValues(schema, operation.variableDefinitions ?? [], given);
  if (variableValues === undefined) return undefined;
  return planOperation({ ...options, variableValues, cursors });
}
