import type { OperationScope } from '../look-ahead/selection-tree.ts';
import { mostSteps, PlanLimitError } from '../plan/plan-builder.ts';
import { type Extremes, extremesOf, planWith, type Variables } from '../plan/worst-case.ts';
import type { Rights } from '../rest/reach.ts';
import { isList, isObject } from '../rest/values.ts';

/** The cost of a tool over all arguments that its schema allows. */
export interface ToolCost {
  /** The fewest and the most REST calls of one use of the tool, if the upstream gives every answer. */
  readonly lower: number;
  readonly upper: number;
  /** The longest chain of calls that wait for one another. */
  readonly waves: number;
  /** The number of JSON objects in its largest answer; infinite if that is not known. */
  readonly objects: number;
  /** The cost as a sentence. */
  readonly line: string;
}

export interface ToolOperation extends OperationScope {
  readonly maxPageSize: number;
  readonly maxUpstreamCalls: number;
  readonly maxUpstreamRows: number;
  readonly maxAnswerObjects: number;
}

/** The cost of a tool for callers with these rights; without `rights`, for callers who may reach all data of a key. */
export function costOf(tool: ToolOperation, rights?: Rights): ToolCost {
  const { maxUpstreamCalls: most } = tool;
  const found = unlessTooLarge(() => extremesOf({ ...planningOf(tool, rights), variesDefaults: true }));
  if (found === undefined) {
    const line = `Costs up to ${counted(most)}.`;
    return { lower: 0, upper: most, waves: most, objects: Number.POSITIVE_INFINITY, line };
  }
  const { lower, waves, objects } = found.worst;
  const upper = Math.min(found.worst.upper, most);
  return { lower: Math.min(lower, upper), upper, waves, objects, line: lineOf(found, most) };
}

function planningOf(tool: ToolOperation, rights: Rights | undefined) {
  return { ...tool, rights, maxSteps: mostSteps(tool.maxUpstreamCalls) };
}

function unlessTooLarge<T>(plan: () => T): T | undefined {
  try {
    return plan();
  } catch (error) {
    if (error instanceof PlanLimitError) return undefined;
    throw error;
  }
}

function lineOf({ usual, worst, variables }: Extremes, most: number): string {
  const upper = Math.min(worst.upper, most);
  if (upper === 0) return 'Costs no REST call.';
  const least = Math.min(usual.lower, usual.upper, most);
  const usually = Math.min(usual.upper, most);
  const range = least === usually ? counted(usually) : `${least} to ${counted(usually)}`;
  const waves = usual.waves === 0 ? '' : ` in ${usual.waves} ${usual.waves === 1 ? 'wave' : 'waves'}`;
  const further = upper > usually ? `; up to ${upper}${withVariables(variables)}` : '';
  return `Costs ${range}${waves}${further}.`;
}

function counted(calls: number): string {
  return `${calls} REST ${calls === 1 ? 'call' : 'calls'}`;
}

/**
 * Names the variables that make a tool so expensive. A number or a switch is shown with its value, a list with its
 * length.
 */
function withVariables(variables: Variables): string {
  const shown = Object.entries(variables).flatMap(([name, value]) => {
    if (typeof value === 'number' || typeof value === 'boolean') return [`${name}: ${value}`];
    return isList(value) ? [`${value.length} ${name}`] : isObject(value) || value === undefined ? [] : [name];
  });
  return shown.length === 0 ? '' : ` with ${shown.join(', ')}`;
}

/** The page sizes that are tried instead of one that costs too much. */
const smallerSizes = [50, 20, 10, 5, 2, 1];

/**
 * The largest of `smallerSizes` with which a tool stays within the limits; undefined if all of them are too large.
 * `sizeArguments` names the arguments that take the size.
 */
export function fittingSize(
  tool: ToolOperation,
  sizeArguments: readonly string[],
  values: Variables,
  rights: Rights | undefined,
): number | undefined {
  const options = planningOf(tool, rights);
  return smallerSizes.find((size) => {
    const smaller = {
      ...values,
      ...Object.fromEntries(sizeArguments.map((name) => [name, limitedTo(values[name], size)])),
    };
    const plan = unlessTooLarge(() => planWith(smaller, options)?.plan);
    if (plan === undefined) return false;
    const { upper, rows, objects } = plan;
    return upper <= tool.maxUpstreamCalls && rows <= tool.maxUpstreamRows && objects <= tool.maxAnswerObjects;
  });
}

function limitedTo(value: unknown, size: number): unknown {
  if (isList(value)) return value.slice(0, size);
  return typeof value === 'number' ? Math.min(value, size) : size;
}
