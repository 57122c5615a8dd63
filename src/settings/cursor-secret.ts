import { createHash } from 'node:crypto';
import { optional } from './reader.ts';
import { Fault, nothing } from './settings.ts';

/**
 * The fewest characters of a secret: shorter ones can be found by trying. A client that can sign cursors can ask for
 * positions that no page returned.
 */
const shortest = 16;

/** The setting of the secret that signs cursors. */
export const cursorSecret = optional('CURSOR_SECRET', {
  fallback: undefined,
  meaning: 'Secret that signs the cursors of pages. Default: made from UPSTREAM_URL',
  expected: `a secret that cannot be guessed, of at least ${shortest} characters`,
  shown: nothing,
  read: (source: string) => {
    if (source.length < shortest) throw new Fault(`it has ${source.length}`);
    return source;
  },
});

/** The secret that signs cursors. Replicas with the same upstream have the same secret. */
export function cursorSecretOf(secret: string | undefined, upstreamUrl: string): string {
  return secret ?? createHash('sha256').update(`cursors of ${upstreamUrl}`).digest('base64url');
}
