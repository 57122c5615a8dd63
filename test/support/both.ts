import { onTestFinished } from 'vitest';
import type { GatewayOptions } from '../../src/gateway.ts';
import type { ServerOptions } from '../../src/server/server.ts';
import type { GateOptions } from './gate.ts';
import { startGateway, type TestGateway } from './gateway.ts';
import { notFound } from './replies.ts';
import { type Handler, type Routes, route } from './routes.ts';
import { startUpstream, type Upstream } from './upstream.ts';

/**
 * Starts an upstream that answers as `routes` say, and a gateway over it, for one test: both stop when it has ended.
 * `others` are options of the server, and of the time at which the upstream answers: with `hold: 0`, at once.
 */
export function startBoth(
  routes: Routes | Handler,
  options: Partial<GatewayOptions> = {},
  others: Partial<ServerOptions> & GateOptions = {},
): Promise<{ readonly upstream: Upstream; readonly gateway: TestGateway }> {
  return startOver(routes, (upstream) => startGateway(upstream, options, others), others);
}

/** Starts both with a gateway of another kind. `start` makes it, such as `(upstream) => startCaching(upstream)`. */
export async function startOver<Started extends TestGateway>(
  routes: Routes | Handler,
  start: (upstream: Upstream) => Promise<Started>,
  gate: GateOptions = {},
): Promise<{ readonly upstream: Upstream; readonly gateway: Started }> {
  const upstream = await startUpstream(routes, gate);
  onTestFinished(() => upstream[Symbol.asyncDispose]());
  const gateway = await start(upstream);
  onTestFinished(() => gateway[Symbol.asyncDispose]());
  return { upstream, gateway };
}

/**
 * Starts both for a test that changes the upstream's answers. `answerWith` sets the answers from then on, and clears
 * the recorded requests.
 */
export async function startChanging(options: Partial<GatewayOptions> = {}) {
  let current: Handler = () => notFound;
  const both = await startBoth((request) => current(request), options, { hold: 0 });
  const answerWith = (routes: Routes | Handler): void => {
    current = typeof routes === 'function' ? routes : route(routes);
    both.upstream.reset();
  };
  return { ...both, answerWith };
}
