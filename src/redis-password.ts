import { codeOf } from './error-text.ts';
import type { Log } from './log.ts';
import { readTextFile } from './read-text.ts';

/** A password, or why a file holds none. */
type FromFile = { readonly password: string } | { readonly fault: string };

/** The password in a file, without the newline at its end. */
function readPassword(path: string): FromFile {
  try {
    const password = readTextFile(path).replace(/\r?\n$/, '');
    return password === '' ? { fault: 'it is empty' } : { password };
  } catch (error) {
    return { fault: codeOf(error) ?? 'it cannot be read' };
  }
}

/**
 * Makes a reader of the password that a file holds now. While the file holds none, the last one that it held is returned, and
 * each new reason is logged.
 */
export function followPassword(path: string, log: Log): () => string | undefined {
  let last: string | undefined;
  let logged: string | undefined;
  return () => {
    const read = readPassword(path);
    if ('password' in read) {
      last = read.password;
      logged = undefined;
    } else if (read.fault !== logged) {
      logged = read.fault;
      log('error', 'REDIS_PASSWORD_FILE cannot be used: the password of Redis stays as it was', {
        path,
        reason: logged,
      });
    }
    return last;
  };
}
