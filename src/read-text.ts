import { readFileSync, statSync } from 'node:fs';

/** The largest file that is read: far more bytes than settings and manifests have. */
const maxBytes = 10 * 2 ** 20;

/**
 * The text of a file. A pipe is refused before it is opened, because opening it would block the process until another
 * process writes into it. A file that is too large is refused, too. Errors of the system are thrown unchanged.
 */
export function readTextFile(path: string): string {
  const stats = statSync(path);
  if (!stats.isFile() && !stats.isDirectory()) throw unreadable('EFTYPE');
  if (stats.size > maxBytes) throw unreadable('EFBIG');
  return readFileSync(path, 'utf8');
}

/** An error whose code `unreadableBecause` knows. */
function unreadable(code: string): Error {
  return Object.assign(new Error(code), { code });
}
