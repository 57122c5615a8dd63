import { readFileSync } from 'node:fs';
import { codeOf } from '../error-text.ts';
import { type FollowedFiles, fingerprint, followFiles } from '../follow-files.ts';
import type { Log } from '../log.ts';
import { ConfigError } from '../settings/settings.ts';

/** Fewer characters could be guessed. */
const leastLength = 32;

/** The token of operators as it is now. */
export interface FollowedToken extends Pick<FollowedFiles, 'close' | 'reloads'> {
  readonly current: () => string;
}

/**
 * Reads the token in a file, and again when the file changes. Throws a ConfigError if there is none at the start; later
 * what is wrong is logged, and the last token stays.
 */
export function followAdminToken(path: string, log: Log): FollowedToken {
  const since = fingerprint([path]);
  let token = readToken(path);
  const read = (): void => {
    token = readToken(path);
  };
  const name = 'tokens of ADMIN_TOKEN_FILE';
  const { close, reloads } = followFiles({ name, patterns: [path], since, read, log });
  return { current: () => token, close, reloads };
}

/** The message neither quotes the file nor its path: someone may have put the token in place of the path. */
function readToken(path: string): string {
  const token = textOf(path).trim();
  if (/^[\x21-\x7e]+$/.test(token) && token.length >= leastLength) return token;
  throw new ConfigError(
    `ADMIN_TOKEN_FILE: expected a file with one token of at least ${leastLength} characters of ASCII without blanks, but its file holds ${token === '' ? 'none' : 'another text'}`,
  );
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError(`ADMIN_TOKEN_FILE: the file cannot be read (${codeOf(error) ?? 'unknown'})`, {
      cause: error,
    });
  }
}
