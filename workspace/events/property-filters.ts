import type { Call } from '../call.ts';
import { doesNotExist, invalid, invalidChoice } from '../errors.ts';
import { toExpression } from '../expressions/expression.ts';
import { isTrue } from '../expressions/values.ts';
import { arrayOf, isObject, type JsonObject, memberOf, objectOf } from '../json.ts';
import { isElement } from './elements.ts';
import { toTest } from './operators.ts';
import type { EventRow } from './rows.ts';

/** True if an event passes. */
export type EventFilter = (event: EventRow) => boolean;

/** The store and the project in which filters look up names. */
export interface FilterScope {
  readonly store: Call['store'];
  readonly projectId: number;
}

/** Deepest nesting of groups of filters, and of cohorts that are defined by cohorts. */
const maximumDepth = 10;

/**
 * Reads the `properties` parameter, all of whose members must pass: filters `{key, value, operator?, type?}`, and groups
 * `{type: "AND" | "OR", values: […]}` of them.
 */
export function toPropertyFilter(scope: FilterScope, properties: unknown): EventFilter {
  return allOf(arrayOf(properties).map((filter, index) => toFilter(scope, filter, `properties__${index}`, 0)));
}

function toFilter(scope: FilterScope, filter: unknown, attr: string, depth: number): EventFilter {
  if (!isObject(filter)) throw invalid(attr, 'A property filter must be an object.');
  if (depth > maximumDepth) throw invalid(attr, `Filters may be nested ${maximumDepth} deep.`);
  const { type = 'event' } = filter;
  if (type === 'AND' || type === 'OR') return toGroup(scope, filter, attr, depth);
  const key = keyOf(filter, attr);
  switch (type) {
    case 'event':
    case 'feature':
      return test(filter, attr, ({ properties }) => memberOf(properties, key));
    case 'person':
      return test(filter, attr, ({ person }) => memberOf(objectOf(person?.properties), key));
    case 'group':
      return toGroupFilter(scope, filter, key, attr);
    case 'element':
      return toElementFilter(filter, key, attr);
    case 'cohort':
    case 'static-cohort':
    case 'precalculated-cohort':
      return toCohortFilter(scope, filter, attr, depth);
    case 'hogql':
      return toCondition(key, `${attr}__key`);
    default:
      throw invalidChoice(`${attr}__type`, type);
  }
}

function keyOf({ key }: JsonObject, attr: string): string {
  if (typeof key !== 'string' || key === '') throw invalid(`${attr}__key`, 'A property filter needs a key.');
  return key;
}

/** Tests one value of each event, null if it is not set. */
function test(filter: JsonObject, attr: string, valueOf: (event: EventRow) => unknown): EventFilter {
  const passes = toTest(filter, attr);
  return (event) => passes(valueOf(event));
}

function toGroup(scope: FilterScope, { type, values }: JsonObject, attr: string, depth: number): EventFilter {
  const filters = arrayOf(values).map((one, index) => toFilter(scope, one, `${attr}__values__${index}`, depth + 1));
  return type === 'AND' ? allOf(filters) : (event) => filters.some((passes) => passes(event));
}

function allOf(filters: readonly EventFilter[]): EventFilter {
  return (event) => filters.every((passes) => passes(event));
}

/** An expression of the query language that must hold. */
export function toCondition(text: string, attr: string): EventFilter {
  const valueOf = toExpression(text, attr);
  return (event) => isTrue(valueOf(event));
}

/** Looks at the group of type `group_type_index` that the event names in its property `$group_0` to `$group_4`. */
function toGroupFilter({ store, projectId }: FilterScope, filter: JsonObject, key: string, attr: string): EventFilter {
  const { group_type_index: index = 0 } = filter;
  if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index > 4)
    throw invalid(`${attr}__group_type_index`, 'A group type is a number from 0 to 4.');
  const groups = store.groupsOf(projectId, index);
  return test(filter, attr, ({ properties }) => {
    const group = groups.get(String(memberOf(properties, `$group_${index}`)));
    return group === undefined ? null : memberOf(group, key);
  });
}

/** Passes if one of the elements that were clicked does. */
function toElementFilter(filter: JsonObject, key: string, attr: string): EventFilter {
  if (key === 'selector') return isElement(filter, attr);
  const passes = toTest(filter, attr);
  const isNegative = String(filter.operator).includes('not');
  return ({ elements }) => {
    const values = elements.map((element) => memberOf(objectOf(element), key));
    if (values.length === 0) return passes(null);
    return isNegative ? values.every(passes) : values.some(passes);
  };
}

/** Passes events whose person is in the cohort that `value` names; with `not_in`, all others. */
function toCohortFilter(scope: FilterScope, filter: JsonObject, attr: string, depth: number): EventFilter {
  const { value, operator = 'in' } = filter;
  const cohort = scope.store.cohorts.find(scope.projectId, Number(value));
  if (cohort === undefined) throw doesNotExist(`${attr}__value`, value);
  if (operator !== 'in' && operator !== 'not_in' && operator !== 'exact')
    throw invalidChoice(`${attr}__operator`, operator);
  const isMember = allOf(arrayOf(cohort.body.filters).map((one) => toFilter(scope, one, attr, depth + 1)));
  return operator === 'not_in' ? (event) => !isMember(event) : isMember;
}
