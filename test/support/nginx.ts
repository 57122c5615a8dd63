import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { pause } from './load.ts';

/** Debian puts it where only root looks for programs. */
const environment = { PATH: `${process.env['PATH']}:/usr/sbin` };

/** Whether this machine has nginx. */
export const hasNginx = spawnSync('nginx', ['-v'], { env: environment }).status === 0;

/** An nginx on loopback. */
export interface Nginx extends AsyncDisposable {
  readonly url: string;
  /** Has it read its configuration again: new processes serve, the old ones end when they have answered. */
  readonly reload: () => void;
  /** `METHOD target status` of each request that it has answered. */
  readonly accessLog: () => Promise<readonly string[]>;
}

/** What it serves. */
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
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'nginx-'));
  const config = join(folder, 'nginx.conf');
  const encrypted = tls === undefined ? '' : `ssl_certificate ${tls.certificate}; ssl_certificate_key ${tls.key};`;
  const listen = `listen 127.0.0.1:${port}${tls === undefined ? '' : ' ssl'} backlog=4096; ${encrypted}`;
  await writeFile(config, configOf(http, `${listen}\n${server}`));
  const child = spawn('nginx', ['-p', folder, '-c', config, '-e', join(folder, 'error.log')], {
    stdio: 'ignore',
    env: environment,
  });
  const exited = once(child, 'exit');
  while (!(await accepts(port))) await pause(25);
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    reload: () => void child.kill('SIGHUP'),
    accessLog: async () =>
      (await readFile(join(folder, 'access.log'), 'utf8')).split('\n').filter((line) => line !== ''),
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await exited;
      await rm(folder, { recursive: true });
    },
  };
}

/** Its processes give up root's rights by default, and could not write to the folder. */
const user = process.getuid?.() === 0 ? 'user root;' : '';

function configOf(http: string, server: string): string {
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${name};`);
  return `${user}
daemon off;
worker_processes 2;
pid nginx.pid;
events { worker_connections 1024; }
http {
  ${folders.join(' ')}
  log_format calls '$request_method $request_uri $status';
  access_log access.log calls;
  ${http}
  server {
    ${server}
  }
}
`;
}

/** True if something takes connections at a port of loopback. */
export async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
