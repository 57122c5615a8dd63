import { UpstreamError } from './errors.ts';
import { parseJson, refuseMany } from './json.ts';
import type { DecodedResponse } from './transport/decode-response.ts';

/** The maximum number of objects, lists and members in a response: parsing more would keep all clients waiting. */
const mostValues = 250_000;

/** The JSON that a response holds. */
export function jsonOf({ status, headers, text }: DecodedResponse): unknown {
  if (/^text\/csv\b/i.test(headers['content-type'] ?? ''))
    throw new UpstreamError('UPSTREAM_INVALID_RESPONSE', { status });
  try {
    refuseMany(text, mostValues);
    return parseJson(text);
  } catch {
    throw new UpstreamError('UPSTREAM_INVALID_RESPONSE', { status });
  }
}

/** Throws for JSON and for markup, such as a proxy's error page with status 200. */
function csvOf(response: DecodedResponse): string {
  const { status, headers, text } = response;
  if (/json/i.test(headers['content-type'] ?? '') || isMarkup(response))
    throw new UpstreamError('UPSTREAM_INVALID_RESPONSE', { status });
  return text;
}

function isMarkup({ headers, text }: DecodedResponse): boolean {
  return /html|xml/i.test(headers['content-type'] ?? '') || text.trimStart().startsWith('<');
}

/** The formats of reads: the `Accept` header, and the decoder of answers. */
export const readFormats = {
  json: { accept: 'application/json', decode: jsonOf },
  csv: { accept: 'text/csv', decode: csvOf },
} as const;

/** The format of a read: JSON, or CSV. The target of a CSV read has `format=csv`. */
export type ReadFormat = keyof typeof readFormats;

/** The JSON that a write answered; undefined if it answered nothing. */
export function writtenJson(response: DecodedResponse): unknown {
  return response.status === 204 || response.text === '' ? undefined : jsonOf(response);
}

/**
 * The JSON that a delete answered; undefined if the body is empty or not JSON. Only the status matters: the hosted
 * service answers with and without a body. Throws for a proxy's page with status 200, which is no answer to a delete.
 */
export function deletedJson(response: DecodedResponse): unknown {
  try {
    return writtenJson(response);
  } catch (error) {
    if (isMarkup(response)) throw error;
    return undefined;
  }
}
