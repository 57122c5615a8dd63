/** How far a request wants to have to do with the cache. */
export type CacheUse =
  // Answers may come from it.
  | 'normal'
  // Everything is read anew, and kept: `Cache-Control: no-cache`.
  | 'reload'
  // Everything is read anew, and nothing kept: `Cache-Control: no-store`.
  | 'none'
  // The same, and not counted either: what the gateway reads by itself for its streams, and all reads if nothing is kept.
  | 'apart';

/** What the `Cache-Control` of a request says (RFC 9111 §5.2.1); its other directives change nothing here. */
export function cacheUseOf(cacheControl: string | undefined): CacheUse {
  if (cacheControl === undefined) return 'normal';
  const directives = directivesOf(cacheControl);
  if (directives.includes('no-store')) return 'none';
  return directives.includes('no-cache') ? 'reload' : 'normal';
}

/** True if an answer forbids that it is kept (RFC 9111 §5.2.2.5). */
export function forbidsKeeping(cacheControl: string): boolean {
  return cacheControl !== '' && directivesOf(cacheControl).includes('no-store');
}

function directivesOf(cacheControl: string): readonly string[] {
  return cacheControl
    .toLowerCase()
    .split(',')
    .map((directive) => directive.trim());
}
