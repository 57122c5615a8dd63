import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasProgram, startProxyProgram } from './proxy-program.ts';

/** True if this machine has nginx. */
export const hasNginx = hasProgram('nginx', '-v');

/** An nginx on loopback. */
export interface Nginx extends AsyncDisposable {
  readonly url: string;
  /** Has it read its configuration again: new processes serve, the old ones end when they have answered. */
  readonly reload: () => void;
  /** `METHOD target status` of each request that it has answered. */
  readonly accessLog: () => Promise<readonly string[]>;
}

/** The configuration of nginx. */
export interface NginxOptions {
  /** Directives of its only server, without `listen`. */
  readonly server: string;
  /** Directives beside the server. */
  readonly http?: string;
  /** Paths of the certificate and key with which it speaks HTTPS; by default it speaks HTTP. */
  readonly tls?: { readonly certificate: string; readonly key: string };
}

/** Starts nginx with a configuration of its own, in a temporary folder that it also writes to. */
export async function startNginx({ server, http = '', tls }: NginxOptions): Promise<Nginx> {
  const encrypted = tls === undefined ? '' : `ssl_certificate ${tls.certificate}; ssl_certificate_key ${tls.key};`;
  const listenAt = (port: number): string =>
    `listen 127.0.0.1:${port}${tls === undefined ? '' : ' ssl'} backlog=4096; ${encrypted}`;
  const nginx = await startProxyProgram({
    config: (port) =>
      nginxConfig(`
        log_format calls '$request_method $request_uri $status';
        access_log access.log calls;
        ${http}
        server { ${listenAt(port)} ${server} }`),
    command: nginxCommand,
  });
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${nginx.port}`,
    reload: () => void nginx.child.kill('SIGHUP'),
    accessLog: async () =>
      (await readFile(join(nginx.folder, 'access.log'), 'utf8')).split('\n').filter((line) => line !== ''),
    [Symbol.asyncDispose]: () => nginx[Symbol.asyncDispose](),
  };
}

/** The command that runs nginx in the foreground with a configuration. */
export function nginxCommand(config: string, folder: string): readonly string[] {
  return ['nginx', '-p', folder, '-c', config, '-e', join(folder, 'error.log')];
}

/** Its processes give up root's rights by default, and could not write to the folder. */
const user = process.getuid?.() === 0 ? 'user root;' : '';

/** A configuration that writes to its own folder only, with the directives of its HTTP server. */
export function nginxConfig(http: string): string {
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${name};`);
  return `${user}
daemon off;
worker_processes 2;
pid nginx.pid;
events { worker_connections 1024; }
http {
  ${folders.join(' ')}
  ${http}
}
`;
}
