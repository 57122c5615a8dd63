import { hasProgram, startProxyProgram } from './proxy-program.ts';
import { until } from './until.ts';

/** True if this machine has HAProxy. */
export const hasHaproxy = hasProgram('haproxy', '-v');

/** A load balancer on loopback. */
export interface Haproxy extends AsyncDisposable {
  readonly url: string;
}

/** Balances over ports of loopback as people set it up: readiness decides, connections are kept and used again. */
export async function startHaproxy(ports: readonly number[]): Promise<Haproxy> {
  const haproxy = await startProxyProgram({
    config: (port) => configOf(port, ports),
    command: (config) => ['haproxy', '-f', config, '-db'],
  });
  const url = `http://127.0.0.1:${haproxy.port}`;
  await until(async () => (await fetch(new URL('/readyz', url))).status === 200);
  return { url, [Symbol.asyncDispose]: () => haproxy[Symbol.asyncDispose]() };
}

function configOf(port: number, ports: readonly number[]): string {
  return `defaults
  mode http
  retries 0
  timeout connect 2s
  timeout client 30s
  timeout server 30s
  timeout check 10s
frontend clients
  bind 127.0.0.1:${port}
  default_backend gateways
backend gateways
  option httpchk GET /readyz
  http-reuse always
  default-server check inter 100ms fall 1 rise 1
${ports.map((number) => `  server gateway${number} 127.0.0.1:${number}\n`).join('')}`;
}
