import { type OperationResult, textOf } from '../operation/operation-result.ts';
import { type RateLimit, scarcestOf } from '../operation/rate-limits.ts';
import { ruleOf } from '../operation/request-error.ts';
import type { MediaType } from './negotiation.ts';

/** A complete HTTP response. */
export interface HttpAnswer {
  readonly status: number;
  /** An object that belongs to this answer: the sender may add to it. */
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** Headers of every GraphQL answer, errors included. */
export const answerHeaders = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } as const;

/**
 * Headers of every stream of messages. Proxies must not compress the stream, because compressors wait for more input
 * and so delay messages.
 */
export const streamHeaders = {
  ...answerHeaders,
  'cache-control': `${answerHeaders['cache-control']}, no-transform`,
  'x-accel-buffering': 'no',
} as const;

const contentTypes = {
  'application/json': 'application/json; charset=utf-8',
  'application/graphql-response+json': 'application/graphql-response+json; charset=utf-8',
} as const;

/** The HTTP response of a result. */
export function toAnswer(result: OperationResult, mediaType: MediaType): HttpAnswer {
  const headers: Record<string, string> = { 'content-type': contentTypes[mediaType], ...answerHeaders };
  if (result.maxAge !== undefined) headers['cache-control'] = `private, max-age=${result.maxAge}`;
  // The tag is weak, because the answer has other bytes if it is compressed.
  if (result.tag !== undefined) headers['etag'] = `W/"${result.tag}"`;
  if (result.errors !== undefined) for (const { refusal } of result.errors) Object.assign(headers, refusal?.headers);
  if (result.rateLimits !== undefined)
    Object.assign(headers, rateLimitHeaders(result.rateLimits, headers['retry-after']));
  return { status: statusOf(result, mediaType), headers, body: textOf(result) };
}

/**
 * The status of a result: 200 if something was executed, otherwise the status of the error. If the client takes
 * `application/json`, errors of the document have status 200 (GraphQL over HTTP §6.4.1); with
 * `application/graphql-response+json` they never have that status (§6.4.2).
 */
function statusOf({ data, errors = [] }: OperationResult, mediaType: MediaType): number {
  if (data !== undefined || errors.length === 0) return 200;
  const statuses = errors.map(({ extensions, refusal }) => {
    if (extensions['code'] === 'INTERNAL_SERVER_ERROR') return 500;
    // An error without a refusal says that the variables do not fit the document.
    const { status, lenient } = ruleOf(refusal?.kind ?? 'invalidDocument');
    return lenient === true && mediaType === 'application/json' ? 200 : status;
  });
  return Math.max(...statuses);
}

/**
 * The headers for the rate limits of an operation, as structured fields. Each window is a policy. For each surface, the
 * window with the least left is reported. `retryAfter` is the `Retry-After` of the same answer. No window is reported
 * to end later than that.
 * https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/11/
 */
export function rateLimitHeaders(windows: readonly RateLimit[], retryAfter?: string): Record<string, string> {
  if (windows.length === 0) return {};
  const latest = retryAfter === undefined ? Number.POSITIVE_INFINITY : Number(retryAfter);
  const policies = windows.map((window) => `"${nameOf(window)}";q=${window.limit};w=${window.window}`);
  const limits = scarcestOf(windows).map(
    (window) => `"${nameOf(window)}";r=${window.remaining};t=${Math.min(window.resetsIn, latest)}`,
  );
  return { 'ratelimit-policy': policies.join(', '), ratelimit: limits.join(', ') };
}

function nameOf({ surface, window }: RateLimit): string {
  return `${surface}-${window}s`;
}
