import { readdirSync, readFileSync } from 'node:fs';
import {
  buildASTSchema,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLOutputType,
  getNamedType,
  isInputObjectType,
  isLeafType,
  isObjectType,
  parse as parseSdl,
} from 'graphql';
import { parse } from 'yaml';
import { isObject } from '../../src/rest/values.ts';

/** A column as the OpenAPI document has it. */
export interface Column {
  readonly name: string;
  /** The JSON types that it may have, `null` left out; none if it is any JSON. */
  readonly types: readonly string[];
  readonly format: string | undefined;
  /** The values that a request may give it, if they are listed. */
  readonly values: readonly unknown[] | undefined;
  /** True if it is an object with a schema of its own. */
  readonly isObject: boolean;
}

/** An operation of the OpenAPI document. */
export interface DocumentedOperation {
  readonly method: string;
  readonly path: string;
  readonly hasBody: boolean;
}

const folder = new URL('../../schema/', import.meta.url);
/** The OpenAPI document. */
export const document: unknown = parse(readFileSync(new URL('rest.openapi.yaml', folder), 'utf8'));

/** The text of the public schema. */
export const sdlText = readdirSync(folder)
  .filter((name) => name.endsWith('.graphql'))
  .map((name) => readFileSync(new URL(name, folder), 'utf8'))
  .join('\n');

/** The public schema as it is written; nothing of `src` decides what it says. */
export const sdl = buildASTSchema(parseSdl(sdlText));

/** Every operation of the OpenAPI document by its `operationId`. */
export const documented: ReadonlyMap<string, DocumentedOperation> = new Map(
  Object.entries(objectAt(document, 'paths')).flatMap(([path, item]) =>
    Object.entries(isObject(item) ? item : {}).flatMap(([method, operation]) =>
      isObject(operation) && typeof operation['operationId'] === 'string'
        ? [[operation['operationId'], { method: method.toUpperCase(), path, hasBody: 'requestBody' in operation }]]
        : [],
    ),
  ),
);

/** A parameter of an operation. */
interface Parameter {
  readonly name: string;
  /** True if it is a required part of the path. */
  readonly isInPath: boolean;
}

/** The parameters that an operation takes, those of its path included. */
export function parametersOf(operationId: string): Parameter[] {
  const { method, path } = documented.get(operationId) ?? {};
  const item = objectAt(document, 'paths', path ?? operationId);
  const own = objectAt(item, method?.toLowerCase() ?? operationId);
  return [item['parameters'], own['parameters']]
    .flat()
    .filter((one) => one !== undefined)
    .map(resolved)
    .map((one) => ({ name: String(one['name']), isInPath: one['in'] === 'path' && one['required'] === true }));
}

/** The columns of a schema of the OpenAPI document, in its order. */
export function columnsOf(schema: string): Column[] {
  return Object.entries(objectAt(document, 'components', 'schemas', schema, 'properties')).map(([name, property]) =>
    toColumn(name, resolved(property)),
  );
}

/** The columns that the rows of a page schema have. */
export function pageColumnsOf(page: string): Column[] {
  const { $ref: items } = objectAt(document, 'components', 'schemas', page, 'properties', 'results', 'items');
  return columnsOf(String(items).split('/').at(-1) ?? '');
}

/** The fields of an object type that no call of their own answers and that are leaves, by name. */
export function leafFieldsOf(type: string): ReadonlyMap<string, GraphQLOutputType> {
  const object = sdl.getType(type);
  if (!isObjectType(object)) throw new Error(`${type} is no object type`);
  const fields = Object.values(object.getFields()).filter(({ args, astNode, type: answer }) => {
    const isRelation = astNode?.directives?.some(({ name }) => name.value === 'rest') === true;
    return args.length === 0 && !isRelation && isLeafType(getNamedType(answer));
  });
  return new Map(fields.map(({ name, type: answer }) => [name, answer]));
}

/** The fields of an object type that are objects of its own row. */
export function objectFieldsOf(type: string): string[] {
  const object = sdl.getType(type);
  if (!isObjectType(object)) throw new Error(`${type} is no object type`);
  return Object.values(object.getFields())
    .filter(({ args, astNode }) => args.length === 0 && (astNode?.directives ?? []).length === 0)
    .filter((field) => !isLeafType(getNamedType(field.type)))
    .map(({ name }) => name);
}

/** An input type of the schema. */
export function inputOf(name: string): GraphQLInputObjectType {
  const input = sdl.getType(name);
  if (!isInputObjectType(input)) throw new Error(`${name} is no input`);
  return input;
}

/** The input field that takes a request column. Throws if there is none. */
export function inputFieldOf(input: string, column: string): GraphQLInputField {
  const field = inputOf(input).getFields()[fieldNameOf(column)];
  if (field === undefined) throw new Error(`${input} takes no ${column}`);
  return field;
}

/** The columns whose field is not called as they are, because it refers to another object. */
const references: Readonly<Record<string, string>> = {
  id: 'upstreamId',
  organization: 'organizationId',
  primary_dashboard: 'primaryDashboardId',
  use_dashboard: 'useDashboardId',
};

/** The name of the field that a column has in GraphQL. */
export function fieldNameOf(column: string): string {
  return references[column] ?? column.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function toColumn(name: string, property: Readonly<Record<string, unknown>>): Column {
  const { type, format, enum: values, anyOf } = property;
  const types = [type].flat().filter((one) => typeof one === 'string' && one !== 'null');
  return {
    name,
    types: types.map(String),
    format: typeof format === 'string' ? format : undefined,
    values: Array.isArray(values) ? values.filter((value) => value !== null) : undefined,
    isObject: Array.isArray(anyOf),
  };
}

/** The object that a `$ref` points to, or the property itself without one. Throws if the path leads nowhere. */
export function resolved(property: unknown): Readonly<Record<string, unknown>> {
  if (!isObject(property)) throw new Error('a property is no object');
  const { $ref: ref } = property;
  return typeof ref === 'string' ? objectAt(document, ...ref.slice(2).split('/')) : property;
}

/** The object at a path of a value. Throws if there is none. */
export function objectAt(value: unknown, ...path: readonly string[]): Readonly<Record<string, unknown>> {
  let here = value;
  for (const name of path) here = isObject(here) ? here[name] : undefined;
  if (!isObject(here)) throw new Error(`the document has no object ${path.join('.')}`);
  return here;
}
