import { expect, test } from 'vitest';
import { isObject } from '../../src/rest/values.ts';
import { ask } from '../support/gateway.ts';
import { pause, together } from '../support/load.ts';
import { runMain } from '../support/process.ts';
import { hasRedis, type RedisServer, startRedis } from '../support/redis.ts';

test.each(['1', '2'])(
  'with WORKERS=%s a slow reader of the log misses no line, and no line is cut',
  async (workers) => {
    await using gateway = runMain([], { PORT: '0', WORKSPACE_PORT: '0', WORKERS: workers, STOP_DELAY_MS: '0' });
    const [, url = ''] = await gateway.printed(/^Gateway +(\S+)/m);
    await gateway.printed(/^curl/m);
    gateway.child.stdout?.pause();
    // More than a pipe holds.
    await together(1000, 50, () => ask(url, 'query WithARatherLongName { __typename }'));
    gateway.child.kill('SIGTERM');
    await pause(200);
    gateway.child.stdout?.resume();
    expect(await gateway.exit()).toBe(0);
    const lines = gateway
      .output()
      .split('\n')
      .filter((line) => line.includes('"msg":"operation"'));
    expect(lines.map((line): unknown => JSON.parse(line))).toHaveLength(1000);
  },
);

/** Prints as libraries and Node do, once the gateway has taken over what is printed. */
const printing = `
  const { EventEmitter } = await import('node:events');
  const own = console.error;
  const timer = setInterval(() => {
    if (console.error === own) return;
    clearInterval(timer);
    process.emitWarning('old', 'DeprecationWarning', 'DEP0000');
    const emitter = new EventEmitter();
    for (let count = 0; count < 20; count += 1) emitter.on('close', () => undefined);
    for (const method of ['debug', 'log', 'info', 'warn', 'error']) console[method]('%s\\nin two lines', method);
  }, 1);`;

/** A fault, and the messages that report it. */
interface Fault {
  readonly name: string;
  readonly told: readonly string[];
  readonly environment: (redis: RedisServer) => Readonly<Record<string, string>>;
  /** A command for Redis before the gateway starts. */
  readonly redis?: readonly [string, ...string[]];
  readonly tls?: boolean;
}

const sharing = { CACHE_TTL: 'projects=60', UPSTREAM_BUDGET: 'rest=480/60', UPSTREAM_BUDGET_REPLICAS: '1' };

const faults: readonly Fault[] = [
  { name: 'Redis is absent', told: ['Redis is down'], environment: () => ({ REDIS_URL: 'redis://127.0.0.1:1' }) },
  {
    name: 'Redis wants a password',
    told: ['Redis is down'],
    environment: ({ url }) => ({ REDIS_URL: url }),
    redis: ['CONFIG', 'SET', 'requirepass', 'hunter'],
  },
  {
    name: 'the user of Redis may neither run scripts nor ask for its state',
    told: ['calls cannot be counted in Redis: this gateway has its part of the budget'],
    environment: ({ url }) => ({ REDIS_URL: url.replace('//', '//gateway:right@') }),
    redis: ['ACL', 'SETUSER', 'gateway', 'on', '>right', '~*', '+@all', '-info', '-eval', '-evalsha'],
  },
  {
    name: 'the certificate of Redis is signed by an unknown authority',
    told: ['Redis is down'],
    environment: ({ url }) => ({ REDIS_URL: url }),
    tls: true,
  },
  {
    name: 'Redis is asked for a password that it does not want',
    told: ['Redis is up'],
    environment: ({ url }) => ({ REDIS_URL: url.replace('//', '//:needless@') }),
  },
  {
    name: 'the upstream and a collector are absent',
    told: ['upstream fails', 'spans cannot be exported'],
    environment: () => ({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' }),
  },
  {
    name: 'Node warns, and libraries print',
    told: ['warning of Node: old', 'a library says: error'],
    environment: () => ({ NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(printing)}` }),
  },
  {
    name: 'Node warns, and libraries print in workers',
    told: ['warning of Node: old', 'a library says: error'],
    environment: () => ({
      WORKERS: '2',
      NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(printing)}`,
    }),
  },
];

test.skipIf(!hasRedis).concurrent.each(faults)(
  'in production every line is JSON, up to the last one at SIGTERM, where $name',
  { timeout: 90_000 },
  async ({ told, environment, redis: command, tls = false }) => {
    await using redis = await startRedis({ tls });
    if (command !== undefined) await redis.ask(...command);
    await using gateway = runMain([], {
      ...{ PORT: '0', NODE_ENV: 'production', STOP_DELAY_MS: '0', UPSTREAM_URL: 'https://127.0.0.1:1' },
      ...sharing,
      ...environment(redis),
    });
    const [, endpoint = ''] = await gateway.printed(/"gateway":"([^"]+)\/graphql"/);
    await ask(endpoint, '{ project(id: 1) { name } }');
    for (const message of told) await gateway.printed(new RegExp(`"msg":"${message}"`));
    gateway.child.kill('SIGTERM');
    expect(await gateway.exit()).toBe(0);
    const lines = gateway.output().trim().split('\n');
    const notJson = lines.filter(
      (line) => !/^\{"level":\d+,"time":\d+,.*\}$/.test(line) || !isObject(JSON.parse(line)),
    );
    expect(notJson).toEqual([]);
    expect(gateway.output()).toMatch(/"reason":"SIGTERM","msg":"stopping"/);
    expect(lines.at(-1)).toMatch(/"msg":"stopped"/);
    expect(gateway.output()).not.toMatch(/hunter|needless/);
  },
);
