import { onTestFinished } from 'vitest';
import type { GatewayOptions } from '../../src/gateway.ts';
import type { ServerOptions } from '../../src/server/server.ts';
import type { GateOptions } from './gate.ts';
import { startGateway, type TestGateway } from './gateway.ts';
import type { Handler, Routes } from './routes.ts';
import { startUpstream, type Upstream } from './upstream.ts';

/**
 * Starts an upstream that answers as `routes` say, and a gateway over it, for one test: both stop when it has ended.
 * `others` are options of the server, and when the upstream answers: with `hold: 0` at once.
 */
export async function startBoth(
  routes: Routes | Handler,
  options: Partial<GatewayOptions> = {},
  others: Partial<ServerOptions> & GateOptions = {},
): Promise<{ readonly upstream: Upstream; readonly gateway: TestGateway }> {
  const upstream = await startUpstream(routes, others);
  onTestFinished(() => upstream[Symbol.asyncDispose]());
  const gateway = await startGateway(upstream, options, others);
  onTestFinished(() => gateway[Symbol.asyncDispose]());
  return { upstream, gateway };
}
