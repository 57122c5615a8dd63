import { mkdtempSync, rmSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { integer, sample, shuffledSubarray } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { inForm, measured, seedOf } from '../support/form.ts';
import { type Answer, ask } from '../support/gateway.ts';
import { as, codesOf, pause } from '../support/load.ts';
import { hasNginx, type Nginx, startNginx } from '../support/nginx.ts';
import { type Running, runMain } from '../support/process.ts';
import { hasRedis, type RedisServer, startRedis } from '../support/redis.ts';
import { project } from '../support/rows.ts';
import { startUpstream } from '../support/upstream.ts';

/** Each key may make so many calls in any span of so long, over all gateways. */
const limit = 60;
const windowMs = 4000;

/** In any span of so long in which the upstream is there, something has to be answered: "no minute without an answer". */
const spanMs = inForm(15_000, 60_000);

const totalMs = inForm(40_000, 600_000);
const keys = ['phx_anna', 'phx_berta'];

const fill = "for i = 1, 5000 do redis.call('SET', 'filler:' .. i, string.rep('x', 1000)) end";

/** A fault that an operator may meet: it begins, and ends if it can. */
interface Fault {
  readonly name: string;
  readonly begin: () => Promise<void> | void;
  readonly end?: () => Promise<void> | void;
}

interface Member {
  readonly running: Running;
  readonly url: string;
}

interface Told {
  readonly at: number;
  readonly answer: Answer;
}

async function startMember(upstreamUrl: string, redisUrl: string): Promise<Member> {
  const running = runMain([], {
    ...{ PORT: '0', STOP_DELAY_MS: '0', LOG_LEVEL: 'warn', UPSTREAM_URL: upstreamUrl, REDIS_URL: redisUrl },
    ...{ UPSTREAM_BUDGET: `rest=${limit}/${windowMs / 1000}`, UPSTREAM_BUDGET_REPLICAS: '3' },
    ...{ CACHE_TTL: 'projects=1', CACHE_STALE: '0', OPERATION_DEADLINE_MS: '3000' },
  });
  const [, url = ''] = await running.printed(/^Gateway +(\S+)/m);
  return { running, url };
}

/** nginx before the upstream. While its folder holds a file `broken`, it answers every call with an error page of its own. */
function startProxy(upstreamUrl: string, folder: string): Promise<Nginx> {
  const page = `error_page 404 403 401 429 /page; location = /page { internal; default_type text/html; return 200 '<h1>no</h1>'; }`;
  return startNginx({
    server: `${page}
      if (-f ${folder}/404) { return 404; }
      if (-f ${folder}/403) { return 403; }
      if (-f ${folder}/401) { return 401; }
      if (-f ${folder}/429) { return 429; }
      location / { proxy_pass ${upstreamUrl}; }`,
  });
}

/** At each call of a key: how many it has made in the window that ends then. */
function windowsOf(times: readonly number[]): readonly { readonly at: number; readonly calls: number }[] {
  let first = 0;
  return times.map((at, index) => {
    while ((times[first] ?? at) <= at - windowMs) first += 1;
    return { at, calls: index - first + 1 };
  });
}

/** Metrics that say that a gateway counts by itself, or that Redis has lost calls or failed. */
const telling = /^gateway_(?:budget_mode\{mode="local"\}|budget_lost_calls_total|redis_failures_total\S*) [1-9].*$/gm;

/** The moments at which such a metric of a gateway was not as the last time, or said that the gateway counts by itself. */
async function watchMetrics(members: readonly Member[], end: AbortSignal): Promise<readonly number[]> {
  const seen = new Map<string, string>();
  const moments: number[] = [];
  while (!end.aborted) {
    for (const { url } of members) {
      const metrics = await fetch(new URL('/metrics', url)).then(
        (response) => response.text(),
        () => '',
      );
      const told = metrics.match(telling)?.join('\n') ?? '';
      if (told.includes('local') || told !== (seen.get(url) ?? '')) moments.push(performance.now());
      seen.set(url, told);
    }
    await pause(100);
  }
  return moments;
}

const lineOfCounts = /"time":(\d+).*"msg":"(?:calls cannot be counted in Redis|Redis has lost calls)/g;

function momentsIn(log: string): readonly number[] {
  return [...log.matchAll(lineOfCounts)].map(([, time]) => Number(time) - performance.timeOrigin);
}

function faultsOf(
  redis: RedisServer,
  nginx: Nginx,
  folder: string,
  members: Member[],
  start: () => Promise<Member>,
): readonly Fault[] {
  const page = (status: string): Fault => ({
    name: `the proxy answers ${status} by itself`,
    begin: async () => {
      await writeFile(join(folder, status), '');
      nginx.reload();
    },
    end: async () => {
      await rm(join(folder, status));
      nginx.reload();
    },
  });
  return [
    { name: 'Redis starts again without its data', begin: () => redis.restart() },
    { name: 'Redis is away', begin: () => redis.kill(), end: () => redis.restart() },
    { name: 'Redis is emptied', begin: async () => void (await redis.ask('FLUSHALL')) },
    { name: 'Redis hangs', begin: () => redis.freeze(), end: () => redis.thaw() },
    {
      name: 'Redis is full',
      begin: async () => {
        await redis.ask('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
        await redis.ask('CONFIG', 'SET', 'maxmemory', '3mb');
        await redis.ask('EVAL', fill, '0');
      },
      end: async () => {
        await redis.ask('CONFIG', 'SET', 'maxmemory', '0');
      },
    },
    {
      name: 'a gateway is killed, and another one starts',
      begin: async () => {
        const gone = members.shift();
        await gone?.running[Symbol.asyncDispose]();
      },
      end: async () => void members.push(await start()),
    },
    ...['404', '403', '401', '429'].map(page),
  ];
}

describe.skipIf(!hasRedis || !hasNginx)('Faults of what an operator runs beside gateways, drawn at random', () => {
  test('let no minute pass without an answer, tell nothing as absent, and exceed no window in silence', {
    timeout: totalMs + 120_000,
  }, async () => {
    const seed = seedOf('FAULTS_SEED');
    const folder = mkdtempSync(join(tmpdir(), 'faults-'));
    await using redis = await startRedis();
    const calls = new Map<string, number[]>();
    await using upstream = await startUpstream(({ params, headers, target }) => {
      const key = headers['authorization']?.replace('Bearer ', '') ?? '';
      const times = calls.get(key) ?? [];
      calls.set(key, times);
      times.push(performance.now());
      return project(Number(params['id'] ?? /projects\/(\d+)\//.exec(target)?.[1] ?? 1));
    });
    upstream.release();
    await using nginx = await startProxy(upstream.url, folder);
    const all: Member[] = [];
    const start = async (): Promise<Member> => {
      const member = await startMember(nginx.url, redis.url);
      all.push(member);
      return member;
    };
    const members = [await start(), await start()];
    const told: Told[] = [];
    /** Spans in which the proxy did not let calls through. */
    const closed: [from: number, to: number][] = [];
    const end = new AbortController();
    let asked = 0;
    const watched = watchMetrics(members, end.signal);
    try {
      const clients = keys.flatMap((key) =>
        [0, 1].map(async () => {
          while (!end.signal.aborted) {
            const member = members[asked % Math.max(members.length, 1)];
            asked += 1;
            if (member !== undefined) {
              const query = `{ project(id: ${1 + (asked % 40)}) { name } }`;
              const answer = await ask(member.url, query, as(key)).catch(() => undefined);
              if (answer !== undefined) told.push({ at: performance.now(), answer });
            }
            await pause(20);
          }
        }),
      );
      const faults = faultsOf(redis, nginx, folder, members, start);
      const drawn: string[] = [];
      const until = performance.now() + totalMs;
      // The short form has each fault once, in an order of its own.
      const round = shuffledSubarray([...faults], { minLength: faults.length });
      const rounds = sample(round, { seed, numRuns: inForm(1, 100) });
      const lengths = sample(integer({ min: 500, max: inForm(1500, 4500) }), { seed, numRuns: 1000 });
      for (const fault of rounds.flat()) {
        if (performance.now() >= until) break;
        const from = performance.now();
        await fault.begin();
        await pause(lengths[drawn.length] ?? 0);
        await fault.end?.();
        if (fault.name.startsWith('the proxy')) closed.push([from, performance.now() + 2000]);
        drawn.push(fault.name);
        await pause(inForm(1000, 4000));
      }
      end.abort();
      await Promise.all(clients);
      const successes = told.filter(({ answer }) => answer.errors === undefined).map(({ at }) => at);
      expect(gaps(successes, closed).filter((ms) => ms > spanMs)).toEqual([]);
      expect([
        ...new Set(
          told
            .map(({ answer }) => answer)
            .filter(isWrong)
            .map(({ body }) => body),
        ),
      ]).toEqual([]);
      const windows = [...calls.values()].flatMap(windowsOf);
      const exceeded = windows.filter((window) => window.calls > limit).map(({ at }) => at);
      const metrics = await watched;
      const lines = all.flatMap(({ running }) => momentsIn(running.output()));
      expect(exceeded.filter((at) => !metrics.some((one) => one > at - 2 * windowMs && one < at + windowMs))).toEqual(
        [],
      );
      // The same reason is logged once a minute at most.
      expect(exceeded.filter((at) => !lines.some((one) => one > at - 70_000 && one < at + windowMs))).toEqual([]);
      const most = Math.max(...windows.map((window) => window.calls));
      // The parts of two gateways beside the script's count, during an outage and the window after it.
      expect(most).toBeLessThanOrEqual(2 * limit);
      measured('faults at random', {
        seed,
        drawn: drawn.length,
        asked,
        answered: successes.length,
        most,
        limit,
        exceeded: exceeded.length,
      });
    } finally {
      end.abort();
      await Promise.all(all.map(({ running }) => running[Symbol.asyncDispose]()));
      rmSync(folder, { recursive: true });
    }
  });
});

/** True if an answer says that a project is absent, or that its caller may not have it: neither is ever true here. */
function isWrong(answer: Answer): boolean {
  if (answer.errors === undefined) return answer.body.includes('"project":null');
  return codesOf(answer).some((code) => code === 'NOT_FOUND' || code === 'FORBIDDEN' || code === 'UNAUTHENTICATED');
}

/** Milliseconds between neighbouring answers, without the spans in which the upstream could not be reached. */
function gaps(successes: readonly number[], closed: readonly (readonly [number, number])[]): readonly number[] {
  return successes.slice(1).map((at, index) => {
    const before = successes[index] ?? at;
    const away = closed.reduce((sum, [from, to]) => sum + Math.max(0, Math.min(at, to) - Math.max(before, from)), 0);
    return at - before - away;
  });
}
