import { onTestFinished } from 'vitest';
import type { GatewayOptions } from '../../src/gateway.ts';
import type { ServerOptions } from '../../src/server/server.ts';
import { startGateway, type TestGateway } from './gateway.ts';
import type { Handler, Routes } from './routes.ts';
import { startUpstream, type Upstream } from './upstream.ts';

/** Starts an upstream that answers as `routes` say, and a gateway over it, for one test: both stop when it has ended. */
export async function startBoth(
  routes: Routes | Handler,
  options: Partial<GatewayOptions> = {},
  serverOptions: Partial<ServerOptions> = {},
): Promise<{ readonly upstream: Upstream; readonly gateway: TestGateway }> {
  const upstream = await startUpstream(routes);
  onTestFinished(() => upstream[Symbol.asyncDispose]());
  const gateway = await startGateway(upstream, options, serverOptions);
  onTestFinished(() => gateway[Symbol.asyncDispose]());
  return { upstream, gateway };
}
