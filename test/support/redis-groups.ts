import { type ChildProcess, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from './free-port.ts';
import { hasRedis, launchProgram, syncAtOnce, tlsSettings } from './redis.ts';
import { authority } from './tls.ts';
import { until } from './until.ts';

/** True if this machine has a `redis-server` and a `redis-sentinel`. */
export const hasSentinel = hasRedis && spawnSync('redis-sentinel', ['--version']).status === 0;

interface Member {
  readonly port: number;
  ask(command: string, ...args: readonly string[]): Promise<unknown>;
  freeze(): void;
  thaw(): void;
  kill(): Promise<void>;
}

/** Several servers that are one Redis. */
export interface RedisGroup extends AsyncDisposable {
  /** As `REDIS_URL`. */
  readonly url: string;
  /** The one that is to fail. */
  readonly primary: Member;
  /** The one that takes its place. */
  readonly replica: Member;
  /** True if the replica has taken the place of the primary. */
  isPromoted(): Promise<boolean>;
}

/** Starts servers below one folder, and ends them all. */
class Servers implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'redis-group-'));
  readonly #running: Member[] = [];
  readonly #isSecure: boolean;

  constructor(isSecure: boolean) {
    this.#isSecure = isSecure;
  }

  async start(...settings: readonly string[]): Promise<Member> {
    const port = await freePort();
    const args = [...this.#settingsOf(port), '--save', '', ...syncAtOnce, ...settings];
    return this.#add(port, await launchProgram('redis-server', args, 'Ready to accept connections'));
  }

  async startSentinel(...lines: readonly string[]): Promise<Member> {
    const port = await freePort();
    const own = this.#settingsOf(port).join(' ').split('--').slice(1);
    const path = join(this.#folder, `${port}`, 'sentinel.conf');
    writeFileSync(path, [...own, ...lines, ''].join('\n'));
    return this.#add(port, await launchProgram('redis-sentinel', [path], '+monitor master'));
  }

  /** A client of one of the servers. */
  connect(port: number, password?: string): Redis {
    const host = '127.0.0.1';
    const redis = new Redis({
      port,
      host,
      ...(password && { password }),
      ...(this.#isSecure && { tls: { ca: authority } }),
    });
    // A server that becomes the primary ends its connections.
    redis.on('error', () => undefined);
    return redis;
  }

  #settingsOf(port: number): readonly string[] {
    const folder = join(this.#folder, `${port}`);
    mkdirSync(folder);
    const common = ['--bind', '127.0.0.1', '--dir', folder];
    if (!this.#isSecure) return [...common, '--port', `${port}`];
    return [...common, '--port', '0', '--tls-port', `${port}`, ...tlsSettings, '--tls-replication', 'yes'];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#running.map((member) => member.kill()));
    rmSync(this.#folder, { recursive: true });
  }

  #add(port: number, process: ChildProcess): Member {
    const member: Member = {
      port,
      ask: async (command, ...args) => {
        const redis = this.connect(port);
        try {
          return await redis.call(command, ...args);
        } finally {
          redis.disconnect();
        }
      },
      freeze: () => void process.kill('SIGSTOP'),
      thaw: () => void process.kill('SIGCONT'),
      kill: async () => {
        if (process.exitCode !== null || process.signalCode !== null) return;
        const exited = once(process, 'exit');
        process.kill('SIGKILL');
        await exited;
      },
    };
    this.#running.push(member);
    return member;
  }
}

async function isPrimary(member: Member): Promise<boolean> {
  return String(await member.ask('INFO', 'replication')).includes('role:master');
}

async function replicates(replica: Member): Promise<void> {
  await until(async () => String(await replica.ask('INFO', 'replication')).includes('master_link_status:up'));
}

/** Starts a primary, a replica and three Sentinels with a password, which take a second to find out that the primary is gone. */
export async function startSentinels({ tls: isSecure = false } = {}): Promise<RedisGroup> {
  await using stack = new AsyncDisposableStack();
  const servers = stack.use(new Servers(isSecure));
  const primary = await servers.start();
  const replica = await servers.start('--replicaof', `127.0.0.1 ${primary.port}`);
  await replicates(replica);
  const lines = [
    'requirepass watch',
    'sentinel sentinel-pass watch',
    `sentinel monitor main 127.0.0.1 ${primary.port} 2`,
    'sentinel down-after-milliseconds main 1000',
    'sentinel failover-timeout main 4000',
  ];
  const sentinels = [];
  for (let count = 0; count < 3; count += 1) sentinels.push(await servers.startSentinel(...lines));
  for (const { port } of sentinels) {
    const redis = servers.connect(port, 'watch');
    await until(async () => {
      const facts = String(await redis.call('INFO', 'sentinel'));
      return facts.includes('slaves=1') && facts.includes('sentinels=3');
    });
    redis.disconnect();
  }
  return {
    url: `${isSecure ? 'rediss' : 'redis'}+sentinel://${['127.0.0.1:1', ...sentinels.map(({ port }) => `127.0.0.1:${port}`)].join(',')}/main/0`,
    ...{ primary, replica },
    isPromoted: () => isPrimary(replica),
    [Symbol.asyncDispose]: disposalOf(stack.move()),
  };
}

/** Starts a Cluster of three nodes. The one that has a name has a replica, too. */
export async function startCluster(name: string, { tls: isSecure = false } = {}): Promise<RedisGroup> {
  await using stack = new AsyncDisposableStack();
  const servers = stack.use(new Servers(isSecure));
  const nodes: Member[] = [];
  for (let count = 0; count < 4; count += 1) {
    const settings = [
      '--cluster-enabled',
      'yes',
      '--cluster-node-timeout',
      '1000',
      ...(isSecure ? ['--tls-cluster', 'yes'] : []),
    ];
    nodes.push(await servers.start(...settings, '--cluster-port', `${await freePort()}`));
  }
  const [primary, second, third, replica] = nodes;
  if (primary === undefined || second === undefined || third === undefined || replica === undefined)
    throw new Error('expected four nodes');
  const slot = Number(await primary.ask('CLUSTER', 'KEYSLOT', name));
  const ranges = [
    [0, 5460],
    [5461, 10_922],
    [10_923, 16_383],
  ];
  const own = ranges.findIndex(([, last = 0]) => slot <= last);
  for (const [index, node] of [primary, second, third].entries())
    await node.ask('CLUSTER', 'ADDSLOTSRANGE', ...(ranges[(own + index) % 3] ?? []).map(String));
  for (const node of nodes.slice(1)) await meet(primary, node);
  await until(async () => {
    const facts = await Promise.all(nodes.map((node) => node.ask('CLUSTER', 'INFO')));
    return facts.every((one) => /cluster_state:ok[^]*cluster_known_nodes:4/.test(String(one)));
  });
  await replica.ask('CLUSTER', 'REPLICATE', String(await primary.ask('CLUSTER', 'MYID')));
  await replicates(replica);
  return {
    url: `${isSecure ? 'rediss' : 'redis'}+cluster://127.0.0.1:1,127.0.0.1:${second.port},127.0.0.1:${third.port}`,
    ...{ primary, replica },
    isPromoted: () => isPrimary(replica),
    [Symbol.asyncDispose]: disposalOf(stack.move()),
  };
}

function disposalOf(stack: AsyncDisposableStack): () => Promise<void> {
  return () => stack.disposeAsync();
}

async function meet(node: Member, other: Member): Promise<void> {
  const [, bus = ''] = /@(\d+)/.exec(String(await other.ask('CLUSTER', 'NODES'))) ?? [];
  await node.ask('CLUSTER', 'MEET', '127.0.0.1', `${other.port}`, bus);
}
