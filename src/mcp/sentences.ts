import type { PublicError } from '../operation/errors.ts';
import { isObject } from '../rest/values.ts';

/** Advice for agents about errors, by code. Errors with other codes have the advice in their messages. */
const advice: Readonly<Record<string, string>> = {
  UPSTREAM_TIMEOUT: 'Ask again, or for less.',
  UPSTREAM_UNAVAILABLE: 'Try again later.',
  OVERLOADED: 'Try again later.',
  AUTHENTICATION_UNAVAILABLE: 'Try again later.',
  CLIENT_LEFT: 'Try again.',
  INTERNAL_SERVER_ERROR: 'Try again later, and tell who runs the gateway if it happens again.',
};

/** Most errors that an agent is told. */
const mostErrors = 5;

/** Describes errors for an agent: a sentence or two for each, with advice. */
export function sentencesOf(errors: readonly PublicError[], suggestion: string | undefined): string {
  const told = errors.slice(0, mostErrors).map((error) => sentenceOf(error, suggestion));
  const further = errors.length - told.length;
  return [...new Set(told), ...(further > 0 ? [`There are ${further} further errors.`] : [])].join('\n');
}

function sentenceOf({ message, path, extensions, http }: PublicError, suggestion: string | undefined): string {
  const { code, retryAfter = upstreamOf(extensions)['retryAfter'] } = extensions;
  const where = path === undefined || path.length === 0 ? '' : `\`${path.join('.')}\`: `;
  const seconds = typeof retryAfter === 'number' ? retryAfter : Number(http?.headers?.['retry-after']);
  const told = `${where}${message}${rejections(extensions)}`;
  if (Number.isFinite(seconds)) return `${told} Try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`;
  const next = code === 'COST_LIMIT_EXCEEDED' ? suggestion : advice[String(code)];
  return next === undefined ? told : `${told} ${next}`;
}

/** The reasons why the API rejected fields of an input. */
function rejections(extensions: PublicError['extensions']): string {
  const { errors } = upstreamOf(extensions);
  if (!Array.isArray(errors)) return '';
  const each = errors.flatMap((error: unknown) => {
    if (!isObject(error) || typeof error['message'] !== 'string') return [];
    const { field } = error;
    return [typeof field === 'string' ? `\`${field}\`: ${error['message']}` : error['message']];
  });
  return each.length === 0 ? '' : ` ${each.join(' ')}`;
}

function upstreamOf({ upstream }: PublicError['extensions']): Readonly<Record<string, unknown>> {
  return isObject(upstream) ? upstream : {};
}
