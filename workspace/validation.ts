import { createRequire } from 'node:module';
import type * as AjvCompiler from '@fastify/ajv-compiler';
import type { FastifySchema, FastifySchemaCompiler, FastifySchemaValidationError } from 'fastify';
import type { Operation, Parameter } from './document.ts';
import { type ApiError, invalid, notFound, required } from './errors.ts';
import { document } from './generated/document.ts';
import { type JsonObject, parseJson } from './json.ts';

/** The id under which schemas refer to the document. */
const documentId = 'rest';

/** Lists fall back silently if these are bad, so they are not validated. */
const lenient = new Set(['limit', 'offset']);

type Validate = ReturnType<FastifySchemaCompiler<FastifySchema>>;

const load = createRequire(import.meta.url);

/** Compiles the schema of a part of requests when the first such request comes: to compile all takes 60 ms. */
export const compileWhenAsked: FastifySchemaCompiler<FastifySchema> = (route) => {
  let validate: Validate | undefined;
  const validateLate: Validate = (data: unknown) => {
    validate ??= compilerOfDocument()(route);
    const result = validate(data);
    validateLate.errors = validate.errors ?? null;
    return result;
  };
  return validateLate;
};

let compiler: ReturnType<AjvCompiler.BuildCompilerFromPool> | undefined;

/** Compiles schemas that may refer to the document. */
function compilerOfDocument(): ReturnType<AjvCompiler.BuildCompilerFromPool> {
  // Bodies are taken as they are; parameters are decoded as the document says, not guessed.
  // Not strict, because a document holds more than schemas.
  const reading = { coerceTypes: false, removeAdditional: false, useDefaults: false, strict: false };
  // The document does not change while it runs, and to check it takes 20 ms.
  const customOptions = { ...reading, validateSchema: false };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the package's own declarations say
  const { AjvCompiler: createPool } = load('@fastify/ajv-compiler') as typeof AjvCompiler;
  compiler ??= createPool()({ [documentId]: { $id: documentId, ...document } }, { customOptions });
  return compiler;
}

/** The document's schema for a request of `operation`. */
export function schemaOf(operation: Operation): FastifySchema {
  const { parameters, body } = operation;
  return {
    params: membersOf(parameters.filter(({ place }) => place === 'path')),
    querystring: membersOf(parameters.filter(({ place, name }) => place === 'query' && !lenient.has(name))),
    ...(body !== undefined && { body: { type: 'object', allOf: [{ $ref: documentId + body }] } }),
  };
}

function membersOf(parameters: readonly Parameter[]): object {
  return {
    type: 'object',
    required: parameters.filter((parameter) => parameter.required).map(({ name }) => name),
    properties: Object.fromEntries(parameters.map(({ name, schema }) => [name, { $ref: documentId + schema }])),
  };
}

/** The declared parameters in one part of a URL, decoded; what cannot be decoded stays text, which validation refuses. */
export function decode(operation: Operation, place: Parameter['place'], values: JsonObject): JsonObject {
  const declared = operation.parameters.filter((parameter) => parameter.place === place && parameter.name in values);
  return Object.fromEntries(
    declared.map((parameter) => [parameter.name, decodeOne(parameter, values[parameter.name])]),
  );
}

function decodeOne({ name, encoding }: Parameter, value: unknown): unknown {
  if (encoding === 'text' || lenient.has(name) || typeof value !== 'string') return value;
  if (encoding === 'integer') return /^-?\d{1,15}$/.test(value) ? Number(value) : value;
  try {
    return parseJson(value);
  } catch {
    throw invalid(name, 'Value must be valid JSON.');
  }
}

/** The error that the caller gets for a request that the document does not allow: the first one only. */
export function toApiError(error: FastifySchemaValidationError, context: string | undefined): ApiError {
  // An id that cannot be one names nothing.
  if (context === 'params') return notFound();
  const path = error.instancePath.split('/').slice(1);
  const { missingProperty: missing } = error.params;
  if (typeof missing === 'string') return required([...path, missing].join('__'));
  const attr = path.length === 0 ? undefined : path.join('__');
  const code = codes[error.keyword] ?? 'invalid_input';
  return invalid(attr, detailOf(error), code);
}

const codes: Readonly<Record<string, string>> = { enum: 'invalid_choice' };

function detailOf({ keyword, params, message }: FastifySchemaValidationError): string {
  if (keyword === 'enum') return `Not a valid choice. Allowed: ${String(params.allowedValues)}.`;
  return `Not valid: it ${message ?? 'has the wrong form'}.`;
}
