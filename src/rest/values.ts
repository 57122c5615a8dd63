/** A JSON object from outside. Its members may be anything. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** A row as REST sent it, with its snake_case names. Any column may be missing, whatever the contract says. */
export type Row = JsonObject;

/** True if a value is a JSON object: neither null, nor an array, nor a scalar. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** True if a value is a JSON array. `Array.isArray` would give its items the type `any`. */
export function isList(value: unknown): value is unknown[] {
  return Array.isArray(value);
}

/** The value of a JSON text; undefined if it is not JSON. Ignores a byte order mark, which some editors write. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    return undefined;
  }
}

/** The digits of a number that `parseJson` kept as text because a double cannot hold it. */
export function exactDigits(value: unknown): string | undefined {
  return isRaw(value) ? value.rawJSON : undefined;
}

/** An id as text: `7`, `"7"` and the 20 digits of an integer over 2^53 alike; undefined for a value that is no id. */
export function idText(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : undefined;
  return exactDigits(value);
}

/** The value if it is a whole number and not negative; undefined otherwise. */
export function naturalNumber(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

function isRaw(value: unknown): value is { readonly rawJSON: string } {
  return typeof value === 'object' && value !== null && JSON.isRawJSON(value);
}
