import type { DocumentNode } from 'graphql';
import type { PublicError } from './errors.ts';
import { stringifyResult } from './stringify.ts';

/** What became of an operation. Without `data` nothing was executed. */
export interface OperationResult {
  readonly data?: unknown;
  readonly errors?: readonly PublicError[] | undefined;
  readonly extensions?: Readonly<Record<string, unknown>> | undefined;
  /** How long the client may cache the answer, in seconds; undefined: not at all. */
  readonly maxAge?: number;
  /** What was executed; it is not answered. */
  readonly document?: DocumentNode;
  /** Whether its document is listed. */
  readonly listed?: boolean;
  /** The most bytes that the text of its data can have; undefined for results that are small in any case. */
  readonly mostBytes?: number;
  /** Its JSON text, kept once it is made: one result may be the answer of many. */
  text?: string | undefined;
}

/** The media types in which a result is answered (GraphQL over HTTP §4.1). */
export type MediaType = 'application/json' | 'application/graphql-response+json';

/** A complete HTTP response. */
export interface HttpAnswer {
  readonly status: number;
  /** Its own: who sends it may add to them. */
  readonly headers: Record<string, string>;
  readonly body: string;
}

const mediaTypes: readonly MediaType[] = ['application/json', 'application/graphql-response+json'];

/** What clients like best by their `Accept`: a gateway meets the same few. */
const remembered = new Map<string, MediaType>();
const mostRemembered = 100;
const longestRemembered = 200;

/** The media type that a client likes best, of equal ones that which it names first; undefined where it takes neither. */
export function negotiate(accept: string | undefined): MediaType | undefined {
  if (accept === undefined || accept === '' || accept === 'application/json' || accept === '*/*')
    return 'application/json';
  const known = remembered.get(accept);
  if (known !== undefined) return known;
  const best = bestOf(accept);
  if (best === undefined || accept.length > longestRemembered) return best;
  if (remembered.size >= mostRemembered) remembered.clear();
  remembered.set(accept, best);
  return best;
}

function bestOf(accept: string): MediaType | undefined {
  const ranges = accept.toLowerCase().split(',').map(rangeOf);
  let best: Range & { readonly mediaType?: MediaType } = { name: '', quality: 0, place: 0 };
  for (const mediaType of mediaTypes) {
    const range = rangeFor(mediaType, ranges);
    if (range === undefined || range.quality < best.quality || range.quality === 0) continue;
    if (range.quality > best.quality || range.place < best.place) best = { ...range, mediaType };
  }
  return best.mediaType;
}

/** One item of an `Accept` header (RFC 9110 §12.5.1). */
interface Range {
  readonly name: string;
  readonly quality: number;
  readonly place: number;
}

/** The media range; one that asks for another charset than UTF-8 takes nothing of ours. */
function rangeOf(item: string, place: number): Range {
  const [name = '', ...parameters] = item.split(';').map((part) => part.trim());
  const valueOf = (key: string): string | undefined =>
    parameters.find((parameter) => parameter.startsWith(`${key}=`))?.slice(key.length + 1);
  const charset = valueOf('charset')?.replaceAll('"', '') ?? 'utf-8';
  const quality = Number(valueOf('q') ?? 1);
  return { name: charset === 'utf-8' ? name : '', quality: quality <= 1 ? quality : 1, place };
}

/** The most specific range decides. */
function rangeFor(mediaType: MediaType, ranges: readonly Range[]): Range | undefined {
  const named = (name: string): Range | undefined => ranges.find((range) => range.name === name);
  return named(mediaType) ?? named('application/*') ?? named('*/*');
}

/** Headers of every GraphQL answer, errors included. */
export const answerHeaders = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } as const;

const contentTypes = {
  'application/json': 'application/json; charset=utf-8',
  'application/graphql-response+json': 'application/graphql-response+json; charset=utf-8',
} as const;

/** The HTTP response of a result. */
export function toAnswer(result: OperationResult, mediaType: MediaType): HttpAnswer {
  const headers: Record<string, string> = { 'content-type': contentTypes[mediaType], ...answerHeaders };
  if (result.maxAge !== undefined) headers['cache-control'] = `private, max-age=${result.maxAge}`;
  if (result.errors !== undefined) for (const { http } of result.errors) Object.assign(headers, http?.headers);
  result.text ??= stringifyResult(result);
  return { status: statusOf(result, mediaType), headers, body: result.text };
}

/**
 * 200 once something was executed. Before that the status of the error: where the client takes `application/json`,
 * errors of the document are 200 (GraphQL over HTTP §6.4.1), with `application/graphql-response+json` never (§6.4.2).
 */
function statusOf({ data, errors = [] }: OperationResult, mediaType: MediaType): number {
  if (data !== undefined || errors.length === 0) return 200;
  const statuses = errors.map(({ extensions, http }) => {
    if (extensions['code'] === 'INTERNAL_SERVER_ERROR') return 500;
    const { status = 400, spec = false } = http ?? { spec: true };
    return spec && mediaType === 'application/json' ? 200 : status;
  });
  return Math.max(...statuses);
}
