import type { Route } from '../rest/transport/connect.ts';
import { isWithoutProxy } from './no-proxy.ts';
import { optional, type Setting, type SettingsReader } from './reader.ts';
import { text } from './settings.ts';
import { readTls, type TlsFiles, tlsFilesOf, tlsSettings } from './tls-settings.ts';
import { proxyUrl } from './urls.ts';

const proxies = {
  https: optional('HTTPS_PROXY', proxyUrl('Proxy to an https upstream')),
  http: optional('HTTP_PROXY', proxyUrl('Proxy to an http upstream')),
  all: optional('ALL_PROXY', proxyUrl('Proxy to an upstream if its scheme has none')),
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

/** The route, and the files of its certificates and of its key. */
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
