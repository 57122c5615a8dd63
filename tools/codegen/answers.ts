import { parse } from 'yaml';
import type { Answers, JsonType, Shape, View } from '../../src/rest/drift/compare.ts';
import { rowSchemas } from './views.ts';

export function answersSource(document: string): string {
  const { operations, views } = answersOf(document);
  return [
    "import type { Answers } from '../drift/compare.ts';",
    '',
    '/** The answers of the GET operations as the OpenAPI document describes them. */',
    'export const answers: Answers = {',
    '  operations: {',
    ...linesOf(operations),
    '  },',
    '  views: {',
    ...Object.entries(views).flatMap(([name, { columns, ...facts }]) => [
      `    ${name}: {`,
      ...Object.entries(facts).map(([fact, value]) => `      ${fact}: ${JSON.stringify(value)},`),
      '      columns: {',
      ...linesOf(columns).map((line) => `    ${line}`),
      '      },',
      '    },',
    ]),
    '  },',
    '};',
  ].join('\n');
}

function linesOf(record: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.entries(record).map(([name, value]) => `    ${JSON.stringify(name)}: ${JSON.stringify(value)},`);
}

/** The JSON answers with status 200 of the GET operations. `text` is an OpenAPI document as YAML. */
export function answersOf(text: string): Answers {
  const reader = new Reader(parse(text));
  return { operations: reader.operations(), views: reader.views };
}

class Reader {
  readonly views: Record<string, View> = {};
  readonly #document: unknown;

  constructor(document: unknown) {
    this.#document = document;
  }

  operations(): Answers['operations'] {
    const paths = Object.values(membersOf(membersOf(this.#document)['paths']));
    return Object.fromEntries(
      paths.flatMap((item) => {
        const operation = membersOf(membersOf(item)['get']);
        const id = operation['operationId'];
        if (typeof id !== 'string') return [];
        const schema = this.#at(operation, 'responses', '200', 'content', 'application/json', 'schema');
        return [[id, this.#shape(schema, id)]];
      }),
    );
  }

  /** `name` becomes the name of the view if an object is described in place, and not by a reference. */
  #shape(source: unknown, name: string): Shape {
    const schema = membersOf(source);
    const { $ref, anyOf, properties, type, items } = schema;
    if (typeof $ref === 'string') return this.#shape(this.#resolve($ref), $ref.split('/').at(-1) ?? name);
    if (isList(anyOf)) return this.#either(anyOf, name);
    if (properties !== undefined) this.#addView(name, schema);
    const known = schema['x-known-values'] ?? schema['enum'];
    const held = items === undefined ? {} : this.#shape(items, `${name}Item`);
    return {
      ...(type !== undefined && { types: [type].flat().map(toType) }),
      ...(isList(known) && { known: known.map(toKnown) }),
      ...(Object.keys(held).length > 0 && { items: held }),
      ...(properties !== undefined && { view: name }),
      ...(schema['writeOnly'] === true && { writeOnly: true }),
    };
  }

  /** A single alternative beside null becomes that alternative with the further type null. */
  #either(alternatives: readonly unknown[], name: string): Shape {
    const others = alternatives.filter((one) => membersOf(one)['type'] !== 'null');
    const shapes = others.map((one, index) => this.#shape(one, `${name}${index + 1}`));
    const [only] = shapes;
    if (only === undefined || shapes.length > 1) return { either: shapes };
    return others.length === alternatives.length ? only : { ...only, types: [...(only.types ?? []), 'null'] };
  }

  #addView(name: string, schema: Readonly<Record<string, unknown>>): void {
    const { properties, required } = schema;
    const columns: Record<string, Shape> = {};
    for (const [column, one] of Object.entries(membersOf(properties))) columns[column] = this.#shape(one, column);
    this.views[name] = {
      isRow: rowSchemas.has(name),
      required: isList(required) ? required.map(String) : [],
      columns,
    };
  }

  #resolve(pointer: string): unknown {
    return this.#at(this.#document, ...pointer.split('/').slice(1));
  }

  #at(from: unknown, ...keys: readonly string[]): unknown {
    return keys.reduce((value, key) => membersOf(value)[key], from);
  }
}

const jsonTypes: ReadonlySet<string> = new Set<JsonType>([
  'string',
  'integer',
  'number',
  'boolean',
  'object',
  'array',
  'null',
]);

function toType(name: unknown): JsonType {
  if (isType(name)) return name;
  throw new Error(`expected a type of JSON, but got ${JSON.stringify(name)}`);
}

function isType(name: unknown): name is JsonType {
  return typeof name === 'string' && jsonTypes.has(name);
}

function toKnown(value: unknown): string | number | null {
  if (typeof value === 'string' || typeof value === 'number' || value === null) return value;
  throw new Error(`expected a text, a number or null, but got ${JSON.stringify(value)}`);
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}
