/** Deepest nesting that is read with a reviver: V8's plain parser is a loop, but its reviver recurses and would overflow. */
const maximumDepth = 500;

/** Sixteen digits in a row: without them no double loses one. Spelt out, V8 skips through the text in long steps. */
const manyDigits = new RegExp('[0-9]'.repeat(16));

/** The same at the start of a value, and not within a string. */
const longNumber = /[[:,\s]-?\d{16,}|^-?\d{16,}/;

/**
 * Parses JSON and keeps every digit of integers beyond 2^53: they become `JSON.rawJSON` values, which `JSON.stringify`
 * writes out as they came. Throws a SyntaxError for what is not JSON.
 */
export function parseJson(text: string): unknown {
  if (!manyDigits.test(text) || !longNumber.test(text)) return JSON.parse(text);
  refuseDeep(text);
  return JSON.parse(text, keepDigits);
}

/** The value of a `JSON.rawJSON` for digits that a double would change, else the number. */
export function exactNumber(digits: string): unknown {
  const value = Number(digits);
  return Number.isSafeInteger(value) ? value : JSON.rawJSON(digits);
}

function keepDigits(this: unknown, _name: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source;
  return source !== undefined && /^-?\d+$/.test(source) ? JSON.rawJSON(source) : value;
}

/** Throws where brackets nest deeper than the maximum; brackets inside strings do not count. */
export function refuseDeep(text: string, maximum = maximumDepth): void {
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

/** The index of the quote that closes the string opened at `start`. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === 92) slashes += 1;
    if (slashes % 2 === 0) return at;
  }
  return text.length;
}
