import { isLoopback } from '../http/loopback.ts';

/** Which origins may send requests. */
export interface OriginOptions {
  /** Under which clients reach the gateway; undefined: from this machine. */
  readonly publicUrl: string | undefined;
  /** Origins whose pages may call. */
  readonly corsOrigins: readonly string[];
}

/**
 * True if a request with this `Origin` may be answered. A page that made the name of its own host lead here would otherwise
 * use what only this machine may reach (DNS rebinding). `Host` is never looked at: such a page decides what it says.
 */
export function createOriginCheck({ publicUrl, corsOrigins }: OriginOptions): (origin: string) => boolean {
  const known = new Set(corsOrigins);
  if (publicUrl !== undefined) known.add(new URL(publicUrl).origin);
  return (origin) => known.has(origin) || (publicUrl === undefined && isLoopbackOrigin(origin));
}

function isLoopbackOrigin(origin: string): boolean {
  const url = URL.parse(origin);
  return url !== null && url.origin === origin && isLoopback(url);
}
