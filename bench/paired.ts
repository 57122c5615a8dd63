/**
 * The working tree beside another commit of this repository, or beside a peer, for differences of a few percent. Both
 * gateways run at the same time and are asked in turn for a quarter of a second each, in the order ABBA, so that whatever the machine does
 * meanwhile meets both. Each ratio is of two neighbouring bursts; what is printed is the median of all of them. It needs
 * Linux and git.
 *
 *   npm run bench:paired -- HEAD~1                         S1 to S6, about 5 minutes
 *   npm run bench:paired -- 679a270 --scenarios S1,S4      a part of it
 *   npm run bench:paired -- HEAD                           the spread of the instrument itself
 *   npm run bench:paired -- floor                          a gateway of gateways/table.ts in place of a commit
 *   npm run bench:paired -- HEAD --set CACHE_TTL=60        the working tree only gets this setting; several may be given
 *
 * More options: --pairs of processes, since two processes of one commit differ by some percent (3); --bursts of each
 * process for each scenario (16); --seconds a burst (0.25); --warm, the CPU seconds that each process gets before, for
 * each scenario (3); --hot, where all operations ask for the same objects.
 */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { createAgreement } from './gateways/agreement.ts';
import { install, type RunningGateway, type StartOptions, startGateway } from './gateways/running.ts';
import { type GatewayEntry, type GatewayName, gatewayNames, gateways, ours, root } from './gateways/table.ts';
import { gatewayCore, otherCore } from './measure/bench.ts';
import { runBurst } from './measure/burst.ts';
import { type Child, startChild } from './measure/child.ts';
import type { LoadJob, LoadResult } from './measure/load.ts';
import { type Point, points } from './measure/points.ts';
import { threadTimeOf } from './measure/processes.ts';
import type { UpstreamOrder, UpstreamReport } from './measure/upstream.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    scenarios: { type: 'string', default: 'S1,S2,S3,S4,S5,S6' },
    pairs: { type: 'string', default: '3' },
    bursts: { type: 'string', default: '16' },
    seconds: { type: 'string', default: '0.25' },
    warm: { type: 'string', default: '3' },
    set: { type: 'string', multiple: true, default: [] },
    hot: { type: 'boolean', default: false },
  },
});
const [name] = positionals;
if (name === undefined || positionals.length > 1) throw new Error('expected one commit or peer to compare with');

/** Microseconds of CPU an operation that two neighbouring bursts took. */
interface Neighbours {
  readonly here: number;
  readonly there: number;
}

/** A gateway that runs, and what it is. */
interface Side {
  readonly name: GatewayName;
  readonly gateway: RunningGateway;
}

/** Both gateways, and what asks them. */
interface Pair {
  readonly here: Side;
  readonly there: Side;
  readonly load: Child<LoadJob, LoadResult>;
}

const scenarios = values.scenarios.split(',');
const series = values.hot ? 'hot' : 'distinct';
const chosen = points.filter((point) => point.series === series && scenarios.includes(point.scenario));
if (chosen.length !== scenarios.length) throw new Error(`expected scenarios of bench/ but got ${values.scenarios}`);
const changes = Object.fromEntries(
  values.set.map((text) => [text.split('=', 1)[0] ?? '', text.slice(text.indexOf('=') + 1)]),
);
const measured = new Map<Point, Neighbours[]>(chosen.map((point) => [point, []]));

const peer = gatewayNames.find((known) => known === name);
if (peer === undefined) {
  const folder = checkOut(name);
  try {
    await measureBeside('ours', { ...ours, folder });
  } finally {
    execFileSync('git', ['worktree', 'remove', '--force', folder], { cwd: root });
    rmdirSync(dirname(folder));
  }
} else {
  install(gateways[peer]);
  await measureBeside(peer, gateways[peer]);
}
print();

async function measureBeside(other: GatewayName, entry: GatewayEntry): Promise<void> {
  for (let pairs = 1; pairs <= Number(values.pairs); pairs += 1) {
    await measurePair(other, entry);
    console.error(`pair ${pairs} of ${values.pairs}`);
  }
}

