import type { GatewayOptions } from '../../src/gateway.ts';
import { startOver } from './both.ts';
import type { GateOptions } from './gate.ts';
import { startGateway, type TestGateway } from './gateway.ts';
import type { Handler, Routes } from './routes.ts';
import type { Upstream } from './upstream.ts';

/** A gateway whose cache has a clock that a test sets. */
export interface CachingGateway extends TestGateway {
  /** Lets so many seconds pass for the cache. */
  pass(seconds: number): void;
}

/** Lifetimes of answers in the caches of tests, in seconds: fresh, and then stale. */
export const cacheSettings = {
  ttls: { projects: 60, dashboards: 30, plugins: 300, events: 5, values: 60 },
  staleSeconds: 600,
  maxBytes: 64 * 2 ** 20,
} as const;

/** Starts a gateway that caches every noun, unless `options` say otherwise. */
export async function startCaching(
  upstream: Pick<Upstream, 'url'>,
  { cache, ...options }: Partial<GatewayOptions> = {},
): Promise<CachingGateway> {
  let seconds = 0;
  const now = (): number => seconds * 1000;
  const gateway = await startGateway(upstream, { cache: { ...cacheSettings, now, ...cache }, ...options });
  return {
    ...gateway,
    pass: (more) => {
      seconds += more;
    },
  };
}

/** Starts a gateway that caches, over an upstream with these routes, for one test: both stop when it has ended. */
export function startBothCaching(
  routes: Routes | Handler,
  options: Partial<GatewayOptions> = {},
  gate: GateOptions = {},
): Promise<{ readonly upstream: Upstream; readonly gateway: CachingGateway }> {
  return startOver(routes, (upstream) => startCaching(upstream, options), gate);
}
