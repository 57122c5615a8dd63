/**
 * Where the time of a warm gateway goes, and what its heap holds, by room: socket calls, HTTP, JSON, the folders of
 * src/. It writes bench/PROFILE.md. It needs Linux and `nm` of the binutils, which names native code.
 *
 *   npm run bench:profile                                      S1 to S4 and S6, about 3 minutes
 *   npm run bench:profile -- --scenarios S2 --functions 40     a part of it, with the functions that cost most; printed only
 *   npm run bench:profile -- --scenarios S2 --room gates       only the functions of that room
 *
 * More options: --seconds a measurement (6); --warm, the CPU seconds that a process gets before (6); --set NAME=VALUE
 * for the gateway, several may be given.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type RunningGateway, startGateway } from './gateways/running.ts';
import { ours } from './gateways/table.ts';
import { canPin, gatewayCore, otherCore } from './measure/bench.ts';
import { runBurst } from './measure/burst.ts';
import { startChild } from './measure/child.ts';
import type { LoadJob, LoadResult } from './measure/load.ts';
import { type Point, points } from './measure/points.ts';
import { mainThreadTimeOf, threadTimeOf } from './measure/processes.ts';
import type { UpstreamOrder, UpstreamReport } from './measure/upstream.ts';
import { type HeapRecord, heapByRoom } from './profile/heap.ts';
import { roomOfTick } from './profile/rooms.ts';
import { createSymbolize } from './profile/symbols.ts';
import { type Frame, type Tick, ticksOf } from './profile/v8-log.ts';
import { machineHere } from './report/machine.ts';
import { type Costs, profilePageOf } from './report/profile-page.ts';

const { values } = parseArgs({
  options: {
    scenarios: { type: 'string' },
    seconds: { type: 'string', default: '6' },
    warm: { type: 'string', default: '6' },
    functions: { type: 'string' },
    room: { type: 'string' },
    set: { type: 'string', multiple: true, default: [] },
  },
});
const seconds = Number(values.seconds);
const isWhole = values.scenarios === undefined && values.set.length === 0;
const scenarios = (values.scenarios ?? 'S1,S2,S3,S4,S6').split(',');
const distinct = points.filter(({ series }) => series === 'distinct');
const chosen = distinct.filter(({ scenario }) => scenarios.includes(scenario));
if (chosen.length !== scenarios.length) throw new Error(`expected scenarios of bench/ but got ${scenarios.join()}`);
const settings = Object.fromEntries(
  values.set.map((text) => [text.split('=', 1)[0] ?? '', text.slice(text.indexOf('=') + 1)]),
);
const folder = mkdtempSync(join(tmpdir(), 'profile-'));
const symbolize = createSymbolize();

try {
  const costs: Costs[] = [];
  for (const point of chosen) costs.push(await costsOf(point));
  const heap = isWhole ? await heapOf() : undefined;
  const page = profilePageOf(machineHere(canPin), costs, heap && { ...heap, rooms: heapByRoom(heap.head) });
  if (isWhole) writeFileSync(new URL('PROFILE.md', import.meta.url), page);
  else console.log(page);
} finally {
  rmSync(folder, { recursive: true });
}

/** A gateway, what asks it, and the moment of its launch. */
interface Bench extends AsyncDisposable {
  readonly gateway: RunningGateway;
  readonly launchedAt: number;
  /** Asks for a while. Answers how many operations there were. */
  ask(point: Point, time: number): Promise<number>;
  /** Asks until the gateway has had its seconds of CPU time. */
  warm(point: Point): Promise<void>;
}

