import type { Route } from '../rest/transport/pools.ts';
import { isWithoutProxy } from './no-proxy.ts';
import { optional, type Setting, type SettingsReader } from './reader.ts';
import { text } from './settings.ts';
import { readTls, type TlsFiles, tlsFilesOf, tlsSettings } from './tls-settings.ts';
import { proxyUrl } from './urls.ts';

const proxies = {
  https: optional(
    'HTTPS_PROXY',
    proxyUrl('Proxy to an upstream that is https, with user and password if it needs them'),
  ),
  http: optional('HTTP_PROXY', proxyUrl('Proxy to an upstream that is http')),
  all: optional('ALL_PROXY', proxyUrl('Proxy to an upstream for whose scheme no other is named')),
  none: optional('NO_PROXY', {
    ...text(
      'Hosts that are reached without a proxy; * is all',
      undefined,
      'names (subdomains included), addresses or CIDR blocks, each with a port or without, separated by commas',
    ),
    shared: true,
  }),
};

/** How the upstream is reached. The proxies are those that other programs read, too. */
export const routeSettings = { ...tlsSettings, ...proxies };

/** The route, and where its certificates and its key come from. */
interface WayUpstream {
  readonly upstreamRoute: Route;
  readonly upstreamTlsFiles: TlsFiles;
}

/** The way to the upstream. */
export function readRoute(reader: SettingsReader, upstreamUrl: string | undefined): WayUpstream {
  const proxy = readProxy(reader, upstreamUrl);
  const upstreamRoute = Object.freeze({ ...readTls(reader), ...(proxy !== undefined && { proxy }) });
  return { upstreamRoute, upstreamTlsFiles: tlsFilesOf(reader) };
}

/** The way to another server than the upstream: a client certificate is for the upstream alone. */
export function routeTo(url: string, reader: SettingsReader): Route {
  const proxy = readProxy(reader, url);
  const authorities = reader.read(tlsSettings.authorities);
  return { ...(proxy !== undefined && { proxy }), ...(authorities !== undefined && { authorities }) };
}

/**
 * The proxy to a URL; undefined if there is none. As with curl that of the URL's own scheme comes before `ALL_PROXY`, and
 * the name in lower case before the one in upper case.
 */
function readProxy(reader: SettingsReader, url: string | undefined): string | undefined {
  const own = { http: readInEitherCase(reader, proxies.http), https: readInEitherCase(reader, proxies.https) };
  const except = readInEitherCase(reader, proxies.none) ?? '';
  // The embedded workspace is on this machine.
  if (url === undefined || isWithoutProxy(url, except)) return undefined;
  // ALL_PROXY is often set for other programs, to what no HTTP client takes: read only if it is used.
  return own[url.startsWith('https:') ? 'https' : 'http'] ?? readInEitherCase(reader, proxies.all);
}

function readInEitherCase<T>(reader: SettingsReader, setting: Setting<T>): T {
  const small = setting.name.toLowerCase();
  return reader.read(reader.isSet(small) ? { ...setting, name: small } : setting);
}
