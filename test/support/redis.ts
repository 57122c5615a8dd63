import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { onTestFinished } from 'vitest';
import { connectRedis, type SharedRedis } from '../../src/redis.ts';
import { freePort } from './free-port.ts';
import { authorityPath } from './tls.ts';

/** The arguments of a `redis-server` that speaks TLS. */
export const tlsSettings = [
  ...['--tls-cert-file', path('server.pem'), '--tls-key-file', path('server-key.pem')],
  // Nodes of a Cluster show each other that they may be clients.
  ...['--tls-client-cert-file', path('client.pem'), '--tls-client-key-file', path('client-key.pem')],
  ...['--tls-ca-cert-file', authorityPath, '--tls-auth-clients', 'no'],
];

function path(name: string): string {
  return new URL(`tls/${name}`, import.meta.url).pathname;
}

/** True if this machine has a `redis-server`. */
export const hasRedis = spawnSync('redis-server', ['--version']).status === 0;

/** Connects to a Redis as a gateway does, until the test has finished. By default nothing listens there. */
export function connectTo(redisUrl = 'redis://127.0.0.1:1'): SharedRedis {
  const redis = connectRedis({ redisUrl });
  if (redis === undefined) throw new Error('expected a connection');
  onTestFinished(() => redis.close());
  return redis;
}

/** A Redis server of its own on loopback, empty at first. */
export interface RedisServer extends AsyncDisposable {
  readonly url: string;
  /** Asks the server, as an operator does. */
  ask(command: string, ...args: readonly string[]): Promise<unknown>;
  /** The names that match a pattern, in the order of the alphabet. */
  names(pattern?: string): Promise<readonly string[]>;
  /** Records the commands of clients from now on. */
  watch(): Promise<WatchedRedis>;
  /** Ends the process at once; what it knew is lost. */
  kill(): Promise<void>;
  /** Stops the process where it is: connections stay open and are not answered. */
  freeze(): void;
  thaw(): void;
  /** Starts it again on the same port. */
  restart(): Promise<void>;
}

/** A record of the commands that clients send to a server. */
export interface WatchedRedis extends Disposable {
  /** Each command with its arguments, by its beginning. */
  readonly commands: readonly string[];
}

/**
 * Starts a `redis-server` of its own on a free port of loopback; resolves when it takes connections. With `tls` it
 * speaks TLS only, with the certificate of the tests.
 */
export async function startRedis({ tls = false } = {}): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), 'redis-'));
  const port = await freePort();
  const url = `redis${tls ? 's' : ''}://127.0.0.1:${port}`;
  let running = await launch(port, folder, tls);
  const kill = async (): Promise<void> => {
    if (running.exitCode !== null || running.signalCode !== null) return;
    const exited = once(running, 'exit');
    running.kill('SIGKILL');
    await exited;
  };
  const ask = async (command: string, ...args: readonly string[]): Promise<unknown> => {
    const redis = new Redis(url);
    try {
      return await redis.call(command, ...args);
    } finally {
      redis.disconnect();
    }
  };
  return {
    url,
    ask,
    names: async (pattern = '*') => {
      const names = await ask('KEYS', pattern);
      return Array.isArray(names) ? names.map(String).toSorted() : [];
    },
    watch: () => watch(url),
    kill,
    freeze: () => void running.kill('SIGSTOP'),
    thaw: () => void running.kill('SIGCONT'),
    restart: async () => {
      await kill();
      running = await launch(port, folder, tls);
    },
    [Symbol.asyncDispose]: async () => {
      await kill();
      rmSync(folder, { recursive: true });
    },
  };
}

async function watch(url: string): Promise<WatchedRedis> {
  const redis = new Redis(url);
  const monitor = await redis.monitor();
  const commands: string[] = [];
  monitor.on('monitor', (_time: string, args: readonly string[]) => commands.push(args.join(' ')));
  return {
    commands,
    [Symbol.dispose]: () => {
      monitor.disconnect();
      redis.disconnect();
    },
  };
}

/** Has a primary send what it has to a new replica at once: by default it waits five seconds for further ones. */
export const syncAtOnce = ['--repl-diskless-sync-delay', '0'];

/** Resolves when the server takes connections. */
function launch(port: number, folder: string, tls: boolean): Promise<ChildProcess> {
  const ports = tls ? ['--port', '0', '--tls-port', `${port}`, ...tlsSettings] : ['--port', `${port}`];
  const settings = [
    ...ports,
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
    '--dir',
    folder,
    ...syncAtOnce,
  ];
  return launchProgram('redis-server', settings, 'Ready to accept connections');
}

/** Starts a program; resolves once it has printed what says that it is ready. */
export async function launchProgram(program: string, args: readonly string[], ready: string): Promise<ChildProcess> {
  const server = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let log = '';
  await new Promise<void>((resolve, reject) => {
    server.stdout.on('data', (chunk: Buffer) => {
      log += chunk.toString();
      if (log.includes(ready)) resolve();
    });
    server.once('error', reject);
    server.once('exit', (code) => reject(new Error(`${program} ended with ${code}: ${log}`)));
  });
  return server;
}
