import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import { codeOf, messageOf } from '../error-text.ts';
import { type Followed, fingerprint, followFiles, type Reloads } from '../follow-files.ts';
import type { Log } from '../log.ts';
import type { Route } from '../rest/transport/connect.ts';
import { optional, SettingsReader } from './reader.ts';
import { certificatesIn, keyFile, pemFile } from './setting-files.ts';

/** Settings of TLS to the upstream: the trusted authorities, and the gateway's client certificate. */
export const tlsSettings = {
  authorities: optional('UPSTREAM_CA', pemFile('PEM file with more certificate authorities for the upstream')),
  certificate: optional(
    'UPSTREAM_CLIENT_CERT',
    pemFile('PEM file with the client certificate, then its intermediate certificates'),
  ),
  key: optional('UPSTREAM_CLIENT_KEY', keyFile('PEM file with the private key of UPSTREAM_CLIENT_CERT')),
};

/** The paths of these settings, by the names of their variables. */
export type TlsFiles = Readonly<Record<string, string>>;

/** The paths that an environment names. */
export function tlsFilesOf({ environment }: SettingsReader): TlsFiles {
  const names = Object.values(tlsSettings).map(({ name }) => name);
  const files = names.map((name) => [name, environment[name] ?? ''] as const);
  return Object.freeze(Object.fromEntries(files.filter(([, path]) => path !== '')));
}

/**
 * Reads the current contents of the files. A file that cannot be used is reported as a fault, and so is a key of another
 * certificate.
 */
export function readTls(reader: SettingsReader): Pick<Route, 'authorities' | 'client'> {
  const { authorities, certificate, key } = tlsSettings;
  const hasCertificate = reader.isSet(certificate.name);
  const hasKey = reader.isSet(key.name);
  const trusted = { authorities: reader.read(authorities) };
  if (!hasCertificate && !hasKey) return trusted;
  const pem = reader.need(certificate, `${key.name} is set`);
  const keyPem = reader.need(key, `${certificate.name} is set`);
  if (pem === undefined || keyPem === undefined || !isPair(pem, keyPem, reader)) return trusted;
  return { ...trusted, client: { certificate: pem, key: keyPem } };
}

function isPair(certificate: string, key: string, reader: SettingsReader): boolean {
  const { certificate: first, key: second } = tlsSettings;
  if (!new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))) {
    reader.fault(
      second.name,
      `expected the key of the first certificate of ${first.name}, but the file holds the key of another`,
    );
    return false;
  }
  try {
    createSecureContext({ cert: certificate, key });
    return true;
  } catch (error) {
    reader.fault(first.name, `expected a certificate that OpenSSL takes, but got ${codeOf(error) ?? 'an error'}`);
    return false;
  }
}

/**
 * The route to a server other than the upstream. At each use it has the authorities that the file then holds. A file
 * that cannot be used changes nothing.
 */
export function currentRoute(route: Route, files: TlsFiles): () => Route {
  const reader = new SettingsReader(files);
  let current = route;
  return () => {
    const authorities = reader.read(tlsSettings.authorities);
    if (authorities !== undefined) current = { ...current, authorities };
    return current;
  };
}

/** The time at which the first of these PEM certificates expires, in seconds since 1970. */
function firstExpiryOf(pem: string): number {
  return Math.min(...certificatesIn(pem).map(({ validToDate }) => validToDate.getTime() / 1000));
}

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
  return { ...followFiles({ name, patterns: () => patterns, since, read, log }), expiries: () => expiries };
}

function expiriesOf({ authorities, client }: Route): ReadonlyMap<string, number> {
  const expiries = new Map<string, number>();
  if (authorities !== undefined) expiries.set(tlsSettings.authorities.name, firstExpiryOf(authorities));
  if (client !== undefined) expiries.set(tlsSettings.certificate.name, firstExpiryOf(client.certificate));
  return expiries;
}
