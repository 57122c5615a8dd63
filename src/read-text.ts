import { readFileSync, statSync } from 'node:fs';

/** The largest file that is read, in bytes: far more than settings and manifests have. */
const maxBytes = 10 * 2 ** 20;

/** The error of a path that is no file, or of a file that is too large. `unreadableBecause` knows its code. */
class UnreadableError extends Error {
  override readonly name = 'UnreadableError';
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

/**
 * The text of a file. A pipe is refused before it is opened, because opening it would block the process until another
 * process writes into it. A file that is too large is refused, too. Errors of the system are thrown unchanged.
 */
export function readTextFile(path: string): string {
  const stats = statSync(path);
  if (!stats.isFile() && !stats.isDirectory()) throw new UnreadableError('EFTYPE');
  if (stats.size > maxBytes) throw new UnreadableError('EFBIG');
  return readFileSync(path, 'utf8');
}
