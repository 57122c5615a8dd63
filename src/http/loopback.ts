import { BlockList, isIP } from 'node:net';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** True if a URL leads to this machine. The URL parser has normalised all forms of an address. */
export function isLoopback({ hostname }: URL): boolean {
  const host = hostname.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  const version = isIP(host);
  if (version === 0) return host === 'localhost' || host === 'localhost.';
  return loopback.check(host, version === 4 ? 'ipv4' : 'ipv6');
}
