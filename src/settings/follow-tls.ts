import { isDeepStrictEqual } from 'node:util';
import { messageOf } from '../error-text.ts';
import { type Followed, fingerprint, followFiles } from '../follow-files.ts';
import type { Log } from '../log.ts';
import type { Route } from '../rest/transport/pools.ts';
import { readTls, type TlsFiles } from './tls-settings.ts';

/** The certificates and keys to follow. */
export interface FollowTlsOptions {
  readonly files: TlsFiles;
  /** The route with what the files held when they were first read. */
  readonly route: Route;
  /** Takes the route with what the files hold now. */
  readonly reroute: (route: Route) => void;
  readonly log: Log;
}

/**
 * Follows the files of certificates and keys. They are read here once more, for a worker may start long after the settings
 * were read. Files that cannot be used, or do not fit each other, are logged and change nothing.
 */
export function followTls({ files, route, reroute, log }: FollowTlsOptions): Followed {
  const patterns = Object.values(files);
  if (patterns.length === 0) return { reload: () => Promise.resolve(), close: () => undefined };
  const since = fingerprint(patterns);
  let current = route;
  const read = (): boolean | undefined => {
    try {
      const next = { ...current, ...readTls(files) };
      if (isDeepStrictEqual(next, current)) return false;
      reroute(next);
      current = next;
      return true;
    } catch (error) {
      const reason = messageOf(error);
      log('error', `certificates for the upstream stay as they were: ${reason}`);
      return undefined;
    }
  };
  const readAgain = (): void => {
    const changed = read();
    if (changed !== undefined) log('info', 'certificates for the upstream read again', { changed });
  };
  read();
  return followFiles({ name: 'certificates', patterns, since, read: readAgain, log });
}
