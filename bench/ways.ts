import { hashOf } from '../src/operation/persisted/ids.ts';

/** The ways to ask for a document that persisted.ts compares. */
export const ways = ['GET text', 'GET id', 'POST text', 'POST id'] as const;

/** One of them. */
export type Way = (typeof ways)[number];

/** Makes the arguments of `fetch` for a document asked for in one way. */
export function requestsFor(
  way: Way,
  url: string,
  query: string,
): (variables: Readonly<Record<string, unknown>>) => readonly [url: string, init: RequestInit] {
  // Compression would drown what is measured.
  const headers = { authorization: 'Bearer phx_bench', 'accept-encoding': 'identity' };
  const [name, value] = way.endsWith('id') ? ['documentId', `sha256:${hashOf(query)}`] : ['query', query];
  if (way.startsWith('GET')) {
    const start = `${url}?${name}=${encodeURIComponent(value)}&variables=`;
    return (variables) => [start + encodeURIComponent(JSON.stringify(variables)), { headers }];
  }
  const init = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' } };
  return (variables) => [url, { ...init, body: JSON.stringify({ [name]: value, variables }) }];
}
