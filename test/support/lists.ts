import { type Json, type JsonObject, type Reply, reply } from './replies.ts';
import type { Handler, UpstreamRequest } from './routes.ts';

/** Differences of a list from the plain one. */
export interface ListOptions {
  /** Largest page, whatever `limit` says. */
  readonly cap?: number;
  /** Leaves `count` out. */
  readonly omitCount?: boolean;
  /** Scheme and host of `next` and `previous`, by default those of the upstream. */
  readonly origin?: string;
}

const defaultLimit = 100;

/** A list endpoint by `limit` and `offset`. `rows` is read at each request: what is added to it later is there. */
export function listOf(rows: readonly JsonObject[], options: ListOptions = {}): Handler {
  return (request) => {
    const limit = limitOf(request, options);
    const offset = wholeNumber(request.query.get('offset')) ?? 0;
    const at = (start: number): string => linkTo(request, options, { limit: `${limit}`, offset: `${start}` });
    return {
      ...(options.omitCount !== true && { count: rows.length }),
      next: offset + limit < rows.length ? at(offset + limit) : null,
      previous: offset > 0 ? at(Math.max(0, offset - limit)) : null,
      results: rows.slice(offset, offset + limit),
    };
  };
}

/**
 * The events endpoint: `rows` newest first, no count, and a `next` that keeps the query and adds `before`, the time of
 * the page's last row, so that following it needs `offset` dropped.
 */
export function eventsOf(rows: readonly JsonObject[], options: ListOptions = {}): Handler {
  return (request) => {
    const [before, after] = ['before', 'after'].map((name) => request.query.get(name));
    const between = rows.filter(({ timestamp }) => isEarlier(timestamp, before) && isEarlier(after, timestamp));
    const offset = wholeNumber(request.query.get('offset')) ?? 0;
    const end = offset + limitOf(request, options);
    const results = between.slice(offset, end);
    const last = results.at(-1)?.['timestamp'];
    const next = end < between.length && typeof last === 'string' ? linkTo(request, options, { before: last }) : null;
    return { next, results };
  };
}

/** Answers with each of `answers` in turn, then with the last one for ever. */
export function inTurn(...answers: readonly (Json | Reply)[]): Handler {
  let next = 0;
  return () => {
    const answer = answers[Math.min(next, answers.length - 1)];
    next += 1;
    return answer ?? reply({ status: 500 });
  };
}

function limitOf({ query }: UpstreamRequest, { cap = Infinity }: ListOptions): number {
  const limit = wholeNumber(query.get('limit')) ?? 0;
  return Math.min(limit === 0 ? defaultLimit : limit, cap);
}

/** Like the real services, takes what is no whole number for absent. */
function wholeNumber(text: string | null): number | undefined {
  return text !== null && /^\d+$/.test(text) ? Number(text) : undefined;
}

function linkTo(request: UpstreamRequest, { origin }: ListOptions, changes: Record<string, string>): string {
  const link = new URL(request.target, origin ?? `http://${request.headers.host}`);
  for (const [name, value] of Object.entries(changes)) link.searchParams.set(name, value);
  return link.href;
}

/** Unknown times are no bound. */
function isEarlier(one: Json | undefined, other: Json | undefined): boolean {
  if (typeof one !== 'string' || typeof other !== 'string') return true;
  return Date.parse(one) < Date.parse(other);
}
