import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { pause } from './load.ts';
import { accepts } from './nginx.ts';

/** Debian puts some of them where only root looks for programs. */
const environment = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin` };

interface Program {
  readonly version: readonly string[];
  /** The file in examples/proxies/ with the part of its configuration that is about the gateway. */
  readonly file: string;
  /** Its configuration: that part with what has to stand around it. */
  readonly around: (snippet: string, port: number) => string;
  readonly arguments: (config: string, folder: string, port: number) => readonly string[];
}

const user = process.getuid?.() === 0 ? 'user root;' : '';

const programs = {
  nginx: {
    version: ['nginx', '-v'],
    file: 'nginx.conf',
    around: (snippet, port) => `${user} daemon off; pid nginx.pid; events {}
http {
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${name};`).join(' ')}
  access_log off;
  server { listen 127.0.0.1:${port}; ${snippet} }
}`,
    arguments: (config, folder) => ['nginx', '-p', folder, '-c', config, '-e', join(folder, 'error.log')],
  },
  haproxy: {
    version: ['haproxy', '-v'],
    file: 'haproxy.cfg',
    around: (snippet, port) => `defaults
  mode http
  timeout connect 5s
  timeout client 60s
frontend clients
  bind 127.0.0.1:${port}
  default_backend graphql
${snippet}
`,
    arguments: (config) => ['haproxy', '-f', config, '-db'],
  },
  caddy: {
    version: ['caddy', 'version'],
    file: 'Caddyfile',
    around: (snippet, port) => `{
  admin off
  auto_https off
  grace_period 100ms
}
http://127.0.0.1:${port} {
${snippet}
}
`,
    arguments: (config) => ['caddy', 'run', '--adapter', 'caddyfile', '--config', config],
  },
  varnish: {
    version: ['varnishd', '-V'],
    file: 'varnish.vcl',
    around: (snippet) => `vcl 4.1;\n${snippet}`,
    arguments: (config, folder, port) => [
      ...['varnishd', '-F', '-j', 'none', '-a', `127.0.0.1:${port}`, '-f', config],
      ...['-n', join(folder, 'work'), '-s', 'malloc,16m'],
    ],
  },
} satisfies Record<string, Program>;

/** The name of such a program. */
export type ProxyName = keyof typeof programs;

/** All of them. */
export const proxyNames = ['nginx', 'haproxy', 'caddy', 'varnish'] as const satisfies readonly ProxyName[];

/** True if this machine has the program. */
export function hasProxy(name: ProxyName): boolean {
  const [command = '', ...rest] = programs[name].version;
  return spawnSync(command, rest, { env: environment }).status === 0;
}

interface ReverseProxy extends AsyncDisposable {
  readonly url: string;
}

/** Starts a program with its file of examples/proxies/, before a gateway that listens at `url`. */
export async function startReverseProxy(name: ProxyName, url: string): Promise<ReverseProxy> {
  const program: Program = programs[name];
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), `${name}-`));
  const config = join(folder, 'config');
  const snippet = snippetIn(program.file)
    .replaceAll('127.0.0.1', new URL(url).hostname)
    .replaceAll('4000', new URL(url).port);
  await writeFile(config, program.around(snippet, port));
  const [command = '', ...rest] = program.arguments(config, folder, port);
  const child = spawn(command, rest, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...environment, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => void (said += text));
  const exited = once(child, 'exit');
  while (!(await accepts(port))) {
    if (child.exitCode !== null) throw new Error(`${name} ended: ${said}`);
    await pause(25);
  }
  return {
    url: new URL('/graphql', `http://127.0.0.1:${port}`).href,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function snippetIn(file: string): string {
  return readFileSync(new URL(`../../examples/proxies/${file}`, import.meta.url), 'utf8');
}
