import { parseJson, refuseDeep } from '../rest/json.ts';
import { exactDigits, isObject, type JsonObject } from '../rest/values.ts';

/** Codes of errors: those of JSON-RPC 2.0, and those of the Model Context Protocol (2026-07-28, Error Codes). */
export const errorCodes = {
  unparsable: -32_700,
  invalidRequest: -32_600,
  unknownMethod: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
  headerMismatch: -32_020,
  unsupportedVersion: -32_022,
} as const;

/** Details of an error beside its message. */
interface McpErrorOptions {
  /** The HTTP status of its answer. */
  readonly status: number;
  readonly data?: unknown;
  /** Headers of its answer. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** The refusal of a message in the protocol's own terms. Failures of a tool are results instead. */
export class McpError extends Error {
  override readonly name = 'McpError';
  readonly code: number;
  readonly status: number;
  readonly data: unknown;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: number, message: string, { status, data, headers = {} }: McpErrorOptions) {
    super(message);
    this.code = code;
    this.status = status;
    this.data = data;
    this.headers = headers;
  }
}

/** The id of a request. A number keeps all its digits, even if a double cannot hold them. */
type RequestId = string | number | object;

/** A message of a client. */
export interface Message {
  /** Undefined if it is a notification, which is not answered. */
  readonly id: RequestId | undefined;
  readonly method: string;
  readonly params: JsonObject;
}

/** The longest id and the longest name of a method, in characters. Both are sent back. */
const longestId = 256;

/** The message in a body. Throws an McpError. A batch is refused: the protocol has had none since 2025-06-18. */
export function toMessage(text: string, maxDepth: number): Message {
  const value = parsed(text, maxDepth);
  if (Array.isArray(value)) throw invalid('Expected one message, but got a list: batches are not taken.');
  if (!isObject(value) || exactDigits(value) !== undefined) throw invalid('Expected the body to be a JSON object.');
  const { jsonrpc, method, params = {} } = value;
  if (jsonrpc !== '2.0') throw invalid('Expected `jsonrpc` to be "2.0".');
  if (typeof method !== 'string') throw invalid('Expected a request or a notification, with a `method`.');
  if (method.length > longestId) throw invalid(`Expected \`method\` to have at most ${longestId} characters.`);
  if (!isObject(params)) throw invalid('Expected `params` to be an object.');
  return { id: Object.hasOwn(value, 'id') ? checkedId(value['id']) : undefined, method, params };
}

function parsed(text: string, maxDepth: number): unknown {
  try {
    refuseDeep(text, maxDepth);
  } catch {
    throw invalid(`Expected the body to nest at most ${maxDepth} deep, but it nests deeper.`);
  }
  try {
    return parseJson(text);
  } catch {
    throw new McpError(errorCodes.unparsable, 'Expected the body to be JSON, but it cannot be parsed.', {
      status: 400,
    });
  }
}

function checkedId(id: unknown): RequestId {
  if (typeof id === 'string' && id.length <= longestId) return id;
  if (typeof id === 'number' && Number.isInteger(id)) return id;
  const digits = exactDigits(id);
  if (digits !== undefined && digits.length <= longestId && isObject(id)) return id;
  throw invalid(`Expected \`id\` to be an integer, or a string of at most ${longestId} characters.`);
}

function invalid(message: string): McpError {
  return new McpError(errorCodes.invalidRequest, message, { status: 400 });
}

/** The text of the answer to a request; `result` is JSON. */
export function resultText(id: Message['id'], result: string): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
}

/** The text of an error. It has no id if the id of the request could not be read. */
export function errorText(id: Message['id'], { code, message, data }: McpError): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, data } });
}