/** A commit in a folder of its own, with what it depends on. */
function checkOut(revision: string): string {
  const folder = join(mkdtempSync(join(tmpdir(), 'paired-')), 'gateway');
  execFileSync('git', ['worktree', 'add', '--quiet', '--detach', folder, revision], { cwd: root });
  const lockOf = (path: string): string => readFileSync(join(path, 'package-lock.json'), 'utf8');
  if (lockOf(folder) === lockOf(root)) {
    for (const part of ['', 'tools/rest-types', 'workspace']) {
      const modules = join(root, part, 'node_modules');
      if (existsSync(modules)) linkModules(modules, join(folder, part, 'node_modules'));
    }
  } else execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'inherit' });
  return folder;
}

/** Makes a folder with the same packages: those of the repository itself are those beside it, the others are shared. */
function linkModules(modules: string, folder: string): void {
  mkdirSync(folder);
  for (const entry of readdirSync(modules, { withFileTypes: true })) {
    const path = join(modules, entry.name);
    symlinkSync(entry.isSymbolicLink() ? readlinkSync(path) : path, join(folder, entry.name));
  }
}

/** Starts both gateways over one upstream, checks that they answer the same, and measures each scenario. */
async function measurePair(other: GatewayName, entry: GatewayEntry): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const upstream = stack.use(startChild<UpstreamOrder, UpstreamReport>('upstream.ts', otherCore));
  const { url: upstreamUrl } = await upstream.answer();
  const load = stack.use(startChild<LoadJob, LoadResult>('load.ts', otherCore));
  const start = async (
    side: GatewayName,
    from: GatewayEntry,
    environment: StartOptions['environment'] = {},
  ): Promise<Side> => {
    const gateway = stack.use(await startGateway(from, { upstreamUrl, environment, prefix: gatewayCore }));
    await gateway.prepare();
    return { name: side, gateway };
  };
  const pair = { here: await start('ours', ours, changes), there: await start(other, entry), load };
  const agreement = createAgreement();
  for (const { name: side, gateway } of [pair.there, pair.here]) await agreement.checkAll(side, gateway);
  for (const point of chosen) {
    for (const side of [pair.here, pair.there]) await warmUp(pair, side, point);
  }
  for (const point of chosen) {
    for (let bursts = 0; bursts < Number(values.bursts); bursts += 1) {
      measured.get(point)?.push(await neighbours(pair, point, bursts % 2 === 0));
    }
  }
}

async function neighbours(pair: Pair, point: Point, isHereFirst: boolean): Promise<Neighbours> {
  const first = await cost(pair, isHereFirst ? pair.here : pair.there, point);
  const second = await cost(pair, isHereFirst ? pair.there : pair.here, point);
  return isHereFirst ? { here: first, there: second } : { here: second, there: first };
}

/** CPU time of one operation in one burst, in microseconds. */
async function cost(pair: Pair, side: Side, point: Point): Promise<number> {
  const { pid } = side.gateway;
  const before = threadTimeOf(pid);
  const { operations } = await burst(pair, side, point);
  return (threadTimeOf(pid) - before) / operations;
}

async function warmUp(pair: Pair, side: Side, point: Point): Promise<void> {
  const { pid } = side.gateway;
  const enough = threadTimeOf(pid) + Number(values.warm) * 1e6;
  while (threadTimeOf(pid) < enough) await burst(pair, side, point);
}

async function burst({ load }: Pair, side: Side, point: Point): Promise<LoadResult> {
  const question = gateways[side.name].questions[point.scenario];
  if (question === undefined) throw new Error(`expected a question for ${point.scenario}`);
  return runBurst({ gateway: side.gateway, load, point, question, seconds: Number(values.seconds) });
}

function print(): void {
  const rows = [...measured].map(([{ scenario }, all]) => {
    const ratios = all.map(({ here, there }) => here / there);
    return {
      scenario,
      [`${name}, µs`]: quantile(
        all.map(({ there }) => there),
        0.5,
      ).toFixed(1),
      'working tree, µs': quantile(
        all.map(({ here }) => here),
        0.5,
      ).toFixed(1),
      ratio: quantile(ratios, 0.5).toFixed(3),
      // The median of that many ratios is within this with 95 % certainty, if they are independent.
      spread: `± ${((1.57 * (quantile(ratios, 0.75) - quantile(ratios, 0.25))) / Math.sqrt(ratios.length)).toFixed(3)}`,
    };
  });
  console.table(rows);
}

function quantile(numbers: readonly number[], share: number): number {
  return numbers.toSorted((one, two) => one - two)[Math.floor(numbers.length * share)] ?? NaN;
}
