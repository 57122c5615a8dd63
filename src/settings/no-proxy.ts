import { BlockList, isIP } from 'node:net';

/**
 * True if an upstream is reached without a proxy. `NO_PROXY` lists hosts as for curl, separated by commas or spaces:
 * names, which include their subdomains, IP addresses, blocks of these in CIDR notation (`10.0.0.0/8`, `fd00::/8`), or
 * `*` for all. An entry with a port applies to that port alone.
 */
export function isWithoutProxy(upstreamUrl: string, noProxy: string): boolean {
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
