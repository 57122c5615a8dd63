import { invalid, required } from '../errors.ts';
import { arrayOf, isObject, type JsonObject, textOfJson } from '../json.ts';

/** Most places in a template that variables may fill: what a template grows to is kept, and answered each time. */
const maximumUses = 1000;

/** Longest default of a variable, in characters of JSON. */
const maximumDefault = 10_000;

/** Deepest nesting of a template that is looked at. */
const maximumDepth = 100;

/**
 * The template with the default of each of its `variables` in the place of `{ID}`, `ID` being the variable's id: a text that
 * is nothing else becomes the default itself, in a longer text the default is text. Unknown names stay as they are.
 */
export function fillVariables(template: JsonObject): JsonObject {
  const { variables, ...rest } = template;
  const defaults = new Map(arrayOf(variables).flatMap(toDefault));
  if (defaults.size === 0) return rest;
  let uses = 0;
  const use = (id: string): unknown => {
    uses += 1;
    if (uses > maximumUses) throw invalid('template', `Variables may be used ${maximumUses} times.`);
    return defaults.get(id);
  };
  const fillText = (text: string): unknown => {
    const [whole, only = ''] = /^\{(\w+)\}$/.exec(text) ?? [];
    if (whole !== undefined && defaults.has(only)) return use(only);
    return text.replaceAll(/\{(\w+)\}/g, (found, id: string) => (defaults.has(id) ? textOfJson(use(id)) : found));
  };
  const fill = (value: unknown, depth: number): unknown => {
    if (typeof value === 'string') return fillText(value);
    if (depth > maximumDepth) return value;
    if (Array.isArray(value)) return value.map((item) => fill(item, depth + 1));
    return isObject(value) ? fillMembers(value, depth) : value;
  };
  const fillMembers = (object: JsonObject, depth: number): JsonObject =>
    Object.fromEntries(Object.entries(object).map(([name, value]) => [name, fill(value, depth + 1)]));
  return fillMembers(rest, 0);
}

function toDefault(variable: unknown, index: number): [id: string, value: unknown][] {
  const attr = `template__variables__${index}`;
  if (!isObject(variable) || typeof variable.id !== 'string') throw required(`${attr}__id`);
  const { id, default: value } = variable;
  if (value === undefined) {
    if (variable.required === true) throw required(`${attr}__default`);
    return [];
  }
  if (JSON.stringify(value).length > maximumDefault)
    throw invalid(`${attr}__default`, `Ensure this field has no more than ${maximumDefault} characters.`);
  return [[id, value]];
}
