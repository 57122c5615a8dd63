import { BlockList, isIP } from 'node:net';
import type { Route } from '../rest/transport/connect.ts';
import { optional, type Setting, type SettingsReader } from './reader.ts';
import { text } from './settings.ts';
import { readTls, type TlsFiles, tlsFilesOf, tlsSettings } from './tls-settings.ts';
import { proxyUrl } from './urls.ts';

const proxies = {
  https: optional('HTTPS_PROXY', proxyUrl('Proxy to an https upstream')),
  http: optional('HTTP_PROXY', proxyUrl('Proxy to an http upstream')),
  all: optional('ALL_PROXY', proxyUrl('Proxy to the upstream, if neither HTTPS_PROXY nor HTTP_PROXY applies')),
  none: optional('NO_PROXY', {
    ...text(
      'Hosts that are reached without a proxy',
      undefined,
      'names, addresses or CIDR blocks, separated by commas, or * for all',
    ),
    shared: true,
  }),
};

/** Settings of the route to the upstream. The variables of proxies are those that other programs also read. */
export const routeSettings = { ...tlsSettings, ...proxies };

interface WayUpstream {
  readonly upstreamRoute: Route;
  readonly upstreamTlsFiles: TlsFiles;
}

/** Reads the route to the upstream. */
export function readRoute(reader: SettingsReader, upstreamUrl: string | undefined): WayUpstream {
  const proxy = readProxy(reader, upstreamUrl);
  const upstreamRoute = Object.freeze({ ...readTls(reader), ...(proxy !== undefined && { proxy }) });
  return { upstreamRoute, upstreamTlsFiles: tlsFilesOf(reader) };
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
  const own = { http: readInEitherCase(reader, proxies.http), https: readInEitherCase(reader, proxies.https) };
  const except = readInEitherCase(reader, proxies.none) ?? '';
  // The embedded workspace is on this machine.
  if (url === undefined || isWithoutProxy(url, except)) return undefined;
  // ALL_PROXY is read only if it is used, because other programs accept values in it that HTTP clients do not.
  return own[url.startsWith('https:') ? 'https' : 'http'] ?? readInEitherCase(reader, proxies.all);
}

function readInEitherCase<T>(reader: SettingsReader, setting: Setting<T>): T {
  const small = setting.name.toLowerCase();
  return reader.read(reader.isSet(small) ? { ...setting, name: small } : setting);
}

/**
 * True if an upstream is reached without a proxy. `NO_PROXY` lists hosts as for curl, separated by commas or spaces:
 * names, which include their subdomains, IP addresses, blocks of these in CIDR notation (`10.0.0.0/8`, `fd00::/8`), or
 * `*` for all. An entry with a port applies to that port alone.
 */
function isWithoutProxy(upstreamUrl: string, noProxy: string): boolean {
  const { hostname, port, protocol } = new URL(upstreamUrl);
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
  if (entry.includes('/')) return isInBlock(entry, host);
  // The colons of an IPv6 address without brackets do not separate a port.
  if (isIP(entry) !== 0) return isSameAddress(entry, host);
  const [, name = '', onPort] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
  if (onPort !== undefined && onPort !== port) return false;
  const wanted = bare(name).replace(/^\*?\./, '');
  if (isIP(wanted) !== 0 || isIP(host) !== 0) return isSameAddress(wanted, host);
  return wanted !== '' && (host === wanted || host.endsWith(`.${wanted}`));
}

/** A host without the brackets of an IPv6 address and the dot at the end of a full name. */
function bare(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}

function isInBlock(entry: string, host: string): boolean {
  const [network = '', bits = ''] = entry.split('/');
  const family = familyOf(bare(network));
  if (family === undefined || familyOf(host) !== family || !/^\d+$/.test(bits)) return false;
  if (Number(bits) > (family === 'ipv4' ? 32 : 128)) return false;
  const block = new BlockList();
  block.addSubnet(bare(network), Number(bits), family);
  return block.check(host, family);
}

/** True if two addresses are equal: an IPv6 address can be written in several ways. */
function isSameAddress(a: string, b: string): boolean {
  const family = familyOf(a);
  if (family === undefined || familyOf(b) !== family) return false;
  const list = new BlockList();
  list.addAddress(a, family);
  return list.check(b, family);
}

function familyOf(host: string): 'ipv4' | 'ipv6' | undefined {
  const version = isIP(host);
  return version === 0 ? undefined : version === 4 ? 'ipv4' : 'ipv6';
}
