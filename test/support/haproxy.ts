import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { pause } from './load.ts';

/** Whether this machine has HAProxy. */
export const hasHaproxy = spawnSync('haproxy', ['-v']).status === 0;

/** A load balancer on loopback. */
export interface Haproxy extends AsyncDisposable {
  readonly url: string;
}

/** Balances over ports of loopback as people set it up: readiness decides, connections are kept and used again. */
export async function startHaproxy(ports: readonly number[]): Promise<Haproxy> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'haproxy-'));
  const config = join(folder, 'haproxy.cfg');
  await writeFile(config, configOf(port, ports));
  const child = spawn('haproxy', ['-f', config, '-db'], { stdio: 'ignore' });
  const exited = once(child, 'exit');
  const url = `http://127.0.0.1:${port}`;
  while (!(await answers(url))) await pause(25);
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
      await rm(folder, { recursive: true });
    },
  };
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

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(new URL('/readyz', url))).status === 200;
  } catch {
    return false;
  }
}
