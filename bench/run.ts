/**
 * The benchmark: this gateway and its peers over one upstream. It needs Linux, and npm if a peer is not installed yet. A
 * whole run writes bench/results.json as it goes, and from it bench/RESULTS.md and bench/chart.svg.
 *
 *   npm run bench                      three rounds, about 50 minutes
 *   npm run bench -- --quick           one short round, about 10 minutes
 *   npm run bench -- --resume          goes on with a run that was broken off; with the options below only with that part of it
 *   npm run bench -- --scenarios S2,S3 --peers ours,tailcall --series distinct,hot --rounds 2
 *                                      a part of it; printed, and nothing is written
 *   npm run bench -- --report          RESULTS.md and chart.svg once more from results.json
 *
 * The series are distinct, hot, slow, rows, fanOut and concurrency (see measure/points.ts). More options: --seconds for the
 * length of a run, --warm and --start for the CPU seconds of the warm-up before it and of that of a new process; --quiet
 * for how many CPUs others may use during a run that is not repeated.
 *
 * TAILCALL_LIBS names a folder with a glibc of 2.39 or newer and its loader, for Tailcall on an older system.
 */
import { parseArgs } from 'node:util';
import { createAgreement } from './gateways/agreement.ts';
import { install } from './gateways/running.ts';
import { type GatewayName, gatewayNames, gateways } from './gateways/table.ts';
import { canPin, startBench, type Timing } from './measure/bench.ts';
import { grownGateways, growth, type Point, points } from './measure/points.ts';
import { machineHere } from './report/machine.ts';
import { printFigures, writeReport } from './report/report.ts';
import { type Results, readResults, type Sample, writeResults } from './report/results.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string' },
    scenarios: { type: 'string' },
    peers: { type: 'string' },
    series: { type: 'string' },
    seconds: { type: 'string' },
    warm: { type: 'string' },
    start: { type: 'string' },
    quiet: { type: 'string' },
    quick: { type: 'boolean', default: false },
    resume: { type: 'boolean', default: false },
    report: { type: 'boolean', default: false },
  },
});

const number = (text: string | undefined, fallback: number): number => (text === undefined ? fallback : Number(text));
const rounds = number(values.rounds, values.quick ? 1 : 3);
const timing: Timing = {
  seconds: number(values.seconds, values.quick ? 0.8 : 2),
  warm: number(values.warm, values.quick ? 0.6 : 1.5),
  start: number(values.start, values.quick ? 4 : 6),
  quiet: number(values.quiet, values.quick ? Infinity : 0.06),
};
const isWhole = values.peers === undefined && values.series === undefined && values.scenarios === undefined;
/** A part of a run that was broken off belongs to it. */
const isKept = isWhole || values.resume;
const kept = values.resume || values.report ? readResults() : undefined;
const results: Results = kept ?? { machine: machineHere(canPin), samples: [] };
const agreement = createAgreement();

const all = [...points, ...growth];
const peers = chosenOf(values.peers, gatewayNames);
const series = chosenOf(values.series, [...new Set(all.map((point) => point.series))]);
const scenarios = chosenOf(values.scenarios, [...new Set(all.map((point) => point.scenario))]);

// Gateways are stopped in any case; the next run may go on with --resume.
const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stopping.abort());

if (process.platform !== 'linux') throw new Error('the benchmark reads CPU time from /proc, which only Linux has');
if (!values.report) for (let round = 1; round <= rounds; round += 1) await runRound(round);
printFigures(results);
if (isKept) writeReport(results);

/** Measures each gateway by itself, in another order each round, so that what the machine does meanwhile meets them all. */
async function runRound(round: number): Promise<void> {
  const shift = (round - 1) % peers.length;
  for (const name of [...peers.slice(shift), ...peers.slice(0, shift)]) {
    await runPoints(round, name, points);
    if (grownGateways.includes(name)) await runPoints(round, name, growth, { MAX_PAGE_SIZE: '1000' });
  }
}

/** Names separated by commas, all of them if none is given. Throws for one that is not known. */
function chosenOf<Name extends string>(text: string | undefined, known: readonly Name[]): readonly Name[] {
  const wanted = new Set<string>(text?.split(',') ?? known);
  const unknown = wanted.difference(new Set(known));
  if (unknown.size > 0) throw new Error(`unknown: ${[...unknown].join(', ')}; known are ${known.join(', ')}`);
  return known.filter((name) => wanted.has(name));
}

/** Measures a gateway, in a process of its own, at those of the points that are wanted and not yet measured. */
async function runPoints(
  round: number,
  name: GatewayName,
  some: readonly Point[],
  environment: Readonly<Record<string, string>> = {},
): Promise<void> {
  const isWanted = (point: Point): boolean => series.includes(point.series) && scenarios.includes(point.scenario);
  const left = some.filter((point) => isWanted(point) && !isMeasured({ ...point, round, gateway: name }));
  if (left.length === 0) return;
  stopping.signal.throwIfAborted();
  install(gateways[name]);
  try {
    await using bench = await startBench(name, agreement, timing, environment);
    const cold = bench.cold.map((figures) => ({ ...figures, round }));
    results.samples.push(...cold.filter((sample) => !isMeasured(sample)));
    for (const point of left) {
      stopping.signal.throwIfAborted();
      const figures = await bench.measure(point);
      if (figures !== undefined) results.samples.push({ ...figures, round });
    }
  } catch (error) {
    console.error(`${name}:`, error);
  }
  console.error(`round ${round} of ${rounds}: ${name}, ${left.length} points`);
  if (isKept) writeResults(results);
}

function isMeasured(one: Pick<Sample, 'round' | 'gateway' | 'series' | 'scenario' | 'size'>): boolean {
  const isIt = (sample: Sample): boolean =>
    sample.round === one.round &&
    sample.gateway === one.gateway &&
    sample.series === one.series &&
    sample.scenario === one.scenario &&
    sample.size === one.size;
  return results.samples.some(isIt);
}