async function startBench(
  nodeOptions: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<Bench> {
  await using stack = new AsyncDisposableStack();
  const upstream = stack.use(startChild<UpstreamOrder, UpstreamReport>('upstream.ts', otherCore));
  const { url: upstreamUrl } = await upstream.answer();
  const load = stack.use(startChild<LoadJob, LoadResult>('load.ts', otherCore));
  const launchedAt = performance.now();
  const gateway = stack.use(
    await startGateway(ours, {
      upstreamUrl,
      environment: { ...settings, ...environment },
      prefix: gatewayCore,
      nodeOptions,
    }),
  );
  await gateway.prepare();
  const ask = async (point: Point, time: number): Promise<number> => {
    const question = ours.questions[point.scenario];
    if (question === undefined) throw new Error(`expected a question for ${point.scenario}`);
    return (await runBurst({ gateway, load, point, question, seconds: time })).operations;
  };
  const owned = stack.move();
  return {
    gateway,
    launchedAt,
    ask,
    warm: async (point) => {
      const enough = threadTimeOf(gateway.pid) + Number(values.warm) * 1e6;
      while (threadTimeOf(gateway.pid) < enough) await ask(point, 0.5);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** CPU time of a process that nothing observes, shared out as the samples of another one say. */
async function costsOf(point: Point): Promise<Costs> {
  const costs = await timesOf(point);
  const ticks = await sample(point);
  const rooms = new Map<string, number>();
  const functions = new Map<string, number>();
  let busy = 0;
  for (const tick of ticks) {
    const room = roomOfTick(tick);
    if (room === undefined) continue;
    busy += 1;
    rooms.set(room, (rooms.get(room) ?? 0) + 1);
    if (values.room === undefined || values.room === room) {
      const name = `${placeOf(tick.frames)} [${room}]`;
      functions.set(name, (functions.get(name) ?? 0) + 1);
    }
  }
  for (const [room, count] of rooms) rooms.set(room, (count / busy) * costs.main);
  if (values.functions !== undefined || values.room !== undefined) {
    const most = [...functions].toSorted(([, one], [, other]) => other - one).slice(0, Number(values.functions ?? 30));
    console.log(`${point.scenario}, µs an operation:`);
    for (const [name, count] of most) console.log(((count / busy) * costs.main).toFixed(2).padStart(8), name);
  }
  return { scenario: point.scenario, ...costs, samples: busy, rooms };
}

async function timesOf(point: Point): Promise<Pick<Costs, 'main' | 'helpers'>> {
  await using bench = await startBench([], {});
  await bench.warm(point);
  const { pid } = bench.gateway;
  const before = { main: mainThreadTimeOf(pid), all: threadTimeOf(pid) };
  const operations = await bench.ask(point, seconds);
  const main = mainThreadTimeOf(pid) - before.main;
  return { main: main / operations, helpers: (threadTimeOf(pid) - before.all - main) / operations };
}

/** Takes some thousand samples of the main thread at a point. */
async function sample(point: Point): Promise<Tick[]> {
  const log = join(folder, 'v8.log');
  const options = ['--prof', '--prof-sampling-interval=250', '--no-logfile-per-isolate', `--logfile=${log}`];
  let window = { from: 0, to: 0 };
  {
    await using bench = await startBench(options, {});
    await bench.warm(point);
    const from = performance.now() - bench.launchedAt;
    await bench.ask(point, seconds);
    // V8 counts from a moment shortly after the launch.
    window = { from: from * 1000, to: (performance.now() - bench.launchedAt - 300) * 1000 };
  }
  const ticks = ticksOf(readFileSync(log, 'utf8'), symbolize);
  return ticks.filter(({ time }) => time >= window.from && time <= window.to);
}

/** The innermost function of ours or of a package, and the native code that it was in, if any. */
function placeOf(frames: readonly Frame[]): string {
  const [leaf] = frames;
  const caller = frames.find(({ kind, file }) => kind === 'js' && file !== '') ?? leaf;
  const where = `${caller?.name} ${caller?.file.replace(/^.*?(?=node_modules\/|src\/|node:)/, '')}`;
  return leaf === caller ? where : `${where} > ${leaf?.name.replace(/\(.*/, '')}`;
}

/** The heap after all scenarios. */
async function heapOf(): Promise<HeapRecord> {
  const file = join(folder, 'heap.json');
  const recorder = `--import=${new URL('profile/record-heap.ts', import.meta.url)}`;
  await using bench = await startBench([recorder], { HEAP_FILE: file });
  for (const point of distinct.slice(0, 6)) await bench.ask(point, seconds / 2);
  process.kill(bench.gateway.pid, 'SIGUSR2');
  while (!existsSync(file)) await sleep(100);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by profile/record-heap.ts
  return JSON.parse(readFileSync(file, 'utf8')) as HeapRecord;
}
