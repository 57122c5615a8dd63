import { createHash } from 'node:crypto';

/** Shorter secrets can be tried out. */
const shortest = 16;

/** What to say of a secret that can be guessed: a client that can sign cursors can ask for positions that no page gave. */
export function weakSecretWarnings(secret: string | undefined, upstreamUrl: string | undefined): readonly string[] {
  // The embedded workspace has nothing to hide.
  if (upstreamUrl === undefined || (secret !== undefined && secret.length >= shortest)) return [];
  const what =
    secret === undefined
      ? 'not set, so cursors are signed with a secret that follows from UPSTREAM_URL'
      : `shorter than ${shortest} characters`;
  return [`CURSOR_SECRET: expected a secret that cannot be guessed, but it is ${what}`];
}

/** The secret that cursors are signed with: replicas of the same upstream have the same. */
export function cursorSecretOf(secret: string | undefined, upstreamUrl: string): string {
  return secret ?? createHash('sha256').update(`cursors of ${upstreamUrl}`).digest('base64url');
}
