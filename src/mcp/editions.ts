import type { IncomingHttpHeaders } from 'node:http';
import { isObject, type JsonObject } from '../rest/values.ts';
import { errorCodes, McpError, type Message } from './message.ts';

/** The edition without a handshake: each request carries all facts about its client. */
export const modernEdition = '2026-07-28';

/** The editions with a handshake, newest first. */
export const olderEditions = ['2025-11-25', '2025-06-18'] as const;

/** The editions of the Model Context Protocol that are spoken. */
export type Edition = typeof modernEdition | (typeof olderEditions)[number];

/** All of them, newest first. */
export const editions: readonly Edition[] = [modernEdition, ...olderEditions];

/** The members of `_meta` that the protocol reserves. */
export const metaNames = {
  version: 'io.modelcontextprotocol/protocolVersion',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
  server: 'io.modelcontextprotocol/serverInfo',
} as const;

/** True if an edition has a handshake. */
export function isOlder(edition: Edition): boolean {
  return edition !== modernEdition;
}

/**
 * The edition of a request (2026-07-28, Streamable HTTP, Request Metadata). Throws an McpError if the gateway does not
 * support the edition, or if the headers are not those that the edition requires.
 */
export function editionOf(message: Message, headers: IncomingHttpHeaders): Edition {
  const header = headers['mcp-protocol-version'];
  const meta = metaOf(message.params);
  const version = Object.hasOwn(meta, metaNames.version) ? meta[metaNames.version] : undefined;
  if (version === undefined) return withoutMeta(message, header);
  if (typeof version !== 'string') throw invalidMeta(metaNames.version, 'a version of the protocol');
  if (header !== version) throw mismatch('MCP-Protocol-Version', header, `\`_meta["${metaNames.version}"]\``, version);
  const edition = spoken(version);
  if (isOlder(edition)) return edition;
  if (!isObject(meta[metaNames.capabilities])) throw invalidMeta(metaNames.capabilities, 'an object');
  checkMirrors(message, headers);
  return edition;
}

function withoutMeta({ method }: Message, header: string | string[] | undefined): Edition {
  if (header === modernEdition) throw invalidMeta(metaNames.version, 'a version of the protocol');
  // Clients of older editions send the header only after they have agreed on a version.
  if (header === undefined && method !== 'server/discover') return olderEditions[0];
  if (header === undefined) throw mismatch('MCP-Protocol-Version', header, 'the request', modernEdition);
  return spoken(String(header));
}

/** Longest version that is repeated in an error, in characters. */
const longestShown = 100;

function spoken(version: string): Edition {
  const edition = editions.find((one) => one === version);
  if (edition !== undefined) return edition;
  const data = { supported: editions, requested: version.slice(0, longestShown) };
  throw new McpError(errorCodes.unsupportedVersion, 'Unsupported protocol version', { status: 400, data });
}

/** Checks that the headers by which proxies route requests agree with the body. */
function checkMirrors({ method, params }: Message, headers: IncomingHttpHeaders): void {
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

function metaOf({ _meta: meta }: JsonObject): JsonObject {
  return isObject(meta) ? meta : {};
}

function invalidMeta(name: string, expected: string): McpError {
  const message = `Expected \`params._meta["${name}"]\` to be ${expected}.`;
  return new McpError(errorCodes.invalidParams, message, { status: 400 });
}

function mismatch(header: string, found: string | string[] | undefined, where: string, value: string): McpError {
  const got = found === undefined ? 'it is missing' : `got ${JSON.stringify(String(found).slice(0, longestShown))}`;
  const message = `Header mismatch: expected the header ${header} to be ${JSON.stringify(value.slice(0, longestShown))} as ${where} says, but ${got}.`;
  return new McpError(errorCodes.headerMismatch, message, { status: 400 });
}
