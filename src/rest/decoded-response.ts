import { UpstreamError } from './errors.ts';
import { parseJson, refuseMany } from './json.ts';
import type { Reply } from './transport/exchange.ts';
import type { Call } from './transport/transport.ts';

/** Most objects, lists and members of objects in a reply: parsing more would keep everybody waiting. */
const mostParts = 250_000;

/** The JSON that a reply holds. */
export function jsonOf({ status, contentType, text }: Reply): unknown {
  if (/^text\/csv\b/i.test(contentType)) throw new UpstreamError('UPSTREAM_INVALID_RESPONSE', { status });
  try {
    refuseMany(text, mostParts);
    return parseJson(text);
  } catch {
    throw new UpstreamError('UPSTREAM_INVALID_RESPONSE', { status });
  }
}

/** The table that a reply holds. A proxy's error page with status 200 must not pass for one. */
export function csvOf(reply: Reply): string {
  const { status, contentType, text } = reply;
  if (/json/i.test(contentType) || isMarkup(reply)) throw new UpstreamError('UPSTREAM_INVALID_RESPONSE', { status });
  return text;
}

function isMarkup({ contentType, text }: Reply): boolean {
  return /html|xml/i.test(contentType) || text.trimStart().startsWith('<');
}

/**
 * What a write answered, undefined where it answered nothing. A delete's answer says nothing but its status; known
 * deployments send it with and without a body. A proxy's page with status 200 says nothing of a delete.
 */
export function writtenJson(call: Call, reply: Reply): unknown {
  if (reply.status === 204 || reply.text === '') return undefined;
  if (call.method !== 'DELETE') return jsonOf(reply);
  try {
    return jsonOf(reply);
  } catch (error) {
    if (isMarkup(reply)) throw error;
    return undefined;
  }
}
