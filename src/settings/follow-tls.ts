import { isDeepStrictEqual } from 'node:util';
import { messageOf } from '../error-text.ts';
import { type Followed, fingerprint, followFiles, type Reloads } from '../follow-files.ts';
import type { Log } from '../log.ts';
import type { Route } from '../rest/transport/connect.ts';
import { SettingsReader } from './reader.ts';
import { firstExpiryOf, readTls, type TlsFiles, tlsSettings } from './tls-settings.ts';

const name = 'certificates for the upstream';

/** The certificates and keys to follow. */
export interface FollowTlsOptions {
  readonly files: TlsFiles;
  /** The route with the contents of the files when they were first read. */
  readonly route: Route;
  /** Takes the route with the current contents of the files. */
  readonly reroute: (route: Route) => void;
  readonly log: Log;
}

/** Certificates that are read again when their files change. */
export interface FollowedTls extends Followed {
  /** Undefined without files. */
  readonly reloads: Readonly<Reloads> | undefined;
  /** The time at which the first certificate of each setting expires, in seconds since 1970. */
  readonly expiries: () => ReadonlyMap<string, number>;
}

/**
 * Follows the files of certificates and keys. The files are read again at once, because a worker may start long after the
 * settings were read. Files that cannot be used or do not fit each other are logged and change nothing.
 */
export function followTls({ files, route, reroute, log }: FollowTlsOptions): FollowedTls {
  const patterns = Object.values(files);
  if (patterns.length === 0)
    return { expiries: () => new Map(), reloads: undefined, reload: () => Promise.resolve(), close: () => undefined };
  const since = fingerprint(patterns);
  let current = route;
  let expiries = expiriesOf(route);
  const takeChanges = (): boolean => {
    const reader = new SettingsReader(files);
    const next = { ...current, ...readTls(reader) };
    reader.finish();
    if (isDeepStrictEqual(next, current)) return false;
    reroute(next);
    current = next;
    expiries = expiriesOf(next);
    return true;
  };
  const read = (): void => log('info', `${name} read again`, { changed: takeChanges() });
  try {
    takeChanges();
  } catch (error) {
    log('error', `${name} stay as they were: ${messageOf(error)}`);
  }
  return { ...followFiles({ name, patterns, since, read, log }), expiries: () => expiries };
}

function expiriesOf({ authorities, client }: Route): ReadonlyMap<string, number> {
  const expiries = new Map<string, number>();
  if (authorities !== undefined) expiries.set(tlsSettings.authorities.name, firstExpiryOf(authorities));
  if (client !== undefined) expiries.set(tlsSettings.certificate.name, firstExpiryOf(client.certificate));
  return expiries;
}
