import { createRequire } from 'node:module';
import type * as Ajv from 'ajv';
import type * as AjvFormats from 'ajv-formats';
import type { Operation, Parameter } from './document.ts';
import { type ApiError, invalid, notFound, required } from './errors.ts';
import { document } from './generated/document.ts';
import { type JsonObject, parseJson } from './json.ts';

/** The id under which schemas refer to the document. */
const documentId = 'rest';

/** Lists fall back silently if these are bad, so they are not validated. */
const lenient = new Set(['limit', 'offset']);

/** The parts of a request that are validated, parameters decoded. */
interface Parts {
  readonly params: JsonObject;
  readonly query: JsonObject;
  readonly body: unknown;
}

/** Throws if a request is not as the document says. */
export function validate(operation: Operation, { params, query, body }: Parts): void {
  const { parameters, body: bodySchema } = operation;
  const inPath = parameters.filter(({ place }) => place === 'path');
  const inQuery = parameters.filter(({ place, name }) => place === 'query' && !lenient.has(name));
  // An id that cannot be one names nothing.
  if (!areSound(inPath, params) && errorIn(params, membersOf(inPath)) !== undefined) throw notFound();
  if (bodySchema !== undefined) refuse(errorIn(body, { type: 'object', allOf: [{ $ref: documentId + bodySchema }] }));
  if (!areSound(inQuery, query)) refuse(errorIn(query, membersOf(inQuery)));
}

/**
 * True if the values of parameters need no validator, as in most requests that read: none is missing, and each is an
 * integer or a text where the document asks for just that. To load the validator takes 50 ms.
 */
function areSound(parameters: readonly Parameter[], values: JsonObject): boolean {
  return parameters.every(({ name, encoding, isPlain, required: isRequired }) => {
    const value = values[name];
    if (value === undefined) return !isRequired;
    return isPlain && typeof value === (encoding === 'integer' ? 'number' : 'string');
  });
}

/** The first error in `value` by a schema, which may refer to the document. */
export function errorIn(value: unknown, schema: object): Ajv.ErrorObject | undefined {
  const text = JSON.stringify(schema);
  const check = checks.get(text) ?? validator().compile(schema);
  checks.set(text, check);
  return check(value) ? undefined : check.errors?.[0];
}

/** Compiled schemas, by their texts. There are as many as the document has. */
const checks = new Map<string, Ajv.ValidateFunction>();

const load = createRequire(import.meta.url);

let loaded: Ajv.Ajv | undefined;

/** Loads and makes the validator when it is first needed. */
function validator(): Ajv.Ajv {
  if (loaded !== undefined) return loaded;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the package's own declarations say
  const { Ajv: Validator } = load('ajv') as typeof Ajv;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the package's own declarations say
  const { default: addFormats } = load('ajv-formats') as typeof AjvFormats;
  // Not strict, because a document holds more than schemas. It does not change while it runs, and to check it takes 20 ms.
  loaded = new Validator({ strict: false, validateSchema: false });
  addFormats.default(loaded);
  return loaded.addSchema({ $id: documentId, ...document });
}

/** A schema for an object with these parameters as its members. */
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

function refuse(error: Ajv.ErrorObject | undefined): void {
  if (error !== undefined) throw toApiError(error);
}

/** What the caller is told of a request that the document does not allow: the first error only. */
function toApiError(error: Ajv.ErrorObject): ApiError {
  const path = error.instancePath.split('/').slice(1);
  const { missingProperty: missing } = error.params;
  if (typeof missing === 'string') return required([...path, missing].join('__'));
  const attr = path.length === 0 ? undefined : path.join('__');
  const code = codes[error.keyword] ?? 'invalid_input';
  return invalid(attr, detailOf(error), code);
}

const codes: Readonly<Record<string, string>> = { enum: 'invalid_choice' };

function detailOf({ keyword, params, message }: Ajv.ErrorObject): string {
  if (keyword === 'enum') return `Not a valid choice. Allowed: ${String(params.allowedValues)}.`;
  return `Not valid: it ${message ?? 'has the wrong form'}.`;
}
