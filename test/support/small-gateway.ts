import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { expectWithin, measured } from './form.ts';
import { type Answer, ask, type Request } from './gateway.ts';
import { pause } from './load.ts';
import { peakMemory, runWeighed, type Weighed } from './memory.ts';
import { startProber } from './prober.ts';
import type { Routes } from './routes.ts';
import { startUpstream, type Upstream } from './upstream.ts';

/** The heap that the gateway gets, in MiB: that of a pod with 512 MiB. */
const heapMebibytes = 384;

/** The growth of the gateway's memory that an attack may leave behind, in bytes. */
const allowance = 60 * 2 ** 20;

/** Longest answer of `/healthz` during an attack, in milliseconds; held in the whole form of a test only. */
const longestHealthMs = 500;

/** A gateway that runs as a process of its own with a small heap. */
export interface SmallGateway extends Weighed {
  /** The URL of its GraphQL endpoint. */
  readonly url: string;
  readonly port: number;
  /** True until the process has ended. */
  readonly lives: () => boolean;
  readonly ask: (query: string, request?: Request) => Promise<Answer>;
}

/**
 * Starts `src/main.ts` with 384 MiB of heap over an upstream, and waits until it listens. `environment` are its settings;
 * it logs warnings only unless they say otherwise. Disposing of it kills the process.
 */
export async function startSmallGateway(
  upstream: { readonly url: string },
  environment: Readonly<Record<string, string>> = {},
): Promise<SmallGateway> {
  const settings = { PORT: '0', UPSTREAM_URL: upstream.url, LOG_LEVEL: 'warn', ...environment };
  const running = runWeighed(settings, [`--max-old-space-size=${heapMebibytes}`]);
  const [, url = ''] = await running.printed(/^Gateway +(\S+)/m);
  return {
    ...running,
    url,
    port: Number(new URL(url).port),
    lives: () => running.child.exitCode === null && running.child.signalCode === null,
    ask: (query, request) => ask(url, query, request),
  };
}

/** A gateway under attack, and its upstream. */
export interface Attacked {
  readonly upstream: Upstream;
  readonly gateway: SmallGateway;
}

/**
 * Starts one gateway for all tests of a file, which attack it one after the other as it would happen anywhere. It has
 * answered `honest` once, and its upstream has forgotten that. Returns what gives both within a test.
 */
export function shareSmallGateway(
  routes: Routes,
  honest: string,
  environment: Readonly<Record<string, string>> = {},
): () => Attacked {
  let shared: Attacked | undefined;
  beforeAll(async () => {
    const upstream = await startUpstream(routes);
    upstream.release();
    shared = { upstream, gateway: await startSmallGateway(upstream, environment) };
    await shared.gateway.ask(honest);
  });
  beforeEach(() => shared?.upstream.reset());
  afterAll(async () => {
    await shared?.gateway[Symbol.asyncDispose]();
    await shared?.upstream[Symbol.asyncDispose]();
  });
  return () => {
    if (shared === undefined) throw new Error('expected to be called within a test');
    return shared;
  };
}

/**
 * Runs an attack, and returns what it returns. Fails if the gateway ends, or does not give back the memory that the
 * attack took; in the whole form of a test also if `/healthz` takes too long meanwhile.
 *
 * Ask the gateway once before: what it loads with its first operation is none of the attack's.
 */
export async function withstand<T>(gateway: SmallGateway, attack: () => Promise<T>): Promise<T> {
  const before = await gateway.weigh();
  await using prober = await startProber(new URL('/healthz', gateway.url));
  let result: T;
  try {
    result = await attack();
  } finally {
    // Whatever else the attack meets follows from that.
    expect(gateway.lives() ? 'it lives' : gateway.output()).toBe('it lives');
  }
  const longestMs = Math.max(...prober.tookMs);
  measured(expect.getState().currentTestName ?? 'attack', { longestMs, peak: await peakMemory(gateway) });
  expectWithin(longestMs, longestHealthMs);
  await expectMemory(gateway, before.live + allowance);
  return result;
}

/** Waits until the gateway holds at most so many bytes; fails after ten seconds. */
async function expectMemory(gateway: Weighed, atMost: number): Promise<void> {
  let { live } = await gateway.weigh();
  for (let tries = 0; live > atMost && tries < 40; tries += 1) {
    await pause(250);
    ({ live } = await gateway.weigh());
  }
  expect(live).toBeLessThanOrEqual(atMost);
}
