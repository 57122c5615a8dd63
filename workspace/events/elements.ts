import { invalid, invalidChoice } from '../errors.ts';
import { arrayOf, type JsonObject, memberOf, objectOf, textOfJson } from '../json.ts';
import type { EventRow } from './rows.ts';

/** True if an element fits one part of a selector, such as `button.primary[type="submit"]`. */
type ElementTest = (element: JsonObject) => boolean;

/**
 * Reads a filter whose `value` is a CSS selector, or a list of them: tags, classes, ids and attributes, separated by
 * spaces or `>`. An event passes if one of them fits what was clicked or something around it.
 */
export function isElement({ value, operator = 'exact' }: JsonObject, attr: string): (event: EventRow) => boolean {
  const selectors = (Array.isArray(value) ? value : [value]).map((one) => toSelector(one, `${attr}__value`));
  const found = ({ elements }: EventRow): boolean => {
    const path = elements.map(objectOf);
    return selectors.some((fits) => path.some((_, index) => fits(path.slice(index))));
  };
  if (operator === 'exact' || operator === 'in') return found;
  if (operator === 'is_not' || operator === 'not_in') return (event) => !found(event);
  throw invalidChoice(`${attr}__operator`, operator);
}

/** Tests a path of elements, the innermost first. */
function toSelector(value: unknown, attr: string): (path: readonly JsonObject[]) => boolean {
  const parts = typeof value === 'string' ? value.trim().split(/\s+/) : [];
  const steps = parts.flatMap((part, index) =>
    part === '>' ? [] : [{ fits: toElementTest(part, attr), isChild: parts[index - 1] === '>' }],
  );
  if (steps.length === 0) throw invalid(attr, 'A selector is a text such as "button.primary".');
  return (path) => fitsPath(steps.toReversed(), path);
}

interface Step {
  readonly fits: ElementTest;
  /** True if the step before it must be its parent, and not further out. */
  readonly isChild: boolean;
}

/** The elements that the steps may stand for are looked for from the inside out, the nearest first. */
function fitsPath(steps: readonly Step[], path: readonly JsonObject[]): boolean {
  let at = 0;
  for (const [index, { fits }] of steps.entries()) {
    const isBound = index === 0 || steps[index - 1]?.isChild === true;
    const start = at;
    const found = path.findIndex((element, position) => position >= start && fits(element));
    if (found === -1 || (isBound && found > start)) return false;
    at = found + 1;
  }
  return true;
}

const selectorPart = /^([a-z][\w-]*|\*)?((?:[.#][\w-]+|\[[\w-]+="[^"\]]*"\])*)$/i;

function toElementTest(part: string, attr: string): ElementTest {
  const [whole, tag, rest = ''] = selectorPart.exec(part) ?? [];
  if (whole === undefined) throw invalid(attr, `Cannot read the selector "${part}".`);
  const conditions = [...rest.matchAll(/([.#])([\w-]+)|\[([\w-]+)="([^"\]]*)"\]/g)];
  return (element) =>
    (tag === undefined || tag === '*' || memberOf(element, 'tag_name') === tag.toLowerCase()) &&
    conditions.every(([, sign, name, attribute = '', text]) => {
      if (sign === '.') return arrayOf(element.attr_class).includes(name);
      if (sign === '#') return memberOf(element, 'attr_id') === name;
      return attributeOf(element, attribute) === text;
    });
}

/** An attribute is a member of the element itself, or of its `attributes` with the prefix `attr__`. */
function attributeOf(element: JsonObject, name: string): string | null {
  const value = memberOf(objectOf(element.attributes), `attr__${name}`) ?? memberOf(element, name);
  return value === null ? null : textOfJson(value);
}
