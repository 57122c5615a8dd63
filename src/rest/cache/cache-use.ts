/** The ways in which a request may use the cache. */
export type CacheUse =
  // Answers may come from it.
  | 'normal'
  // Everything is read anew, and kept: `Cache-Control: no-cache`.
  | 'reload'
  // Everything is read anew, and nothing kept: `Cache-Control: no-store`.
  | 'none'
  // As `none`, and not counted either: reads that the gateway makes itself for its streams, and all reads if nothing is
  // kept.
  | 'uncounted';

/** The use that the `Cache-Control` of a request asks for (RFC 9111 §5.2.1). Its other directives change nothing here. */
export function cacheUseOf(cacheControl: string | undefined): CacheUse {
  if (cacheControl === undefined) return 'normal';
  const directives = directivesOf(cacheControl);
  if (directives.includes('no-store')) return 'none';
  return directives.includes('no-cache') ? 'reload' : 'normal';
}

/** True if the `Cache-Control` of an answer forbids keeping it (RFC 9111 §5.2.2.5). */
export function forbidsKeeping(cacheControl: string): boolean {
  return cacheControl !== '' && directivesOf(cacheControl).includes('no-store');
}

function directivesOf(cacheControl: string): readonly string[] {
  return cacheControl
    .toLowerCase()
    .split(',')
    .map((directive) => directive.trim());
}
