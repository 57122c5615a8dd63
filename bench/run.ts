/**
 * The benchmark: this gateway and its peers side by side over one upstream. It needs Linux, and npm if a peer is not
 * installed yet. A whole run writes bench/results.json as it goes, and from it bench/RESULTS.md and bench/chart.svg.
 *
 *   npm run bench                      three rounds, about 40 minutes
 *   npm run bench -- --quick           one short round, about 8 minutes
 *   npm run bench -- --resume          goes on with a run that was broken off; with the options below only with that part of it
 *   npm run bench -- --scenarios S2,S3 --peers ours,tailcall --rounds 2
 *                                      a part of it; printed, and nothing is written
 *   npm run bench -- --report          RESULTS.md and chart.svg once more from results.json
 *
 * More options: --latency, --hot or --cold only the operations with a slow upstream, with equal ids or with different ones,
 * --growth only the series that grow; --seconds, --warm, --start for the lengths of a run, of each run of the warm-up before it (it goes on until two in a row
 * differ by less than 3 %), and of the warm-up of a new process;
 * --quiet for how many CPUs others may use during a run that is not repeated.
 *
 * TAILCALL_LIBS names a folder with a glibc of 2.39 or newer and its loader, for Tailcall on an older system.
 */
import { parseArgs } from 'node:util';
import { install } from './gateways/running.ts';
import { type GatewayName, gatewayNames, gateways } from './gateways/table.ts';
import { type Bench, canPin, startBench, type Timing } from './measure/bench.ts';
import { grownGateways, growth, type Point, points } from './measure/points.ts';
import { machineHere } from './report/machine.ts';
import { printFigures, writeReport } from './report/report.ts';
import { type Results, readResults, type Sample, writeResults } from './report/results.ts';
import { scenarioNames } from './scenarios/names.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string' },
    scenarios: { type: 'string' },
    peers: { type: 'string' },
    seconds: { type: 'string' },
    warm: { type: 'string' },
    start: { type: 'string' },
    quiet: { type: 'string' },
    quick: { type: 'boolean', default: false },
    latency: { type: 'boolean', default: false },
    hot: { type: 'boolean', default: false },
    cold: { type: 'boolean', default: false },
    growth: { type: 'boolean', default: false },
    resume: { type: 'boolean', default: false },
    report: { type: 'boolean', default: false },
  },
});

const number = (text: string | undefined, fallback: number): number => (text === undefined ? fallback : Number(text));
const rounds = number(values.rounds, values.quick ? 1 : 3);
const timing: Timing = {
  seconds: number(values.seconds, values.quick ? 0.8 : 1.5),
  warm: number(values.warm, values.quick ? 0.6 : 1),
  start: number(values.start, values.quick ? 4 : 6),
  quiet: number(values.quiet, values.quick ? Infinity : 0.15),
};
const isWhole =
  values.peers === undefined &&
  !values.latency &&
  !values.hot &&
  !values.cold &&
  !values.growth &&
  values.scenarios === undefined;
/** A part of a run that was broken off belongs to it. */
const isKept = isWhole || values.resume;
const kept = values.resume || values.report ? readResults() : undefined;
const results: Results = kept ?? { machine: machineHere(canPin), samples: [] };

// Gateways are stopped in any case; the next run may go on with --resume.
const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stopping.abort());

if (process.platform !== 'linux') throw new Error('the benchmark reads CPU time from /proc, which only Linux has');
if (!values.report) for (let round = 1; round <= rounds; round += 1) await runRound(round);
printFigures(results);
if (isKept) writeReport(results);

async function runRound(round: number): Promise<void> {
  const chosen = chosenOf(values.peers, gatewayNames);
  const scenarios = chosenOf(values.scenarios, scenarioNames);
  const wanted = (point: Point): boolean => scenarios.includes(point.scenario) && isOfSeries(point);
  const grown = chosen.filter((name) => grownGateways.includes(name));
  await runPoints(round, chosen, points.filter(wanted));
  await runPoints(round, grown, values.growth || isWhole ? growth.filter(wanted) : [], { MAX_PAGE_SIZE: '1000' });
}

/** Names separated by commas, all of them if none is given. Throws for one that is not known. */
function chosenOf<Name extends string>(text: string | undefined, known: readonly Name[]): readonly Name[] {
  const wanted = new Set<string>(text?.split(',') ?? known);
  const unknown = wanted.difference(new Set(known));
  if (unknown.size > 0) throw new Error(`unknown: ${[...unknown].join(', ')}; known are ${known.join(', ')}`);
  return known.filter((name) => wanted.has(name));
}

function isOfSeries({ series }: Point): boolean {
  const { latency, hot, cold, growth: grows } = values;
  if (!latency && !hot && !cold && !grows) return true;
  if (series === 'slow') return latency;
  if (series === 'hot') return hot;
  return series === 'cold' ? cold : grows;
}

/** Measures gateways in turn, point by point, in another order each round. */
async function runPoints(
  round: number,
  names: readonly GatewayName[],
  wanted: readonly Point[],
  environment: Readonly<Record<string, string>> = {},
): Promise<void> {
  const left = wanted.filter((point) => names.some((name) => !isMeasured(round, name, point)));
  if (left.length === 0) return;
  for (const name of names) install(gateways[name]);
  const shift = (round - 1) % names.length;
  await using bench = await startBench([...names.slice(shift), ...names.slice(0, shift)], timing, environment);
  for (const [index, point] of left.entries()) {
    for (const name of bench.names) if (!isMeasured(round, name, point)) await take(bench, round, name, point);
    console.error(
      `round ${round}: ${index + 1} of ${left.length} ${point.series} ${point.scenario} ${point.size || ''}`,
    );
    if (isKept) writeResults(results);
  }
}

async function take(bench: Bench, round: number, name: GatewayName, point: Point): Promise<void> {
  stopping.signal.throwIfAborted();
  try {
    const figures = await bench.measure(name, point);
    if (figures !== undefined) results.samples.push({ round, ...figures });
  } catch (error) {
    console.error(`${name}: ${point.series} ${point.scenario}`, error);
  }
}

function isMeasured(round: number, name: GatewayName, { series, scenario, size }: Point): boolean {
  const isIt = (sample: Sample): boolean =>
    sample.round === round &&
    sample.gateway === name &&
    sample.series === series &&
    sample.scenario === scenario &&
    sample.size === size;
  return results.samples.some(isIt);
}
