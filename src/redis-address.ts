/** The servers that a URL of Redis names. */
export interface RedisAddress {
  /** One server; or Sentinels, which know the primary; or some nodes of a Cluster, which know its other nodes. */
  readonly kind: 'server' | 'sentinel' | 'cluster';
  /** A URL for each server, Sentinel or node. All URLs have the same user and password. */
  readonly members: readonly string[];
  /** A database, or the name of the primary and a database. */
  readonly path: string;
  readonly isSecure: boolean;
}

/** An address of several hosts, such as `redis+sentinel://user:password@host:26379,host2:26379/name/0`. */
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
