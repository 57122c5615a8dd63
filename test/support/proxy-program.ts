import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { pause } from './load.ts';

/** The environment of programs. Debian puts some of them where only root looks for programs. */
const environment = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin` };

/** True if this machine has the program of a command, such as `nginx -v`. */
export function hasProgram(command: string, ...args: readonly string[]): boolean {
  return spawnSync(command, args, { env: environment }).status === 0;
}

/** A web server or load balancer that takes connections at a port of loopback. */
export interface ProxyProgram extends AsyncDisposable {
  readonly port: number;
  readonly child: ChildProcess;
  /** The temporary folder that it may write to. */
  readonly folder: string;
}

/** A proxy's configuration for a port, and the command that starts the proxy with that file. */
export interface ProxyLaunch {
  readonly config: (port: number) => string;
  readonly command: (config: string, folder: string, port: number) => readonly string[];
}

/** Starts a program, and resolves once it takes connections. If it ends before, throws an Error with its output. */
export async function startProxyProgram({ config, command }: ProxyLaunch): Promise<ProxyProgram> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'proxy-'));
  const path = join(folder, 'config');
  await writeFile(path, config(port));
  const [program = '', ...args] = command(path, folder, port);
  const child = spawn(program, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...environment, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => void (said += text));
  const exited = once(child, 'exit');
  while (!(await accepts(port))) {
    if (child.exitCode !== null) throw new Error(`${program} ended: ${said}`);
    await pause(25);
  }
  return {
    port,
    child,
    folder,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** True if something takes connections at a port of loopback. */
async function accepts(port: number): Promise<boolean> {
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
