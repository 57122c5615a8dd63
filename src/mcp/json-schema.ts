import { quoted } from '../graphql/input-error.ts';
import { exactDigits, isList, isObject } from '../rest/values.ts';

type JsonType = 'array' | 'boolean' | 'integer' | 'null' | 'number' | 'object' | 'string';

/** The part of JSON Schema (2020-12) that tools are described with. An empty one allows every value. */
export interface JsonSchema {
  readonly type?: JsonType | readonly JsonType[];
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly (string | null)[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: JsonSchema;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: false;
  readonly anyOf?: readonly JsonSchema[];
}

/** The types that a schema names; empty if any is allowed. */
function typesOf({ type = [] }: JsonSchema): readonly JsonType[] {
  return typeof type === 'string' ? [type] : type;
}

export function orNull(schema: JsonSchema): JsonSchema {
  const types = typesOf(schema);
  const { anyOf, enum: values } = schema;
  if (anyOf !== undefined) return { ...schema, anyOf: [...anyOf, { type: 'null' }] };
  if (types.length === 0 || types.includes('null')) return schema;
  return { ...schema, type: [...types, 'null'], ...(values !== undefined && { enum: [...values, null] }) };
}

/**
 * Describes the faults of a value: at most ten sentences, one for each wrong member or item. `path` is the path of the
 * value as messages write it. It is empty for an object that holds all arguments.
 */
export function faultsIn(value: unknown, schema: JsonSchema, path: string): readonly string[] {
  const faults: string[] = [];
  check(value, schema, path, faults);
  return faults;
}

const mostFaults = 10;

function check(value: unknown, schema: JsonSchema, path: string, faults: string[]): void {
  if (faults.length >= mostFaults) return;
  const expected = expectedOf(value, schema);
  const where = path === '' ? 'the arguments' : path;
  if (expected !== undefined) faults.push(`Expected ${where} to be ${expected}, but got ${quoted(value)}.`);
  else if (isList(value)) value.forEach((item, at) => check(item, schema.items ?? {}, `${path}[${at}]`, faults));
  else if (isObject(value) && schema.properties !== undefined) checkMembers(value, schema, path, faults);
}

function checkMembers(value: object, { properties = {}, required = [] }: JsonSchema, path: string, faults: string[]) {
  for (const name of required) {
    if (Object.hasOwn(value, name)) continue;
    if (faults.length >= mostFaults) return;
    const described = expectedBy(properties[name] ?? {});
    faults.push(`Expected ${pathTo(path, name)}, ${described}, but it is left out.`);
  }
  for (const [name, member] of Object.entries(value)) {
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (schema !== undefined) check(member, schema, pathTo(path, name), faults);
    else if (faults.length < mostFaults) {
      const known = Object.keys(properties).map((one) => `\`${one}\``);
      const others = known.length === 0 ? 'there are none' : `there are ${known.join(', ')}`;
      faults.push(`Expected no ${path === '' ? 'argument' : `member of ${path}`} ${quoted(name)}: ${others}.`);
    }
  }
}

function pathTo(path: string, name: string): string {
  return path === '' ? `\`${name}\`` : `\`${path.replaceAll('`', '')}.${name}\``;
}

/**
 * Describes the values that a schema allows. Returns undefined if this value is one of them. The members and items of
 * the value are not checked.
 */
function expectedOf(value: unknown, schema: JsonSchema): string | undefined {
  const types = typesOf(schema);
  if (types.length > 0 && !types.some((type) => isOfType(value, type))) return expectedBy(schema);
  if (value === null) return undefined;
  const { enum: values, pattern } = schema;
  if (typeof value === 'string') {
    const fits = pattern === undefined || new RegExp(pattern, 'u').test(value);
    return fits && (values === undefined || values.includes(value)) ? undefined : expectedBy(schema);
  }
  if (isList(value))
    return value.length <= (schema.maxItems ?? Number.POSITIVE_INFINITY) ? undefined : expectedBy(schema);
  const number = numberOf(value);
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = schema;
  return number === undefined || isWithin(number, minimum, maximum) ? undefined : expectedBy(schema);
}

function isWithin(number: number, minimum: number, maximum: number): boolean {
  return number >= minimum && number <= maximum;
}

/** A JSON number as a double, even if it has more digits than that; undefined if the value is no number. */
function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  const digits = exactDigits(value);
  return digits === undefined ? undefined : Number(digits);
}

function isOfType(value: unknown, type: JsonType): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value) && exactDigits(value) === undefined;
    case 'integer':
      return Number.isInteger(numberOf(value));
    case 'number':
      return Number.isFinite(numberOf(value));
    case 'boolean':
    case 'string':
      return typeof value === type;
  }
}

const typeWords: Readonly<Record<JsonType, string>> = {
  array: 'a list',
  boolean: 'true or false',
  integer: 'a whole number',
  null: 'null',
  number: 'a number',
  object: 'an object',
  string: 'a string',
};

function expectedBy(schema: JsonSchema): string {
  const { enum: values, minimum, maximum, maxItems, description } = schema;
  if (values !== undefined) return `one of ${values.map((value) => JSON.stringify(value)).join(', ')}`;
  const words = typesOf(schema).map((type) => typeWords[type]);
  const any = words.length === 0 ? 'a value' : words.join(' or ');
  if (minimum !== undefined && maximum !== undefined) return `${any} from ${minimum} to ${maximum}`;
  if (maxItems !== undefined) return `${any} of at most ${maxItems} items`;
  if (schema.pattern === undefined || description === undefined) return any;
  return `${any} (${description.split('. ')[0]})`;
}
