import { type Answer, type Call, ok } from './call.ts';
import type { JsonObject } from './json.ts';
import type { Owner, Records, Stored } from './records.ts';

/** The part of a list that a request asks for. */
export interface Window {
  readonly limit: number;
  readonly offset: number;
}

const defaultLimit = 100;

/** Reads `limit` and `offset`, and falls back silently if they are bad, as the known deployment does. */
export function windowOf({ query, pageCap }: Call, maximum = Number.POSITIVE_INFINITY): Window {
  const limit = naturalOf(query.limit);
  const wanted = limit === undefined || limit === 0 ? defaultLimit : limit;
  return { limit: Math.min(wanted, maximum, pageCap), offset: naturalOf(query.offset) ?? 0 };
}

function naturalOf(value: unknown): number | undefined {
  return typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : undefined;
}

/** Answers a page of what `owner` has, each object as `toRow` shows it. */
export function pageOf(call: Call, records: Records, owner: Owner, toRow: (stored: Stored) => JsonObject): Answer {
  const window = windowOf(call);
  const count = records.count(owner);
  const results = records.list(owner, window.limit, window.offset).map(toRow);
  return ok({ count, ...linksOf(call, window, count), results });
}

/** The URLs of the pages around one of a list that has `count` rows, null if there is none. */
export function linksOf(
  { url }: Call,
  { limit, offset }: Window,
  count: number,
): { readonly next: string | null; readonly previous: string | null } {
  return {
    next: offset + limit < count ? linkTo(url, limit, offset + limit) : null,
    previous: offset > 0 ? linkTo(url, limit, offset - limit) : null,
  };
}

/** The URL of another page of the same list. An offset at or before the start is left out. */
export function linkTo(url: URL, limit: number, offset: number): string {
  const link = new URL(url);
  link.searchParams.set('limit', String(limit));
  if (offset > 0) link.searchParams.set('offset', String(offset));
  else link.searchParams.delete('offset');
  return link.href;
}
