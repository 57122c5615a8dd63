import { UpstreamError } from './errors.ts';

/** The nouns that the REST API has rows of. An organization is no row: it is only its id. */
export type Kind = 'Project' | 'Dashboard' | 'Event' | 'Plugin';

/** What one row is addressed by: the project or organization that owns it (empty for projects) and its own id. */
export interface Key {
  readonly kind: Kind;
  readonly scope: string;
  readonly id: string;
}

/** The collection that a row belongs to. */
export interface Collection {
  readonly kind: Kind;
  readonly scope: string;
}

/** `Key` as text, to compare and look up. */
export function keyText(key: Key): string {
  return `${key.kind}:${key.scope}:${key.id}`;
}

/** The path of a collection, with its trailing slash. */
export function collectionPath({ kind, scope }: Collection): string {
  switch (kind) {
    case 'Project':
      return '/api/projects/';
    case 'Dashboard':
      return `/api/projects/${segment(scope)}/dashboards/`;
    case 'Event':
      return `/api/projects/${segment(scope)}/events/`;
    case 'Plugin':
      return `/api/organizations/${segment(scope)}/plugins/`;
  }
}

/** The path of one row, with its trailing slash. */
export function rowPath(key: Key): string {
  return `${collectionPath(key)}${segment(key.id)}/`;
}

/** A path with the query parameters that have a value, in the order given, each name and value encoded once. */
export function target(path: string, query: readonly (readonly [name: string, value: string | undefined])[]): string {
  let text = '';
  for (const [name, value] of query) {
    if (value !== undefined)
      text += `${text === '' ? '?' : '&'}${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
  }
  return path + text;
}

/**
 * A path segment, refused where it could become another path. A caller's ids are checked with a proper message long
 * before; what arrives here is an id that an upstream's row holds.
 */
function segment(text: string): string {
  if (!/^[\w.~:@-]{1,200}$/.test(text) || text === '.' || text === '..')
    throw new UpstreamError('UPSTREAM_INVALID_RESPONSE');
  return text;
}
