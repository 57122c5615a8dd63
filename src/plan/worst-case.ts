import {
  getVariableValues,
  isInputType,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  typeFromAST,
  type VariableDefinitionNode,
} from 'graphql';
import type { CursorCodec } from '../context.ts';
import { needsOf } from '../look-ahead/needs.ts';
import { rootOf, visitFields } from '../look-ahead/operation-trees.ts';
import type { ObjectSelection } from '../look-ahead/selection-tree.ts';
import { current } from '../rest/paths.ts';
import type { Reach } from '../rest/reach.ts';
import { type CheckedPlan, type Plan, planOperation } from './plan.ts';
import type { PlanRequest } from './plan-builder.ts';
import { samplesOf } from './samples.ts';

type PlanningOptions = Omit<PlanRequest, 'cursors' | 'part' | 'variableValues'>;

interface WorstCaseOptions extends PlanningOptions {
  /** True if variables with a default may have other values, too. */
  readonly variesDefaults: boolean;
}

/** The values of variables by their names. */
export type Variables = Readonly<Record<string, unknown>>;

/** The plans of an operation over all values of its variables. */
export interface Extremes {
  /** The plan with the defaults of variables. Nullable variables without a default are left out. */
  readonly usual: Plan;
  /**
   * The plan with the most calls, and among these with the most rows. Its `lower` and `objects` are about all plans:
   * none has fewer calls, and none has more objects.
   */
  readonly worst: Plan;
  /** The variables of the worst plan that differ from those of `usual`. */
  readonly variables: Variables;
}

/** Accepts any text as a cursor. */
const anyCursors: CursorCodec = {
  encode: () => '',
  decode: () => ({ offset: 1_000_000 }),
  encodeQuery: () => '',
  decodeQuery: () => '?',
};

/** The maximum number of rounds. A variable is tried again, because variables after it may change its effect. */
const mostRounds = 3;

/** The most variables for which the search also follows plans as costly as the best one. More would take seconds. */
const mostTied = 5;

/**
 * The extremes among the plans of an operation; undefined if no variables fit. The search changes one variable at a
 * time, and tries the default and each of the samples.
 */
export function extremesOf(options: WorstCaseOptions): Extremes | undefined {
  const { operation, maxPageSize } = options;
  const choices = (operation.variableDefinitions ?? []).map((one, place) =>
    // Each variable gets a range of `maxPageSize` numbers, one for each item of its longest list. The ranges do not
    // overlap, so that the samples of two variables have no object in common.
    choicesOf(one, options, 1 + place * maxPageSize),
  );
  const all = new Map<string, TriedPlan | undefined>();
  const find = (variables: Variables): TriedPlan | undefined => {
    const text = JSON.stringify(variables);
    if (!all.has(text)) {
      const planned = planWith(variables, options);
      all.set(text, planned && { ...planned, variables });
    }
    return all.get(text);
  };
  const base: Variables = Object.fromEntries(choices.map(({ name, values }) => [name, values[0]]));
  const start = find(base);
  if (start === undefined) return undefined;
  // A mutation may be refused unless several of its variables are given.
  const given = Object.fromEntries(choices.map(({ name, values }) => [name, values.find((one) => one !== undefined)]));
  const changes = [...switchesOf(operation), ...(isRefused(start) ? [given] : [])];
  const starts = [start, ...changes.flatMap((some) => find({ ...base, ...some }) ?? [])];
  const hasTies = choices.length <= mostTied;
  for (const from of starts) {
    let best = from;
    // The plans that make as many calls as `best`, by the variable that was changed last. With one more variable
    // changed, such a plan may become the worst one.
    const ties = new Map<string, TriedPlan>();
    for (let round = 0, before = 0; round < mostRounds && all.size > before; round += 1) {
      before = all.size;
      for (const { name, values } of choices) {
        for (const value of values) {
          // Each value is also tried alone, because some exclude each other, as `first` and `last` do.
          for (const around of new Set([best, from, ...ties.values()])) {
            const found = find({ ...around.variables, [name]: value });
            if (found === undefined) continue;
            if (isWorse(found, best)) {
              if (found.plan.upper !== best.plan.upper) ties.clear();
              best = found;
            } else if (hasTies && found.plan.upper === best.plan.upper && value !== best.variables[name])
              ties.set(name, found);
          }
        }
      }
    }
  }
  const found = [...all.values()].filter((one) => one !== undefined);
  const usual = isRefused(start) ? (found.find((one) => !isRefused(one)) ?? start) : start;
  const worst = found.reduce((most, one) => (isWorse(one, most) ? one : most), start);
  const isConstant = choices.every(({ values }) => values.every((value) => value === undefined));
  const lower = isConstant ? worst.plan.lower : Math.min(leastCalls(options), worst.plan.upper);
  const objects = Math.max(...found.map(({ plan }) => plan.objects));
  const others = Object.entries(worst.variables).filter(([name, value]) => value !== usual.variables[name]);
  return { usual: usual.plan, worst: { ...worst.plan, lower, objects }, variables: Object.fromEntries(others) };
}

/**
 * The fewest REST calls that an operation makes, whatever its variables are. Each kind of read counts once: reads with
 * equal variables are one call, and a page may answer a read of a row. Objects by global id count nothing. Neither do
 * queries of a caller with limited reach, because objects out of reach need no call.
 */
