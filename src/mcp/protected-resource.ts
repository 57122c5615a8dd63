import type { IncomingMessage, ServerResponse } from 'node:http';
import { answerHeaders } from '../http/response.ts';
import { protocolHeaders } from './message.ts';

/** The endpoint of agents, as tokens and metadata name it: the protected resource of RFC 9728. */
export interface ProtectedResource {
  /** The URL of `/mcp` as clients reach it. */
  readonly url: string;
  /** The URL of its metadata, as clients reach it. */
  readonly metadataUrl: string;
  /** The paths at which requests for the metadata may arrive. A proxy may remove a prefix or keep it. */
  readonly metadataPaths: readonly string[];
  readonly metadata: string;
}

const wellKnown = '/.well-known/oauth-protected-resource';

export const mcpPath = '/mcp';

/** The protected resource of a gateway that clients reach under `publicUrl`, for tokens of an issuer. */
export function protectedResourceOf(publicUrl: string, issuer: string): ProtectedResource {
  const resource = new URL(`${publicUrl}${mcpPath}`);
  // RFC 9728 §3.1: the well-known part stands between host and path.
  const path = `${wellKnown}${resource.pathname}`;
  const url = resource.href;
  const metadata = { resource: url, authorization_servers: [issuer], bearer_methods_supported: ['header'] };
  return {
    url,
    metadataUrl: `${resource.origin}${path}`,
    metadataPaths: [...new Set([`${wellKnown}${mcpPath}`, path])],
    metadata: JSON.stringify(metadata),
  };
}

/** The value of the header `WWW-Authenticate` of a refusal (RFC 6750 §3, RFC 9728 §5.1). */
export function challengeOf({ metadataUrl }: ProtectedResource, isInvalid: boolean): string {
  return `Bearer ${isInvalid ? 'error="invalid_token", ' : ''}resource_metadata="${metadataUrl}"`;
}

/** Answers with the metadata. Pages of any origin may read it, and may send the headers of the protocol. */
export function answerMetadata(metadata: string, { method = '' }: IncomingMessage, response: ServerResponse): void {
  const headers = { 'access-control-allow-origin': '*', ...answerHeaders };
  if (method === 'OPTIONS') {
    response.writeHead(204, { ...headers, 'access-control-allow-headers': protocolHeaders.join(', ') }).end();
  } else if (method !== 'GET' && method !== 'HEAD') {
    response.writeHead(405, { allow: 'GET', ...headers }).end();
  } else {
    const content = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(metadata) };
    response.writeHead(200, { ...headers, ...content }).end(metadata);
  }
}
