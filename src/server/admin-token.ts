import { type FollowedFiles, fingerprint, followFiles } from '../follow-files.ts';
import type { Log } from '../log.ts';
import { adminTokenIn } from '../settings/setting-files.ts';

/** The current token of operators. */
export interface FollowedToken extends Pick<FollowedFiles, 'close' | 'reloads'> {
  readonly current: () => string;
}

/**
 * Reads the token in a file, and again when the file changes. A token that then cannot be used is logged, and the
 * previous one stays.
 */
export function followAdminToken(path: string, log: Log): FollowedToken {
  const since = fingerprint([path]);
  let token = adminTokenIn(path);
  const read = (): void => {
    token = adminTokenIn(path);
  };
  const name = 'tokens of ADMIN_TOKEN_FILE';
  const { close, reloads } = followFiles({ name, patterns: [path], since, read, log });
  return { current: () => token, close, reloads };
}