function leastCalls({ rights, ...scope }: PlanningOptions): number {
  const root = rootOf(scope, undefined, 'unconditional');
  if (root === undefined) return 0;
  const writes = root.fields.filter(({ origin }) => origin.kind === 'write').length;
  if (writes > 0 || rights?.reach !== undefined) return writes;
  const kinds = new Set<string>();
  const visited = new Map<ObjectSelection, boolean>();
  const hasDirectives = root !== rootOf(scope, undefined);
  /**
   * Adds the reads that a selection makes as soon as the key of its object is known. If a variable names the object
   * (`isVaried`), fields with an argument `id` do not count. That id may belong to another object than the variable
   * names. The field is then refused, and reads nothing.
   */
  const addReads = (selection: ObjectSelection, isVaried = false): void => {
    const before = visited.get(selection);
    if (before === false || before === isVaried) return;
    visited.set(selection, isVaried);
    for (const selected of selection.fields) {
      const { origin, inside } = selected;
      const id = selected.argumentNode('id');
      if (isVaried && id !== undefined) continue;
      const isObject = origin.kind === 'byId' || origin.kind === 'owner';
      if (inside !== undefined && (isObject || origin.kind === 'organization'))
        addReads(inside, isVaried || id?.kind === Kind.VARIABLE);
      if (!('endpoint' in origin) || origin.kind === 'reference') continue;
      const { noun, subpath, id: operation } = origin.endpoint;
      if (!isObject || inside === undefined) kinds.add(subpath === '' ? noun : operation);
      else if (needsOf(inside).view !== undefined) kinds.add(noun);
      // If no relation of the object is selected, only the object's row can show that it exists.
      else if (origin.kind === 'byId' && needsOf(inside).relations.length === 0 && !hasDirectives) kinds.add(noun);
    }
  };
  addReads(root);
  return kinds.size;
}

const mostSwitches = 4;

/**
 * The values of Boolean variables from which the search also starts: all true, all false, and single ones true or
 * false. Another variable may matter only while a Boolean includes its field.
 */
function switchesOf({ variableDefinitions = [] }: OperationDefinitionNode): readonly Variables[] {
  const names = variableDefinitions.flatMap(({ variable, type }) => {
    const named = type.kind === Kind.NON_NULL_TYPE ? type.type : type;
    return named.kind === Kind.NAMED_TYPE && named.name.value === 'Boolean' ? [variable.name.value] : [];
  });
  const all = (value: boolean): Variables => Object.fromEntries(names.map((name) => [name, value]));
  const each = names.slice(0, mostSwitches).flatMap((name) => [{ [name]: true }, { [name]: false }]);
  return names.length === 0 ? [] : [all(true), all(false), ...(names.length === 1 ? [] : each)];
}

type TriedPlan = CheckedPlan & { readonly variables: Variables };

/** True if the operation refuses the values and makes no call. */
function isRefused({ argumentErrors, plan }: CheckedPlan): boolean {
  return argumentErrors.length > 0 && plan.upper === 0;
}

/** True if a plan has more calls than another, or as many calls and more rows. A refused plan is never worse. */
function isWorse(found: CheckedPlan, other: CheckedPlan): boolean {
  if (isRefused(found) !== isRefused(other)) return isRefused(other);
  const { upper, rows } = found.plan;
  return upper > other.plan.upper || (upper === other.plan.upper && rows > other.plan.rows);
}

/** The values to try for a variable; undefined among them if it may be left out. */
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
    ? [...reachesOf(options)].flatMap((reach) => samplesOf(known, { many, number, reach, named: idsIn(options) }))
    : [];
  const canBeLeftOut = defaultValue !== undefined || !isNonNullType(known);
  return { name, values: canBeLeftOut ? [undefined, ...samples] : samples };
}

/** The maximum number of ids in the text of a document that are tried as values. */
const mostNamed = 4;

/** The ids in the text of an operation, other than `@current`. */
function idsIn(scope: PlanningOptions): readonly string[] {
  const ids = new Set<string>();
  visitFields(scope, (selected) => {
    const id = selected.argumentNode('id');
    if (id?.kind === Kind.STRING && id.value !== current && ids.size < mostNamed) ids.add(id.value);
  });
  return [...ids];
}

/** The reaches of the caller in an operation. With roles, mutations may have different ones. */
function reachesOf({ rights, ...scope }: PlanningOptions): Iterable<Reach | undefined> {
  const root = scope.operation.operation === 'mutation' ? rootOf(scope, undefined) : undefined;
  const { fields = [] } = root ?? {};
  if (rights === undefined || fields.length === 0) return [rights?.reach];
  return new Set(fields.map(({ field }) => rights.mutations.get(field.name)));
}

/** The plan with these variables, which may have any text as a cursor; undefined if they do not fit. */
export function planWith(variables: Variables, options: PlanningOptions): CheckedPlan | undefined {
  const { schema, operation } = options;
  const given = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined));
  const { variableValues } = getVariableValues(schema, operation.variableDefinitions ?? [], given);
  if (variableValues === undefined) return undefined;
  return planOperation({ ...options, variableValues, cursors: anyCursors });
}
