/** One gateway over an upstream of its own: its first requests, its warm-up, and then point by point. */
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import type { Agreement } from '../gateways/agreement.ts';
import { type RunningGateway, startGateway } from '../gateways/running.ts';
import { type GatewayName, gateways } from '../gateways/table.ts';
import type { Sample } from '../report/results.ts';
import { runBurst } from './burst.ts';
import { type Child, startChild } from './child.ts';
import type { LoadJob, LoadResult } from './load.ts';
import { firstHundred, firstRequest, type Point, points, started } from './points.ts';
import { cpuTimeOf, machineTime, memoryOf } from './processes.ts';
import type { UpstreamOrder, UpstreamReport } from './upstream.ts';

/** The durations of a run, in seconds. */
export interface Timing {
  /** One measured run. */
  readonly seconds: number;
  /** The CPU time of the warm-up before it. */
  readonly warm: number;
  /** The CPU time of the warm-up of a new process, with several scenarios. */
  readonly start: number;
  /** A run during which other processes used more CPUs than this is repeated, twice at most. */
  readonly quiet: number;
}

/** The result of a run of one gateway at one point. */
type Measured = Omit<Sample, 'round'>;

/** A gateway that is warm. */
export interface Bench extends AsyncDisposable {
  /** The results measured before the gateway was warm. */
  readonly cold: readonly Measured[];
  /** Measures one point; undefined if the gateway cannot answer the scenario. */
  measure(point: Point): Promise<Measured | undefined>;
}

/** True if gateways can have a core of their own here. */
export const canPin = availableParallelism() > 1 && spawnSync('taskset', ['-c', '0', 'true']).status === 0;

/** The words before the command of a gateway: it has the first core for itself. */
export const gatewayCore = canPin ? ['taskset', '-c', '0'] : [];
/** The words before the command of everything else. */
export const otherCore = canPin ? ['taskset', '-c', '1'] : [];

/** Starts a gateway and what it needs, and warms it. Throws if it does not start, or does not answer what the others do. */
export async function startBench(
  name: GatewayName,
  agreement: Agreement,
  timing: Timing,
  environment: Readonly<Record<string, string>> = {},
): Promise<Bench> {
  await using stack = new AsyncDisposableStack();
  const upstream = stack.use(startChild<UpstreamOrder, UpstreamReport>('upstream.ts', otherCore));
  const { url: upstreamUrl } = await upstream.answer();
  const load = stack.use(startChild<LoadJob, LoadResult>('load.ts', otherCore));
  const start = (): Promise<RunningGateway> =>
    startGateway(gateways[name], { upstreamUrl, environment, prefix: gatewayCore });
  const around = { name, load, upstream, seconds: timing.seconds };
  {
    // A gateway may keep what it has compiled. The first start of an installation would be measured as no other.
    await using earlier = await start();
    await measureOnce({ ...around, gateway: earlier }, firstRequest);
    await measureOnce({ ...around, gateway: earlier }, firstHundred);
  }
  const gateway = stack.use(await start());
  const run = { ...around, gateway };
  const cold = [startOf(name, gateway), await measureOnce(run, firstRequest), await measureOnce(run, firstHundred)];
  await gateway.prepare();
  await agreement.checkAll(name, gateway);
  for (const point of points.slice(0, 3)) await warmUp({ ...run, point }, timing.start / 3);
  const owned = stack.move();
  return {
    cold,
    measure: async (point) => {
      if (gateways[name].questions[point.scenario] === undefined) return undefined;
      await upstream.ask(point);
      await warmUp({ ...run, point }, timing.warm);
      return measureQuietly(run, point, timing.quiet);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** A gateway, and the processes around it. */
interface Run {
  readonly name: GatewayName;
  readonly gateway: RunningGateway;
  readonly load: Child<LoadJob, LoadResult>;
  readonly upstream: Child<UpstreamOrder, UpstreamReport>;
  /** The length of a run. */
  readonly seconds: number;
}

/** The start itself, up to the first answer. */
function startOf(gateway: GatewayName, { pid, startMs }: RunningGateway): Measured {
  const memory = rounded(memoryOf(pid, 'VmRSS'));
  const one = { cpu: cpuTimeOf(pid), p50: rounded(startMs), p99: rounded(startMs), memory };
  return { gateway, ...started, ...one, operationsPerSecond: 0, calls: 0, foreign: 0 };
}

/** The least disturbed of up to three runs. */
async function measureQuietly(run: Run, point: Point, quiet: number): Promise<Measured> {
  let best = await measureOnce(run, point);
  for (let again = 0; again < 2 && best.foreign > quiet; again += 1) {
    const other = await measureOnce(run, point);
    if (other.foreign < best.foreign) best = other;
  }
  return best;
}

async function measureOnce(run: Run, point: Point): Promise<Measured> {
  const { name, gateway, upstream } = run;
  await upstream.ask(point);
  const before = { gateway: cpuTimeOf(gateway.pid), all: cpuTimeOf(process.pid), machine: machineTime() };
  const { operations, seconds, p50, p99 } = await burst({ ...run, point });
  const cpu = (cpuTimeOf(gateway.pid) - before.gateway) / operations;
  const foreign = machineTime() - before.machine - (cpuTimeOf(process.pid) - before.all);
  const { calls, withoutKey } = await upstream.ask(point);
  if (withoutKey > 0) throw new Error(`${withoutKey} calls without the caller's key`);
  return {
    gateway: name,
    series: point.series,
    scenario: point.scenario,
    size: point.size,
    cpu: rounded(cpu),
    operationsPerSecond: rounded(operations / seconds),
    p50: rounded(p50),
    p99: rounded(p99),
    calls: rounded(calls / operations),
    memory: rounded(memoryOf(gateway.pid, 'VmHWM')),
    foreign: rounded(Math.max(foreign / 1e6 / seconds, 0)),
  };
}

/** Goes on until the gateway has had that many seconds of CPU time, which takes longer on a busy machine. */
async function warmUp(run: Run & { readonly point: Point }, seconds: number): Promise<void> {
  const { pid } = run.gateway;
  const enough = cpuTimeOf(pid) + seconds * 0.8e6;
  const deadline = performance.now() + seconds * 4000;
  do await burst({ ...run, seconds: seconds / 3 });
  while (cpuTimeOf(pid) < enough && performance.now() < deadline);
}

async function burst({ name, ...what }: Run & { readonly point: Point }): Promise<LoadResult> {
  const question = gateways[name].questions[what.point.scenario];
  if (question === undefined) throw new Error(`expected a question for ${what.point.scenario}`);
  return runBurst({ ...what, question });
}

function rounded(value: number): number {
  return Number(value.toPrecision(4));
}
