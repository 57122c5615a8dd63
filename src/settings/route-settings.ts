import type { Route } from '../rest/transport/pools.ts';
import { isWithoutProxy } from './no-proxy.ts';
import { type Environment, given, isSet, type Setting, text } from './settings.ts';
import { readTls, type TlsFiles, tlsFilesOf, tlsSettings } from './tls-settings.ts';
import { proxyUrl } from './urls.ts';

/** How the upstream is reached. The proxies are those that other programs read, too. */
export const routeSettings = {
  ...tlsSettings,
  HTTPS_PROXY: proxyUrl('Proxy to an upstream that is https, with user and password if it needs them'),
  HTTP_PROXY: proxyUrl('Proxy to an upstream that is http'),
  ALL_PROXY: proxyUrl('Proxy to an upstream for whose scheme no other is named'),
  NO_PROXY: {
    ...text(
      'Hosts that are reached without a proxy; * is all',
      undefined,
      'names (subdomains included), addresses or CIDR blocks, each with a port or without, separated by commas',
    ),
    shared: true,
  },
} as const;

/** The route, and where its certificates and its key come from. */
interface WayUpstream {
  readonly upstreamRoute: Route;
  readonly upstreamTlsFiles: TlsFiles;
}

/**
 * The way to an upstream. As with curl the proxy of the upstream's own scheme comes before `ALL_PROXY`, and the name in
 * lower case before the one in upper case.
 */
export function readRoute(environment: Environment, upstreamUrl: string | undefined): WayUpstream {
  const upstreamTlsFiles = tlsFilesOf(environment);
  const proxy = readProxy(environment, upstreamUrl);
  const upstreamRoute = Object.freeze({ ...readTls(upstreamTlsFiles), ...(proxy !== undefined && { proxy }) });
  return { upstreamRoute, upstreamTlsFiles };
}

function readProxy(environment: Environment, upstreamUrl: string | undefined): string | undefined {
  const byScheme = {
    'http:': givenInEitherCase(environment, 'HTTP_PROXY', routeSettings.HTTP_PROXY),
    'https:': givenInEitherCase(environment, 'HTTPS_PROXY', routeSettings.HTTPS_PROXY),
  };
  const except = givenInEitherCase(environment, 'NO_PROXY', routeSettings.NO_PROXY) ?? '';
  // The embedded workspace is on this machine.
  if (upstreamUrl === undefined || isWithoutProxy(upstreamUrl, except)) return undefined;
  const own = byScheme[upstreamUrl.startsWith('https:') ? 'https:' : 'http:'];
  // Often set for other programs, to what no HTTP client takes: read only if it is used.
  return own ?? givenInEitherCase(environment, 'ALL_PROXY', routeSettings.ALL_PROXY);
}

function givenInEitherCase<T>(environment: Environment, name: string, setting: Setting<T>): T | undefined {
  const small = name.toLowerCase();
  return given(environment, isSet(environment, small) ? small : name, setting);
}
