import { type FollowedFiles, fingerprint, followFiles } from '../follow-files.ts';
import type { Log } from '../log.ts';
import { adminTokenIn } from '../settings/setting-files.ts';

/** The token of operators as it is now. */
export interface FollowedToken extends Pick<FollowedFiles, 'close' | 'reloads'> {
  readonly current: () => string;
}

/**
 * Reads the token in a file, and again when the file changes. What is wrong with it then is logged, and the last
 * token stays.
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
