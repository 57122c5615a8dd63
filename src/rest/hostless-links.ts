import { isObject } from './values.ts';

/**
 * An answer with pages whose `next` and `previous` are queries only, as `?limit=10&offset=10`: their hosts may be internal
 * ones, and their paths are not the gateway's. Any other answer is as it came.
 */
export function withoutHosts(body: unknown): unknown {
  if (!isObject(body) || !Array.isArray(body['results'])) return body;
  const links = ['next', 'previous'].filter((name) => typeof body[name] === 'string');
  if (links.length === 0) return body;
  return { ...body, ...Object.fromEntries(links.map((name) => [name, queryOf(String(body[name]))])) };
}

/** The query with which an answer without hosts goes on; undefined at the end, and if it is not for URLs. */
export function nextQueryOf(body: unknown): string | undefined {
  const next = isObject(body) && Array.isArray(body['results']) ? body['next'] : undefined;
  return typeof next === 'string' && /^\?[!-~]{1,1000}$/.test(next) ? next : undefined;
}

function queryOf(link: string): string | null {
  const query = /\?[^#]+/.exec(link)?.[0];
  return query === undefined || query.includes('//') ? null : query;
}
