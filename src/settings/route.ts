import { createPrivateKey, X509Certificate } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
import { createSecureContext } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import { codeOf, messageOf } from '../error-text.ts';
import { type Followed, follow } from '../follow.ts';
import type { Log } from '../log.ts';
import { memoize } from '../memoize.ts';
import type { Route } from '../rest/transport/connect.ts';
import { proxySettings, tlsSettings } from './declaration.ts';
import { certificatesIn } from './setting-files.ts';
import { type Setting, SettingsReader } from './settings-reader.ts';

export function readRoute(reader: SettingsReader, upstreamUrl: string | undefined): Route {
  const proxy = readProxy(reader, upstreamUrl);
  return Object.freeze({ ...readTls(reader), ...(proxy !== undefined && { proxy }) });
}

/** The route to a server other than the upstream. It has no client certificate, which is for the upstream alone. */
export function routeTo(url: string, reader: SettingsReader): Route {
  const proxy = readProxy(reader, url);
  const authorities = reader.read(tlsSettings.authorities);
  return { ...(proxy !== undefined && { proxy }), ...(authorities !== undefined && { authorities }) };
}

/**
 * The proxy for a URL; undefined if there is none. As with curl, the proxy of the URL's own scheme comes before
 * `ALL_PROXY`, and the lower-case name before the upper-case one.
 */
function readProxy(reader: SettingsReader, url: string | undefined): string | undefined {
  const own = {
    http: readInEitherCase(reader, proxySettings.http),
    https: readInEitherCase(reader, proxySettings.https),
  };
  const except = readInEitherCase(reader, proxySettings.none) ?? '';
  // Without a URL the upstream is the embedded workspace, which is on this machine.
  if (url === undefined || isWithoutProxy(url, except)) return undefined;
  // ALL_PROXY is read only if it is used. It may name a SOCKS proxy for other programs, and that would be reported as a
  // fault.
  return own[url.startsWith('https:') ? 'https' : 'http'] ?? readInEitherCase(reader, proxySettings.all);
}

function readInEitherCase<T>(reader: SettingsReader, setting: Setting<T>): T {
  const small = setting.name.toLowerCase();
  return reader.read(reader.isSet(small) ? { ...setting, name: small } : setting);
}

/**
 * True if a server is reached without a proxy. `NO_PROXY` lists hosts as for curl, separated by commas or spaces. An
 * entry is a name, an IP address, a block of addresses in CIDR notation (`10.0.0.0/8`, `fd00::/8`), or `*` for all
 * hosts. A name also stands for its subdomains. An entry with a port applies to that port alone.
 */
function isWithoutProxy(url: string, noProxy: string): boolean {
  const { hostname, port, protocol } = new URL(url);
  const host = bare(hostname);
  const usedPort = port === '' ? (protocol === 'https:' ? '443' : '80') : port;
  return noProxy
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => matches(entry, host, usedPort));
}

function matches(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true;
  // The colons of an IPv6 address without brackets do not separate a port.
  if (entry.includes('/') || isIP(entry) !== 0) return isInBlock(entry, host);
  const [, name = '', onPort] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
  if (onPort !== undefined && onPort !== port) return false;
  const wanted = bare(name).replace(/^\*?\./, '');
  if (isIP(wanted) !== 0 || isIP(host) !== 0) return isInBlock(wanted, host);
  return wanted !== '' && (host === wanted || host.endsWith(`.${wanted}`));
}

/** A host without the brackets around an IPv6 address, and without the dot at the end of a fully qualified name. */
function bare(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}

/**
 * True if an address is in the block that an entry names. An entry without bits is a block of one address. Addresses
 * are not compared as texts, because an IPv6 address can be written in several ways.
 */
function isInBlock(entry: string, host: string): boolean {
  const [network = '', bits = isIP(entry) === 4 ? '32' : '128'] = entry.split('/');
  const family = familyOf(bare(network));
  if (family === undefined || familyOf(host) !== family || !/^\d+$/.test(bits)) return false;
  if (Number(bits) > (family === 'ipv4' ? 32 : 128)) return false;
  const block = new BlockList();
  block.addSubnet(bare(network), Number(bits), family);
  return block.check(host, family);
}

function familyOf(host: string): 'ipv4' | 'ipv6' | undefined {
  const version = isIP(host);
  return version === 0 ? undefined : version === 4 ? 'ipv4' : 'ipv6';
}

/** The paths of certificates and of the key, by the names of their settings. */
export type TlsFiles = Readonly<Record<string, string>>;

export function tlsFilesOf({ environment }: SettingsReader): TlsFiles {
  const names = Object.values(tlsSettings).map(({ name }) => name);
  const files = names.map((name) => [name, environment[name] ?? ''] as const);
  return Object.freeze(Object.fromEntries(files.filter(([, path]) => path !== '')));
}

/**
 * Reads the current contents of the files. A file that cannot be used is reported as a fault, and so is a key that
 * belongs to another certificate.
 */
function readTls(reader: SettingsReader): Pick<Route, 'authorities' | 'client'> {
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
    reader.addFault(
      second.name,
      `expected the key of the first certificate of ${first.name}, but the file holds the key of another`,
    );
    return false;
  }
  try {
    createSecureContext({ cert: certificate, key });
    return true;
  } catch (error) {
    reader.addFault(first.name, `expected a certificate that OpenSSL accepts, but got ${codeOf(error) ?? 'an error'}`);
    return false;
  }
}

/**
 * Returns a function that gives the route to a server other than the upstream. Each call reads the file of authorities
 * again. A file that cannot be used changes nothing.
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

/** The earliest time at which one of the PEM certificates expires, in seconds since 1970. */
function firstExpiryOf(pem: string): number {
  return Math.min(...certificatesIn(pem).map(({ validToDate }) => validToDate.getTime() / 1000));
}

const name = 'certificates for the upstream';

/**
 * The route with the current contents of the files of certificates and keys; undefined if there are no such files.
 * `route` has the contents of the time when the settings were read. The files are read again at once, because a worker
 * may start long after that. Files that cannot be used or do not fit each other are logged and change nothing.
 */
export async function followTls(files: TlsFiles, route: Route, log: Log): Promise<Followed<Route> | undefined> {
  const patterns = Object.values(files);
  if (patterns.length === 0) return undefined;
  const read = (previous: Route): Route => {
    const reader = new SettingsReader(files);
    const next = { ...previous, ...readTls(reader) };
    reader.throwFaults();
    return isDeepStrictEqual(next, previous) ? previous : next;
  };
  const first = (): Route => {
    try {
      return read(route);
    } catch (error) {
      log('error', `${name} stay as they were: ${messageOf(error)}`);
      return route;
    }
  };
  const again = (previous: Route): Route => {
    const next = read(previous);
    log('info', `${name} were read again`, { changed: next !== previous });
    return next;
  };
  return follow({ name, patterns: () => patterns, first, again, log });
}

/** The time at which the first certificate of each setting expires, in seconds since 1970. */
export const expiriesOf = memoize(({ authorities, client }: Route): ReadonlyMap<string, number> => {
  const expiries = new Map<string, number>();
  if (authorities !== undefined) expiries.set(tlsSettings.authorities.name, firstExpiryOf(authorities));
  if (client !== undefined) expiries.set(tlsSettings.certificate.name, firstExpiryOf(client.certificate));
  return expiries;
});
