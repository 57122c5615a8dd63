import { isLoopback } from '../http/loopback.ts';
import { redisAddressOf } from '../redis-address.ts';
import { itemsOf } from './kinds.ts';
import { type Kind, ValueError } from './settings-reader.ts';

const web = ['http:', 'https:'];

/** The rules for a URL. Everything that they do not allow is refused. A fragment is always refused. */
interface UrlRules {
  /** The schemes, each with its colon. */
  readonly schemes: readonly string[];
  /** True if it may have a user and a password. */
  readonly credentials?: boolean;
  /** True if it may have a query. */
  readonly query?: boolean;
}

/**
 * The URL in a text; undefined if the text is not a URL or breaks the rules. Throws a ValueError if a more specific
 * message is possible.
 */
function urlIn(source: string, { schemes, credentials = false, query = false }: UrlRules): URL | undefined {
  const url = URL.parse(source);
  if (url === null || !schemes.includes(url.protocol)) return undefined;
  const { hostname, username, password, search, hash } = url;
  if (hash !== '' && credentials) throw new ValueError('it has a fragment; write a # in a password as %23');
  if (hostname === '') throw new ValueError('it names no host');
  if (hash !== '' || (search !== '' && !query)) return undefined;
  if (!credentials) return `${username}${password}` === '' ? url : undefined;
  if (isCutPassword(url)) throw new ValueError('write a / or ? in a password as %2F or %3F');
  if (!isEncoded(username) || !isEncoded(password)) throw new ValueError('write a % in a user or a password as %25');
  return url;
}

function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** The value that stands for the URL of the embedded workspace, which is not known before the workspace listens. */
export const embedded = 'embedded';

/** The URL under which clients reach the gateway. */
export const publicUrl: Kind<string> = {
  expected: 'an absolute http or https URL without user, query or fragment',
  shown: shownUrl,
  read: (source) => urlIn(source, { schemes: web })?.href.replace(/[/?#]+$/, ''),
};

/**
 * A base URL, or the embedded workspace. The URL is normalised, because gateways with equal URLs share data in Redis.
 */
export const baseUrl: Kind<string> = {
  expected: `${publicUrl.expected}, or ${embedded}`,
  shown: shownUrl,
  read: (source) => (source === embedded ? embedded : publicUrl.read(source)),
};

/** Origins such as `https://app.example.com`, as browsers send them. */
export const origins: Kind<readonly string[]> = {
  expected: 'origins such as https://app.example.com, without a slash or a path at the end, separated by commas',
  shown: (source) => (/[@?#]/.test(source) ? shownUrls(source) : JSON.stringify(source)),
  read: (source) => {
    const items = itemsOf(source);
    return items.every((item) => urlIn(item, { schemes: web })?.origin === item) ? items : undefined;
  },
};

/** The paths that the URL of a Redis may have. */
const redisPaths = {
  server: { pattern: /^\/?\d{0,5}$/, fault: 'the number of a database' },
  sentinel: { pattern: /^\/[\w.%-]+(?:\/\d{0,5})?$/, fault: 'the name of the primary, perhaps with / and a database' },
  cluster: { pattern: /^\/?0?$/, fault: 'empty: a Cluster has only database 0' },
} as const;

export const redisUrl: Kind<string> = {
  expected:
    'a URL such as redis://127.0.0.1:6379, rediss://user:password@host:6380/0, redis+sentinel://host:26379,host2:26379/name/0 or redis+cluster://host:6379,host2:6379',
  shown: shownUrl,
  read: (source) => {
    const { kind, members, path } = redisAddressOf(source);
    const rules = { schemes: ['redis:', 'rediss:'], credentials: true, query: kind === 'server' };
    if (members.some((member) => urlIn(member, rules) === undefined)) return undefined;
    const { pattern, fault } = redisPaths[kind];
    if (pattern.test(path)) return source;
    throw new ValueError(`the part after the host is not ${fault}`);
  },
};

export const proxyUrl: Kind<string> = {
  expected: 'a URL such as http://proxy.example.com:3128 or http://user:password@proxy.example.com:3128',
  shown: shownUrl,
  read: (source) => collectorUrl.read(/^[a-z][a-z\d+.-]*:\/\//i.test(source) ? source : `http://${source}`),
};

export const collectorUrl: Kind<string> = {
  expected: 'an absolute http or https URL such as http://collector.example.com:4318',
  shown: shownUrl,
  read: (source) => urlIn(source, { schemes: web, credentials: true, query: true })?.href,
};

/** A URL whose document cannot be changed in transit: https, or http on this machine. */
export function safeUrlIn(source: string): URL | undefined {
  const url = urlIn(source, { schemes: web, query: true });
  if (url?.protocol !== 'http:' || isLoopback(url)) return url;
  throw new ValueError('http is accepted only for 127.0.0.0/8, [::1] and localhost');
}

const shownSchemes = /^(?:https?|rediss?|ftps?|wss?|socks[45]?|file|unix):$/;

/**
 * Describes a URL for messages: its scheme, its host, and what else it has. The user, the password, the query
 * and the fragment themselves are not shown, because they may hold a key.
 */
export function shownUrl(source: string): string {
  const parsed = URL.parse(source);
  if (parsed === null || !shownSchemes.test(parsed.protocol) || isCutPassword(parsed))
    return source.includes('://') ? 'something else' : 'something without a scheme';
  const { protocol, host, username, password, search, hash } = parsed;
  const others = [
    ...(username === '' ? [] : ['a user']),
    ...(password === '' ? [] : ['a password']),
    ...(search === '' ? [] : ['a query']),
    ...(hash === '' ? [] : ['a fragment']),
  ];
  return `${protocol}//${host}${others.length === 0 ? '' : ` with ${others.join(', ')}`}`;
}

/** Describes URLs that are separated by commas, for messages. */
export function shownUrls(source: string): string {
  // With a password, the text cannot be split into URLs, because a password may hold a comma, too.
  return hasCredentials(source) ? 'a URL with a user or a password' : source.split(',').map(shownUrl).join(', ');
}

/** True if a URL in a text has a user or a password. */
export function hasCredentials(source: string): boolean {
  return /:\/\/[^/?#]*@/.test(source);
}

/**
 * True if an @ stands behind the host. Then a password holds an unencoded slash or the like, and what was parsed as the
 * host is a piece of the credentials.
 */
function isCutPassword({ pathname, search, hash }: URL): boolean {
  return `${pathname}${search}${hash}`.includes('@');
}
