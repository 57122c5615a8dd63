import { parse } from 'yaml';

/** One operation of the REST contract. Its path has `{parameters}`. */
interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
}

/** The parts of the document that code other than types is made from, in the document's order. */
export interface Contract {
  readonly operations: readonly Operation[];
  /** The columns of a schema; undefined if there is no such schema. */
  readonly columns: (schema: string) => readonly string[] | undefined;
}

const methods = new Set(['get', 'post', 'patch', 'put', 'delete']);

/** Reads the OpenAPI document, given as YAML text. */
export function readContract(text: string): Contract {
  const document: unknown = parse(text);
  return {
    operations: Object.entries(objectAt(document, 'paths')).flatMap(([path, item]) => operationsOf(path, item)),
    columns: (schema) => {
      const properties = valueAt(document, ['components', 'schemas', schema, 'properties']);
      return properties === undefined ? undefined : Object.keys(objectAt(properties));
    },
  };
}

function operationsOf(path: string, item: unknown): Operation[] {
  return Object.keys(objectAt(item))
    .filter((name) => methods.has(name))
    .map((name) => ({ id: stringAt(item, name, 'operationId'), method: name.toUpperCase(), path }));
}

function objectAt(document: unknown, ...keys: string[]): object {
  const value = valueAt(document, keys);
  if (typeof value !== 'object' || value === null) throw new Error(`expected an object at ${keys.join('.')}`);
  return value;
}

function stringAt(document: unknown, ...keys: string[]): string {
  const value = valueAt(document, keys);
  if (typeof value !== 'string') throw new Error(`expected a string at ${keys.join('.')}`);
  return value;
}

function valueAt(document: unknown, keys: readonly string[]): unknown {
  return keys.reduce<unknown>(
    (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined),
    document,
  );
}
