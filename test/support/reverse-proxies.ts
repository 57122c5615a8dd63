import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { nginxCommand, nginxConfig } from './nginx.ts';
import { hasProgram, type ProxyLaunch, startProxyProgram } from './proxy-program.ts';

interface Program extends Pick<ProxyLaunch, 'command'> {
  readonly version: readonly [command: string, flag: string];
  /** The file in examples/proxies/ with the part of its configuration that is about the gateway. */
  readonly file: string;
  /** Its configuration: that part with what has to stand around it. */
  readonly around: (snippet: string, port: number) => string;
}

const programs = {
  nginx: {
    version: ['nginx', '-v'],
    file: 'nginx.conf',
    around: (snippet, port) => nginxConfig(`access_log off; server { listen 127.0.0.1:${port}; ${snippet} }`),
    command: nginxCommand,
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
    command: (config) => ['haproxy', '-f', config, '-db'],
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
    command: (config) => ['caddy', 'run', '--adapter', 'caddyfile', '--config', config],
  },
  varnish: {
    version: ['varnishd', '-V'],
    file: 'varnish.vcl',
    around: (snippet) => `vcl 4.1;\n${snippet}`,
    command: (config, folder, port) => [
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
  const { version }: Program = programs[name];
  return hasProgram(...version);
}

/** Starts a program with its file of examples/proxies/, before a gateway that listens at `url`. */
export async function startReverseProxy(
  name: ProxyName,
  url: string,
): Promise<AsyncDisposable & { readonly url: string }> {
  const { file, around, command }: Program = programs[name];
  const snippet = readFileSync(new URL(`../../examples/proxies/${file}`, import.meta.url), 'utf8')
    .replaceAll('127.0.0.1', new URL(url).hostname)
    .replaceAll('4000', new URL(url).port);
  const program = await startProxyProgram({ config: (port) => around(snippet, port), command });
  return {
    url: `http://127.0.0.1:${program.port}/graphql`,
    [Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
  };
}
