import { UpstreamError } from './errors.ts';
import { type Noun, nouns, owners } from './nouns.ts';

// All paths have one form: /api/[<owner>/<owner's id>/]<collection>/[<id>/][<report or action>/].
// `tools/codegen/views.ts` reads the same form from the OpenAPI document.

/** The address of one row. `scope` is the id of the project or organization that owns the row; empty for projects. */
export interface Key {
  readonly noun: Noun;
  readonly scope: string;
  readonly id: string;
}

/** The collection that rows belong to. `scope` is the id of the owner; empty for projects. */
export interface Collection {
  readonly noun: Noun;
  readonly scope: string;
}

/** The id that stands for the project or organization that the key's user has open. The REST API resolves it. */
export const current = '@current';

/** True if a path of the API has `@current` in the place of an id. */
export function namesCurrent(path: string): boolean {
  return path.includes(`/${current}/`);
}

/** Equal for equal keys. */
export function keyText(key: Key): string {
  return `${key.noun}:${key.scope}:${key.id}`;
}

/** The path of a collection, with its trailing slash. */
export function collectionPath({ noun, scope }: Collection): string {
  const { owner, path } = nouns[noun];
  return owner === undefined ? `/api/${path}/` : `/api/${owners[owner].path}/${segment(scope)}/${path}/`;
}

/** The path of one row, with its trailing slash. */
export function rowPath(key: Key): string {
  return `${collectionPath(key)}${nouns[key.noun].ids === 'text' ? textSegment(key.id) : segment(key.id)}/`;
}

/** A path with those query parameters that have a value. Names and values are encoded. */
export function target(path: string, query: readonly (readonly [name: string, value: string | undefined])[]): string {
  let text = '';
  for (const [name, value] of query) {
    if (value !== undefined)
      text += `${text === '' ? '?' : '&'}${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
  }
  return path + text;
}

/** The texts that may be a path segment without encoding (RFC 3986 §3.3). */
const plainSegment = /^[\w.~:@-]{1,200}$/;

/**
 * A path segment. Throws if the text could become another path. Such a text comes from a row of the upstream, because
 * the ids of callers are checked before.
 */
function segment(text: string): string {
  if (!plainSegment.test(text) || text === '.' || text === '..') throw new UpstreamError('UPSTREAM_INVALID_RESPONSE');
  return text;
}

/** The longest id that is a text, in UTF-16 units. Percent-encoded, it has at most nine times as many bytes. */
const longestTextId = 500;

/**
 * Texts that might leave their path segment, even percent-encoded: servers decode slashes and dots, some even twice.
 */
const leavesSegment = /[/\\\p{Cc}]|%[\da-f]{2}|^\.{1,2}(?:;|$)/iu;

/**
 * True if a text can be an id: percent-encoded, it stays one path segment for every server on the way. `values` is no
 * id, because `events/values/` is another endpoint.
 */
export function isTextId(text: string): boolean {
  const isInBounds = text !== '' && text.length <= longestTextId && text.isWellFormed();
  return isInBounds && text !== 'values' && text !== current && !leavesSegment.test(text);
}

function textSegment(text: string): string {
  if (!isTextId(text)) throw new UpstreamError('UPSTREAM_INVALID_RESPONSE');
  return plainSegment.test(text) ? text : encodeURIComponent(text);
}
