/** Gateways side by side over one upstream: started, warmed, measured in turn. */
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { createAgreement } from '../gateways/agreement.ts';
import { type RunningGateway, startGateway } from '../gateways/running.ts';
import { type GatewayName, gateways } from '../gateways/table.ts';
import type { Sample } from '../report/results.ts';
import { runBurst } from './burst.ts';
import { type Child, startChild } from './child.ts';
import type { LoadJob, LoadResult } from './load.ts';
import { type Point, points } from './points.ts';
import { cpuTimeOf, machineTime, peakMemoryOf } from './processes.ts';
import type { UpstreamOrder, UpstreamReport } from './upstream.ts';

/** How long things take, in seconds. */
export interface Timing {
  /** One measured run. */
  readonly seconds: number;
  /** Each run of the warm-up before it. */
  readonly warm: number;
  /** The warm-up of a new process, with several scenarios, likewise. */
  readonly start: number;
  /** A run during which other processes used more CPUs than this is repeated, twice at most. */
  readonly quiet: number;
}

/** The processes of one round. */
export interface Bench extends AsyncDisposable {
  readonly names: readonly GatewayName[];
  /** Measures one gateway at one point; undefined if it cannot answer the scenario. */
  measure(name: GatewayName, point: Point): Promise<Omit<Sample, 'round'> | undefined>;
}

/** True if gateways can have a core of their own here. */
export const canPin = availableParallelism() > 1 && spawnSync('taskset', ['-c', '0', 'true']).status === 0;

/** The words before the command of a gateway: it has the first core for itself. */
export const gatewayCore = canPin ? ['taskset', '-c', '0'] : [];
/** The words before the command of everything else. */
export const otherCore = canPin ? ['taskset', '-c', '1'] : [];

/**
 * Starts an upstream, a load and gateways, and warms them. One that does not start, or answers something else than the
 * first, is told of and left out.
 */
export async function startBench(
  names: readonly GatewayName[],
  timing: Timing,
  environment: Readonly<Record<string, string>> = {},
): Promise<Bench> {
  await using stack = new AsyncDisposableStack();
  const upstream = stack.use(startChild<UpstreamOrder, UpstreamReport>('upstream.ts', otherCore));
  const { url: upstreamUrl } = await upstream.answer();
  const load = stack.use(startChild<LoadJob, LoadResult>('load.ts', otherCore));
  const agreement = createAgreement();
  const running = new Map<GatewayName, RunningGateway>();
  for (const name of names) {
    try {
      const gateway = await startGateway(gateways[name], { upstreamUrl, environment, prefix: gatewayCore });
      stack.use(gateway);
      await agreement.checkAll(name, gateway);
      running.set(name, gateway);
      for (const point of points.slice(0, 3)) await warmUp({ name, gateway, load, point }, timing.start / 3);
    } catch (error) {
      console.error(error);
    }
  }
  const owned = stack.move();
  return {
    names: [...running.keys()],
    measure: async (name, point) => {
      const gateway = running.get(name);
      if (gateway === undefined || gateways[name].questions[point.scenario] === undefined) return undefined;
      const figures = await measure({ name, gateway, load, upstream, point, timing });
      return { gateway: name, series: point.series, scenario: point.scenario, size: point.size, ...figures };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

interface Run {
  readonly name: GatewayName;
  readonly gateway: RunningGateway;
  readonly load: Child<LoadJob, LoadResult>;
  readonly point: Point;
}

type Figures = Omit<Sample, 'round' | 'gateway' | 'series' | 'scenario' | 'size'>;

/** The least disturbed of up to three runs. */
async function measure(
  what: Run & { upstream: Child<UpstreamOrder, UpstreamReport>; timing: Timing },
): Promise<Figures> {
  const { gateway, upstream, point, timing } = what;
  await upstream.ask(point);
  await untilSteady(what, timing.warm);
  let best: Figures | undefined;
  for (let attempts = 0; attempts < 3 && (best === undefined || best.foreign > timing.quiet); attempts += 1) {
    await upstream.ask(point);
    const before = { gateway: cpuTimeOf(gateway.pid), all: cpuTimeOf(process.pid), machine: machineTime() };
    const { operations, seconds, p50, p99 } = await run({ ...what, seconds: timing.seconds });
    const cpu = (cpuTimeOf(gateway.pid) - before.gateway) / operations;
    const foreign = machineTime() - before.machine - (cpuTimeOf(process.pid) - before.all);
    const { calls, withoutKey } = await upstream.ask(point);
    if (withoutKey > 0) throw new Error(`${withoutKey} calls without the caller's key`);
    const figures = {
      cpu: rounded(cpu),
      operationsPerSecond: rounded(operations / seconds),
      p50: rounded(p50),
      p99: rounded(p99),
      calls: rounded(calls / operations),
      memory: rounded(peakMemoryOf(gateway.pid)),
      foreign: rounded(Math.max(foreign / 1e6 / seconds, 0)),
    };
    if (best === undefined || figures.foreign < best.foreign) best = figures;
  }
  if (best === undefined) throw new Error('expected a run');
  return best;
}

/** CPU time of two runs in a row differs by less than this share once a process is warm. */
const steady = 0.03;

/** Runs of a warm-up at most: on a machine that others use, no two runs may ever be equal. */
const maximumWarmUps = 12;

/** Goes on until two runs in a row cost the same CPU time an operation. */
async function untilSteady(what: Run, seconds: number): Promise<void> {
  let previous = Infinity;
  for (let runs = 0; runs < maximumWarmUps; runs += 1) {
    const before = cpuTimeOf(what.gateway.pid);
    const { operations } = await run({ ...what, seconds });
    const cpu = (cpuTimeOf(what.gateway.pid) - before) / operations;
    if (Math.abs(cpu - previous) < steady * cpu) return;
    previous = cpu;
  }
}

/** Goes on until the gateway has had most of that many seconds of CPU time, which takes longer on a busy machine. */
async function warmUp(what: Run, seconds: number): Promise<void> {
  const { pid } = what.gateway;
  const enough = cpuTimeOf(pid) + seconds * 0.8e6;
  const deadline = performance.now() + seconds * 4000;
  do await run({ ...what, seconds: seconds / 3 });
  while (cpuTimeOf(pid) < enough && performance.now() < deadline);
}

async function run({ name, ...what }: Run & { readonly seconds: number }): Promise<LoadResult> {
  const question = gateways[name].questions[what.point.scenario];
  if (question === undefined) throw new Error(`expected a question for ${what.point.scenario}`);
  return runBurst({ ...what, question });
}

function rounded(value: number): number {
  return Number(value.toPrecision(4));
}
