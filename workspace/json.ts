/** A JSON object whose members are not known. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** True if `value` is an object: neither null nor an array, nor digits kept by `parseJson`. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value);
}

/** `value` if it is an object, else an empty one. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** `value` if it is an array, else an empty one. */
export function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Parses JSON. Integers beyond 2^53 become `JSON.rawJSON` values, which are stored and answered digit for digit. */
export function parseJson(text: string): unknown {
  return JSON.parse(text, (_name, value, context) => {
    const digits = context?.source;
    const exact = typeof value !== 'number' || Number.isSafeInteger(value) || !/^-?\d+$/.test(digits ?? '');
    return exact || digits === undefined ? value : JSON.rawJSON(digits);
  });
}

/** Parses a JSON object that this service has stored. */
export function parseObject(text: string): JsonObject {
  return objectOf(parseJson(text));
}

/** A JSON value as the text that filters compare: strings bare, numbers with all their digits, the rest as JSON. */
export function textOfJson(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The own member `name` of `object`; null if there is none. */
export function memberOf(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? (object[name] ?? null) : null;
}

/** The members of `body` but for those that `names` lists. */
export function omit(body: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)));
}

/** The members of `body` that `names` lists. */
export function pick(body: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([name]) => names.includes(name)));
}
