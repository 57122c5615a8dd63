/** The servers that a URL of Redis names. */
export interface RedisAddress {
  /**
   * One server; Sentinels, which know the server that is the primary; or some nodes of a Cluster, which know the other
   * nodes.
   */
  readonly kind: 'server' | 'sentinel' | 'cluster';
  /** A URL for each server, Sentinel or node, with the user and the password that all share. */
  readonly members: readonly string[];
  /** The path behind the hosts: a database, or the name of the primary and a database. */
  readonly path: string;
  readonly isSecure: boolean;
}

/**
 * Matches URLs such as `redis+sentinel://user:password@host:26379,host2:26379/name/0`. The groups are scheme, kind,
 * credentials, hosts and path.
 */
const severalPattern = /^(rediss?)\+(sentinel|cluster):\/\/([^/?#]*@)?([^@/?#]*)(.*)$/is;

/** The servers that an address names. An address with several hosts is no valid URL. */
export function redisAddressOf(url: string): RedisAddress {
  const [, scheme, kind, credentials = '', hosts = '', path = ''] = severalPattern.exec(url) ?? [];
  if (scheme === undefined || kind === undefined) {
    const parsed = URL.parse(url);
    return { kind: 'server', members: [url], path: parsed?.pathname ?? '', isSecure: parsed?.protocol === 'rediss:' };
  }
  const isSecure = scheme.toLowerCase() === 'rediss';
  const members = hosts.split(',').map((host) => `${isSecure ? 'rediss' : 'redis'}://${credentials}${host}`);
  return { kind: kind.toLowerCase() === 'cluster' ? 'cluster' : 'sentinel', members, path, isSecure };
}
