import { isObject } from './values.ts';

/**
 * An answer with pages whose `next` and `previous` are only queries, such as `?limit=10&offset=10`: their hosts may be
 * internal, and their paths are not the gateway's. Other answers stay unchanged.
 */
export function withoutHosts(body: unknown): unknown {
  if (!isObject(body) || !Array.isArray(body['results'])) return body;
  const links = ['next', 'previous'].filter((name) => typeof body[name] === 'string');
  if (links.length === 0) return body;
  return { ...body, ...Object.fromEntries(links.map((name) => [name, queryOf(String(body[name]))])) };
}

/** The query by which an answer without hosts goes on; undefined at the end, or if it does not fit a URL. */
export function nextQueryOf(body: unknown): string | undefined {
  const next = isObject(body) && Array.isArray(body['results']) ? body['next'] : undefined;
  return typeof next === 'string' && /^\?[!-~]{1,1000}$/.test(next) ? next : undefined;
}

function queryOf(link: string): string | null {
  const query = /\?[^#]+/.exec(link)?.[0];
  return query === undefined || query.includes('//') ? null : query;
}
