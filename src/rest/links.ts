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

function queryOf(link: string): string | null {
  const query = /\?[^#]+/.exec(link)?.[0];
  return query === undefined || query.includes('//') ? null : query;
}
