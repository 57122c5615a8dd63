import { readFileSync, statSync } from 'node:fs';
import { unreadableBecause } from './error-text.ts';

/** The largest file that is read: far more bytes than settings and manifests have. */
const maxBytes = 10 * 2 ** 20;

/**
 * The text of a file. A pipe is refused before it is opened, because opening it would block the process until another
 * process writes into it. A file that is too large is refused, too. If the file cannot be read, throws the error that
 * `toError` makes of the reason; without `toError`, the error of the system.
 */
export function readTextFile(path: string, toError?: (why: string) => Error): string {
  try {
    const stats = statSync(path);
    if (!stats.isFile() && !stats.isDirectory()) throw unreadable('EFTYPE');
    if (stats.size > maxBytes) throw unreadable('EFBIG');
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw toError === undefined ? error : toError(unreadableBecause(error));
  }
}

/** An error whose code `unreadableBecause` knows. */
function unreadable(code: string): Error {
  return Object.assign(new Error(code), { code });
}
