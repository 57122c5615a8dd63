import { type ApiError, invalid, notFound, required } from './errors.ts';
import { type JsonObject, parseJson } from './json.ts';

/** A parameter of an operation. */
export interface Parameter {
  readonly name: string;
  readonly place: 'path' | 'query';
  /** The conversion of the text in the URL to the value that the schema describes. */
  readonly encoding: 'text' | 'integer' | 'json';
}

/** An operation of the document. */
export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
  /** The checks of its requests. A part of which the document says nothing has none. */
  readonly validators: { readonly params?: Validate; readonly body?: Validate; readonly query?: Validate };
}

/** A function of ajv. If it returns false, it has set `errors`. */
interface Validate {
  (value: unknown): boolean;
  readonly errors?: readonly ValidationError[] | null;
}

/** Why a value is not as its schema says, in the words of ajv. */
interface ValidationError {
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: JsonObject;
  readonly message?: string;
}

/** The declared parameters in one part of a URL, decoded; what cannot be decoded stays text, which validation refuses. */
export function decode(operation: Operation, place: Parameter['place'], values: JsonObject): JsonObject {
  const declared = operation.parameters.filter((parameter) => parameter.place === place && parameter.name in values);
  return Object.fromEntries(
    declared.map((parameter) => [parameter.name, decodeOne(parameter, values[parameter.name])]),
  );
}

function decodeOne({ name, encoding }: Parameter, value: unknown): unknown {
  if (encoding === 'text' || typeof value !== 'string') return value;
  if (encoding === 'integer') return /^-?\d{1,15}$/.test(value) ? Number(value) : value;
  try {
    return parseJson(value);
  } catch {
    throw invalid(name, 'Value must be valid JSON.');
  }
}

/** Throws the error that the caller gets for a request that the document does not allow: the first one only. */
export function validate(
  { validators }: Operation,
  { params, body, query }: { readonly params: unknown; readonly body: unknown; readonly query: unknown },
): void {
  // An id that cannot be one names nothing.
  if (validators.params?.(params) === false) throw notFound();
  if (validators.body?.(body) === false) throw toApiError(validators.body);
  if (validators.query?.(query) === false) throw toApiError(validators.query);
}

function toApiError({ errors }: Validate): ApiError {
  const [error] = errors ?? [];
  if (error === undefined) throw new Error('expected an error of the value that was refused');
  const path = error.instancePath.split('/').slice(1);
  const { missingProperty: missing } = error.params;
  if (typeof missing === 'string') return required([...path, missing].join('__'));
  const attr = path.length === 0 ? undefined : path.join('__');
  const code = codes[error.keyword] ?? 'invalid_input';
  return invalid(attr, detailOf(error), code);
}

const codes: Readonly<Record<string, string>> = { enum: 'invalid_choice' };

function detailOf({ keyword, params, message }: ValidationError): string {
  if (keyword === 'enum') return `Not a valid choice. Allowed: ${String(params.allowedValues)}.`;
  return `Not valid: it ${message ?? 'has the wrong form'}.`;
}
