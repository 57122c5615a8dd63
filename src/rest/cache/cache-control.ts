import type { Reuse } from '../epochs.ts';

/** The reuse that the `Cache-Control` of a request asks for (RFC 9111 §5.2.1). Other directives are ignored. */
export function reuseOf(cacheControl: string | undefined): Reuse {
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
