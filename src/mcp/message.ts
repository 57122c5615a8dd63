import type { IncomingHttpHeaders } from 'node:http';
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

interface McpErrorOptions {
  /** The HTTP status of its answer, by default 400. */
  readonly status?: number;
  readonly data?: unknown;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** The refusal of a message in the protocol's own terms. Failures of a tool are results instead. */
export class McpError extends Error {
  override readonly name = 'McpError';
  readonly code: number;
  readonly status: number;
  readonly data: unknown;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: number, message: string, { status = 400, data, headers = {} }: McpErrorOptions = {}) {
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

/** The longest id and the longest name of a method, in characters. They have limits because the answer repeats them. */
const longestId = 256;

/**
 * The message in a body. Throws an McpError if the body is not one message. Batches are refused, because the protocol
 * has had none since 2025-06-18.
 */
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
    throw new McpError(errorCodes.unparsable, 'Expected the body to be JSON, but it cannot be parsed.');
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
  return new McpError(errorCodes.invalidRequest, message);
}

/** The edition without a handshake: each request carries all facts about its client. */
const modernEdition = '2026-07-28';

/** The editions with a handshake, newest first. */
export const olderEditions = ['2025-11-25', '2025-06-18'] as const;

/** The editions of the Model Context Protocol that are spoken, newest first. */
export const editions: readonly string[] = [modernEdition, ...olderEditions];

/** The two forms of the protocol. Each is answered in its own way. Editions of the `older` form have a handshake. */
export type Protocol = 'modern' | 'older';

/** The members of `_meta` that the protocol reserves. */
export const metaNames = {
  version: 'io.modelcontextprotocol/protocolVersion',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
  server: 'io.modelcontextprotocol/serverInfo',
} as const;

export const protocolHeaders = ['mcp-protocol-version', 'mcp-method', 'mcp-name', 'mcp-session-id', 'last-event-id'];

/**
 * The form of the protocol that a request uses, as its version says (2026-07-28, Streamable HTTP, Request
 * Metadata). Throws an McpError if the gateway does not support the version, or if the request lacks the headers that
 * the version requires.
 */
export function protocolOf(message: Message, headers: IncomingHttpHeaders): Protocol {
  const header = headers['mcp-protocol-version'];
  const { _meta: given } = message.params;
  const meta = isObject(given) ? given : {};
  const version = Object.hasOwn(meta, metaNames.version) ? meta[metaNames.version] : undefined;
  if (version === undefined) return withoutMeta(message, header);
  if (typeof version !== 'string') throw invalidMeta(metaNames.version, 'a version of the protocol');
  if (header !== version) throw mismatch('MCP-Protocol-Version', header, `\`_meta["${metaNames.version}"]\``, version);
  if (protocolOfVersion(version) === 'older') return 'older';
  if (!isObject(meta[metaNames.capabilities])) throw invalidMeta(metaNames.capabilities, 'an object');
  checkRoutingHeaders(message, headers);
  return 'modern';
}

function withoutMeta({ method }: Message, header: string | string[] | undefined): Protocol {
  if (header === modernEdition) throw invalidMeta(metaNames.version, 'a version of the protocol');
  // Clients of older editions send the header only after they have agreed on a version.
  if (header === undefined && method !== 'server/discover') return 'older';
  if (header === undefined) throw mismatch('MCP-Protocol-Version', header, 'the request', modernEdition);
  return protocolOfVersion(String(header));
}

/** Longest version that is repeated in an error, in characters. */
const longestShown = 100;

function protocolOfVersion(version: string): Protocol {
  if (editions.includes(version)) return version === modernEdition ? 'modern' : 'older';
  const data = { supported: editions, requested: version.slice(0, longestShown) };
  throw new McpError(errorCodes.unsupportedVersion, 'Unsupported protocol version', { data });
}

/** Checks that the headers by which proxies route requests agree with the body. */
function checkRoutingHeaders({ method, params }: Message, headers: IncomingHttpHeaders): void {
  const named = headers['mcp-method'];
  if (named !== method) throw mismatch('Mcp-Method', named, '`method`', method);
  if (method !== 'tools/call') return;
  const { name } = params;
  if (typeof name !== 'string') return;
  const header = headers['mcp-name'];
  if (typeof header !== 'string' || decoded(header) !== name) throw mismatch('Mcp-Name', header, '`params.name`', name);
}

/** The decoded value of a header; undefined if it is not encoded correctly. */
function decoded(header: string): string | undefined {
  const [, encoded] = /^=\?base64\?(.*)\?=$/.exec(header) ?? [];
  if (encoded === undefined) return header;
  const bytes = Buffer.from(encoded, 'base64');
  return bytes.toString('base64') === encoded ? bytes.toString('utf8') : undefined;
}

function invalidMeta(name: string, expected: string): McpError {
  return new McpError(errorCodes.invalidParams, `Expected \`params._meta["${name}"]\` to be ${expected}.`);
}

function mismatch(header: string, found: string | string[] | undefined, where: string, value: string): McpError {
  const got = found === undefined ? 'it is missing' : `got ${JSON.stringify(String(found).slice(0, longestShown))}`;
  const message = `Header mismatch: expected the header ${header} to be ${JSON.stringify(value.slice(0, longestShown))} as ${where} says, but ${got}.`;
  return new McpError(errorCodes.headerMismatch, message);
}

export function resultText(id: Message['id'], result: string): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
}

/** The text of an error. It has no id if the id of the request could not be read. */
export function errorText(id: Message['id'], { code, message, data }: McpError): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, data } });
}
