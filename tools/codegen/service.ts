import { Ajv } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import formats from 'ajv-formats';
import { parse } from 'yaml';
import { arrayOf, isObject, type JsonObject, objectOf } from '../../workspace/json.ts';
import type { Parameter } from '../../workspace/validation.ts';

/** A parameter of an operation, with the JSON pointer to its schema. */
interface DocumentedParameter extends Parameter {
  readonly required: boolean;
  readonly schema: string;
}

/** An operation of the document. */
interface DocumentedOperation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly DocumentedParameter[];
  /** The JSON pointer to the schema of its body. */
  readonly body: string | undefined;
}

/** The id under which ajv knows the document. */
const documentId = 'rest';

/** Lists fall back silently if these are bad, so they are not validated. */
const lenient = new Set(['limit', 'offset']);

const methods = new Set(['get', 'post', 'put', 'patch', 'delete']);

/**
 * The modules in which the embedded workspace has its operations, and a function for each part of their requests that
 * checks it. ajv writes these functions ahead, because to compile them takes 120 ms.
 */
export function serviceSources(openapi: string): { readonly operations: string; readonly validators: string } {
  const document = objectOf(parse(openapi, withoutProse));
  /** The schema of each part of a request, by the name of its function. */
  const schemas: Record<string, object> = {};
  /** The name of the function for each schema, by the schema's text: equal parts of operations share a function. */
  const names = new Map<string, string>();
  const operations = operationsOf(document).map((operation) => {
    const validators = Object.entries(schemasOf(operation)).map(([part, schema]) => {
      const text = JSON.stringify(schema);
      const name = names.get(text) ?? `${operation.id}_${part}`;
      names.set(text, name);
      schemas[name] = schema;
      return `${part}: validators.${name}`;
    });
    return sourceOf(operation, validators);
  });
  // Not strict, because a document holds more than schemas.
  const ajv = new Ajv({ strict: false, inlineRefs: false, code: { source: true, esm: true, lines: true } });
  formats.default(ajv);
  // All schemas are in the document, so a schema to which several of them refer has one function.
  ajv.addSchema({ $id: documentId, ...document, requests: schemas }, undefined, undefined, false);
  const exported = Object.fromEntries(Object.keys(schemas).map((name) => [name, `${documentId}#/requests/${name}`]));
  return {
    operations: operationsSource(operations),
    validators: validatorsSource(standalone.default(ajv, exported)),
  };
}

function operationsSource(operations: readonly string[]): string {
  return [
    "import type { Operation } from '../validation.ts';",
    "import * as validators from './validators.ts';",
    '',
    '/** The operations of the OpenAPI document. */',
    'export const operations: readonly Operation[] = [',
    ...operations,
    '];',
  ].join('\n');
}

function validatorsSource(code: string): string {
  // For some keywords, such as `format`, ajv writes calls of packages, which the embedded workspace does not have.
  if (/^import |\brequire\(/m.test(code)) throw new Error('expected schemas of requests that need no package to check');
  return `// @ts-nocheck ajv writes JavaScript.\n${code}`;
}

function sourceOf({ id, method, path, parameters }: DocumentedOperation, validators: readonly string[]): string {
  return [
    '  {',
    `    id: '${id}',`,
    `    method: '${method}',`,
    `    path: '${path}',`,
    '    parameters: [',
    ...parameters.map(
      ({ name, place, encoding }) => `      { name: '${name}', place: '${place}', encoding: '${encoding}' },`,
    ),
    '    ],',
    '    validators: {',
    ...validators.map((validator) => `      ${validator},`),
    '    },',
    '  },',
  ].join('\n');
}

/** The document's schemas for the parts of requests of `operation`. */
function schemasOf({ parameters, body }: DocumentedOperation): Readonly<Record<string, object>> {
  const inPath = parameters.filter(({ place }) => place === 'path');
  const inQuery = parameters.filter(({ place, name }) => place === 'query' && !lenient.has(name));
  return {
    ...(inPath.length > 0 && { params: membersOf(inPath) }),
    ...(body !== undefined && { body: { type: 'object', allOf: [{ $ref: body }] } }),
    ...(inQuery.length > 0 && { query: membersOf(inQuery) }),
  };
}

function membersOf(parameters: readonly DocumentedParameter[]): object {
  return {
    type: 'object',
    required: parameters.filter((parameter) => parameter.required).map(({ name }) => name),
    properties: Object.fromEntries(parameters.map(({ name, schema }) => [name, { $ref: schema }])),
  };
}

function operationsOf(document: JsonObject): DocumentedOperation[] {
  return Object.entries(objectOf(document['paths'])).flatMap(([path, item]) =>
    Object.entries(objectOf(item))
      .filter(([method]) => methods.has(method))
      .map(([method, operation]) => {
        const pointer = `#/paths/${escape(path)}`;
        return {
          id: String(objectOf(operation)['operationId']),
          method: method.toUpperCase(),
          path,
          parameters: [`${pointer}/parameters`, `${pointer}/${method}/parameters`].flatMap((list) =>
            parametersAt(document, list),
          ),
          body: isObject(objectOf(operation)['requestBody'])
            ? target(document, `${pointer}/${method}/requestBody/content/application~1json/schema`)
            : undefined,
        };
      }),
  );
}

function parametersAt(document: JsonObject, pointer: string): DocumentedParameter[] {
  return arrayOf(resolve(document, pointer)).map((_, index) => {
    const place = target(document, `${pointer}/${index}`);
    const parameter = objectOf(resolve(document, place));
    const name = String(parameter['name']);
    const inJson = isObject(parameter['content']);
    const schema = target(document, `${place}/${inJson ? 'content/application~1json/schema' : 'schema'}`);
    return {
      name,
      place: parameter['in'] === 'path' ? 'path' : 'query',
      required: parameter['required'] === true,
      encoding: inJson ? 'json' : encodingOf(name, objectOf(resolve(document, schema))),
      schema,
    };
  });
}

/** `integer` if the schema allows an integer: text that looks like one becomes one. */
function encodingOf(name: string, schema: JsonObject): 'text' | 'integer' {
  const alternatives = [schema, ...arrayOf(schema['anyOf']).map(objectOf)];
  return !lenient.has(name) && alternatives.some(({ type }) => type === 'integer') ? 'integer' : 'text';
}

/** Follows a `$ref`, if that is what is at `pointer`. */
function target(document: JsonObject, pointer: string): string {
  const { $ref } = objectOf(resolve(document, pointer));
  return typeof $ref === 'string' ? $ref : pointer;
}

function resolve(document: JsonObject, pointer: string): unknown {
  const steps = pointer
    .slice('#/'.length)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  let value: unknown = document;
  for (const step of steps) value = Array.isArray(value) ? value[Number(step)] : objectOf(value)[step];
  return value;
}

function escape(step: string): string {
  return step.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Leaves out prose. A column with the name `description` stays, because an object describes it. */
function withoutProse(name: unknown, value: unknown): unknown {
  return typeof value === 'string' && (name === 'description' || name === 'summary') ? undefined : value;
}
