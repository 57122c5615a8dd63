import { invalid } from './errors.ts';
import type { EventRow } from './event-rows.ts';
import { arrayOf, isObject, memberOf, objectOf, textOfJson } from './json.ts';

/** Whether an event passes. */
export type EventFilter = (event: EventRow) => boolean;

/** Whether the value of a property, null if it is not set, passes. */
type Test = (value: unknown) => boolean;

/** Reads the `properties` parameter: filters `{key, value, operator?, type?}`, all of which must pass. */
export function toPropertyFilter(properties: unknown): EventFilter {
  const filters = arrayOf(properties).map((filter, index) => toFilter(filter, `properties__${index}`));
  return (event) => filters.every((passes) => passes(event));
}

function toFilter(filter: unknown, attr: string): EventFilter {
  if (!isObject(filter)) throw invalid(attr, 'A property filter must be an object.');
  const { key, value, operator = 'exact', type = 'event' } = filter;
  if (typeof key !== 'string' || key === '') throw invalid(`${attr}__key`, 'A property filter needs a key.');
  const test = toTest(operator, value, attr);
  if (type === 'event') return ({ properties }) => test(memberOf(properties, key));
  if (type === 'person') return ({ person }) => test(memberOf(objectOf(person?.properties), key));
  throw invalid(`${attr}__type`, `Filters on "${String(type)}" are not supported.`);
}

function toTest(operator: unknown, value: unknown, attr: string): Test {
  switch (operator) {
    case 'exact':
      return exact(value);
    case 'is_not':
      return not(exact(value));
    case 'icontains':
      return contains(value);
    case 'not_icontains':
      return not(contains(value));
    case 'regex':
      return matches(value, attr);
    case 'gt':
      return (actual) => isNumeric(actual) && Number(textOfJson(actual)) > Number(value);
    case 'lt':
      return (actual) => isNumeric(actual) && Number(textOfJson(actual)) < Number(value);
    case 'is_set':
      return isSet;
    case 'is_not_set':
      return not(isSet);
    default:
      throw invalid(`${attr}__operator`, `"${String(operator)}" is not a valid choice.`, 'invalid_choice');
  }
}

/** Equal as text; a list of values matches any of them. */
function exact(value: unknown): Test {
  const wanted = new Set((Array.isArray(value) ? value : [value]).map(textOfJson));
  return (actual) => isSet(actual) && wanted.has(textOfJson(actual));
}

function contains(value: unknown): Test {
  const wanted = String(value).toLowerCase();
  return (actual) => isSet(actual) && textOfJson(actual).toLowerCase().includes(wanted);
}

function matches(value: unknown, attr: string): Test {
  try {
    const pattern = new RegExp(String(value));
    return (actual) => isSet(actual) && pattern.test(textOfJson(actual));
  } catch {
    throw invalid(`${attr}__value`, 'Not a valid regular expression.');
  }
}

function not(test: Test): Test {
  return (actual) => !test(actual);
}

function isSet(actual: unknown): boolean {
  return actual !== null;
}

function isNumeric(actual: unknown): boolean {
  return isSet(actual) && actual !== '' && !Number.isNaN(Number(textOfJson(actual)));
}
