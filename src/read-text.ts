import { readFileSync, statSync } from 'node:fs';

/** The largest file that is read, in bytes: far more than settings and manifests have. */
const maxBytes = 10 * 2 ** 20;

/** A path that names something else than a file of text. Its code is one that `unreadableBecause` knows. */
class UnreadableError extends Error {
  override readonly name = 'UnreadableError';
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

/**
 * The text of a file. Opening a pipe would hold up the whole process until another one writes into it. So anything but
 * a file is refused first, and so is a file that is too large. Errors of the system are thrown as they are.
 */
export function readTextFile(path: string): string {
  const stats = statSync(path);
  if (!stats.isFile() && !stats.isDirectory()) throw new UnreadableError('EFTYPE');
  if (stats.size > maxBytes) throw new UnreadableError('EFBIG');
  return readFileSync(path, 'utf8');
}
