import { randomUUID } from 'node:crypto';
import { countJson } from './transport/json-weight.ts';

/** The deepest nesting of a value with long integers: recursion over a deeper one would overflow the stack. */
const maximumDepth = 500;

/**
 * Sixteen digits in a row. A double holds every shorter integer. The pattern repeats `[0-9]`, instead of `{16}`,
 * because V8 then searches faster.
 */
const manyDigits = new RegExp('[0-9]'.repeat(16), 'g');

/**
 * An integer of 16 or more digits that is a JSON value by itself. No colon may follow it: names of members are quoted,
 * so valid JSON has no digits before a colon.
 */
const longInteger = /(?<=^|[[:,\s])-?[1-9]\d{15,}(?=\s*(?:[\]},]|$))/y;

/**
 * Stands before the digits of long integers while JSON is parsed. It never leaves the process, so no text can have it.
 */
const mark = randomUUID();

/**
 * Parses JSON. Integers beyond 2^53 become `JSON.rawJSON` values, which `JSON.stringify` writes as they came. Numbers
 * with a fraction or an exponent are doubles. Throws a SyntaxError for what is not JSON.
 */
export function parseJson(text: string): unknown {
  const marked = markLongIntegers(text);
  if (marked === undefined) return JSON.parse(text);
  let value: unknown;
  try {
    value = JSON.parse(marked);
  } catch {
    // Parsed once more, so that the error quotes the text as it came.
    return JSON.parse(text);
  }
  return restoreIntegers(value, 0);
}

/** The number that digits stand for; a `JSON.rawJSON` value if a double might change it. */
export function exactNumber(digits: string): unknown {
  const value = Number(digits);
  return Number.isSafeInteger(value) ? value : JSON.rawJSON(digits);
}

/**
 * The text with each long integer as a marked string; undefined if there is none. A reviver of `JSON.parse` would cost
 * more, because it visits every value.
 */
function markLongIntegers(text: string): string | undefined {
  if (text.search(manyDigits) === -1) return undefined;
  const pieces: string[] = [];
  let copied = 0;
  let quote = text.indexOf('"');
  // The end of the string around `index`, or `index` itself if it is in none. Indexes must rise from call to call.
  const outsideFrom = (index: number): number => {
    let outside = index;
    while (quote !== -1 && quote < index) {
      const end = endOfString(text, quote) + 1;
      outside = Math.max(index, end);
      quote = text.indexOf('"', end);
    }
    return outside;
  };
  manyDigits.lastIndex = 0;
  for (let match = manyDigits.exec(text); match !== null; match = manyDigits.exec(text)) {
    const outside = outsideFrom(match.index);
    if (outside > match.index) {
      manyDigits.lastIndex = outside;
      continue;
    }
    const start = text.charAt(match.index - 1) === '-' ? match.index - 1 : match.index;
    longInteger.lastIndex = start;
    const [integer] = longInteger.exec(text) ?? [];
    if (integer === undefined || Number.isSafeInteger(Number(integer))) continue;
    pieces.push(text.slice(copied, start), `"${mark}`, integer, '"');
    copied = start + integer.length;
    manyDigits.lastIndex = copied;
  }
  return pieces.length === 0 ? undefined : pieces.join('') + text.slice(copied);
}

/** Turns marked strings into integers again, in place. */
function restoreIntegers(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return value.startsWith(mark) ? JSON.rawJSON(value.slice(mark.length)) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (depth === maximumDepth) throw new SyntaxError(`JSON nests deeper than ${maximumDepth}`);
  if (Array.isArray(value)) restoreItems(value, depth + 1);
  else restoreMembers(value, depth + 1);
  return value;
}

function restoreItems(items: unknown[], depth: number): void {
  for (let index = 0; index < items.length; index += 1) {
    const item = items[index];
    if (typeof item !== 'string' && typeof item !== 'object') continue;
    const restored = restoreIntegers(item, depth);
    if (restored !== item) items[index] = restored;
  }
}

function restoreMembers(object: object, depth: number): void {
  for (const name in object) {
    const member: unknown = Reflect.get(object, name);
    if (typeof member !== 'string' && typeof member !== 'object') continue;
    const restored = restoreIntegers(member, depth);
    // `name` is an own property. So even the name `__proto__`, if it came from JSON, does not set the prototype here.
    if (restored !== member) Reflect.set(object, name, restored);
  }
}

/** Throws if brackets nest deeper than the maximum, those inside strings not counted. */
export function refuseDeep(text: string, maximum: number): void {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 34) at = endOfString(text, at);
    else if (code === 91 || code === 123) {
      depth += 1;
      if (depth > maximum) throw new SyntaxError(`JSON nests deeper than ${maximum}`);
    } else if (code === 93 || code === 125) depth -= 1;
  }
}

/**
 * Throws if a text has more objects, lists and members than the maximum, those inside strings not counted. Each takes
 * far more time and memory than its text.
 */
export function refuseMany(text: string, maximum: number): void {
  // Each object has its `{`, each list its `[`, and each member its `:`. Most texts have few of these characters,
  // even if those inside strings are counted, too.
  if (text.length <= maximum || countJson(text).values <= maximum) return;
  let left = maximum;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 34) at = endOfString(text, at);
    else if (code === 58 || code === 91 || code === 123) left -= 1;
    if (left < 0) throw new SyntaxError(`JSON has more than ${maximum} objects, lists and members`);
  }
}

/** The index of the quote that ends the string which begins at `start`. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === 92) slashes += 1;
    if (slashes % 2 === 0) return at;
  }
  return text.length;
}
