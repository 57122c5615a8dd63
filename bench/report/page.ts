/** RESULTS.md. */
import { type GatewayName, gatewayNames, gateways } from '../gateways/table.ts';
import { firstHundred, firstRequest, slowMs, started, usualConcurrency } from '../measure/points.ts';
import { type ScenarioName, scenarioNames, scenarioTitles } from '../scenarios/names.ts';
import type { CallCounts } from './call-counts.ts';
import { growthSection } from './growth.ts';
import { cpuRatio, figuresAt } from './lookup.ts';
import { type Figures, figuresOf, type Results, type Sample } from './results.ts';
import { number, ratio, table } from './text.ts';

const basic = scenarioNames.filter((name) => /^S\d$/.test(name));
const others = scenarioNames.filter((name) => !basic.includes(name));

/** The page that tells what was measured. */
export function pageOf(results: Results, calls: CallCounts): string {
  const sections = [
    introduction(results),
    `## CPU time of an operation\n\nMicroseconds, the spread over the rounds, and in brackets how many times the floor's median it is.\n\n${cpuTable(results, basic)}\n\n${cpuTable(results, others)}`,
    `This gateway's CPU time as a share of others':\n\n${shares(results, 'distinct', scenarioNames)}`,
    `## Operations a second, and how long one takes\n\n${usualConcurrency} at a time: operations a second (milliseconds of half of them / of 99 in 100, at most).\n\n${paceTable(results, 'distinct', basic)}`,
    `## The same objects again and again\n\nEvery operation asks for the same: CPU time, and REST calls an operation where operations share them.\n\n${hotTable(results)}\n\nThis gateway's CPU time as a share of others':\n\n${shares(results, 'hot', basic)}`,
    `## A slow upstream\n\nEach REST call takes ${slowMs} ms: operations a second (milliseconds of half / of 99 in 100).\n\n${paceTable(results, 'slow', basic)}`,
    `## Cold\n\n${coldIntroduction}\n\n${coldTable(results)}`,
    `## REST calls of one operation\n\nRecorded by \`node bench/calls.ts\`, which compares the answers too; a test holds this gateway to its numbers.\n\n${callTable(calls)}`,
    `## Memory\n\nThe most that a gateway's processes held during all of the above, in MiB.\n\n${memoryTable(results)}`,
    growthSection(results),
    `## What each operation asks for\n\n${titles()}`,
    `## Versions\n\n${versions(results)}`,
  ];
  return `${sections.join('\n\n')}\n`;
}

function introduction({ machine, samples }: Results): string {
  const foreign = samples.map((sample) => sample.foreign);
  const places = Map.groupBy(samples.filter(isInChart), ({ gateway, scenario }) => `${gateway} ${scenario}`);
  const spreads = [...places.values()].map((some) => figuresOf(some)?.spread ?? 0);
  return `# What the gateway costs, beside its peers

<!-- Written by bench/run.ts. -->

Commit ${machine.commit}, measured on ${machine.date}, Node ${machine.node} for every gateway that runs on Node: ${machine.processor}, ${machine.cores} cores, ${machine.memoryGiB} GiB,
${machine.system}. Medians of ${roundsOf(samples)}; half of the CPU times of S1 to S6
lie within ± ${percent(middle(spreads))} of theirs, all within ± ${percent(Math.max(0, ...spreads))}. Other processes used ${number(middle(foreign))} of a core during half of the runs.${busyNote(middle(foreign))}${absenceNote(samples)}

![CPU time of an operation](chart.svg)

One process a gateway${machine.pinned ? ', on a core of its own; the upstream and the load share another' : ''}. In each round
every gateway in turn is started, warmed with several operations until its code is compiled and its heap is steady, and once
more before each run. ${usualConcurrency} operations are asked at a time over loopback, without TLS, each for other objects than those
before it, and the upstream answers at once unless said otherwise. This gateway runs as \`npm start\` runs it: every limit on, the log at \`info\`, metrics on. The floor is a
server written by hand for these operations alone: \`node:http\` and undici's \`dispatch\`, no GraphQL, exactly the needed
REST calls. The peers ask for the same facts, in the best way that their documentation gives; their code is in
[peers/](peers/). \`npm run bench\` repeats it all.`;
}

/** Something to say if the machine had other work: a core that others use loses what its caches hold. */
function busyNote(foreign: number): string {
  if (foreign < 0.06) return '';
  return `

**The machine was busy.** CPU times are higher than on a quiet one, and times by the clock mean little; what can be trusted are
ratios of gateways, within the spread.`;
}

function absenceNote(samples: Results['samples']): string {
  const absent = gatewayNames.filter((name) => samples.every(({ gateway }) => gateway !== name));
  return absent.length === 0 ? '' : `\n\nNot measured here: ${absent.map((name) => gateways[name].title).join(', ')}.`;
}

function isInChart({ series, scenario }: Sample): boolean {
  return series === 'distinct' && basic.includes(scenario);
}

function middle(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}

/** The number of rounds, which may be higher for the points in the chart than for all others. */
function roundsOf(samples: Results['samples']): string {
  const [inChart, elsewhere] = [samples.filter(isInChart), samples.filter((sample) => !isInChart(sample))].map(
    lastRound,
  );
  return inChart === elsewhere ? `${inChart} rounds` : `${inChart} rounds of S1 to S6, and of ${elsewhere} of all else`;
}

function lastRound(samples: Results['samples']): number {
  return Math.max(...samples.map(({ round }) => round), 0);
}

type Series = 'distinct' | 'hot' | 'slow';

function rowsOf(results: Results, series: Series, scenarios: readonly ScenarioName[], cell: Cell): string {
  const rows = gatewayNames.map((gateway) => {
    const cells = scenarios.map((scenario) => {
      const figures = figuresAt(results, { gateway, series, scenario });
      return figures === undefined ? '–' : cell(figures);
    });
    return [gatewayTitle(gateway), ...cells];
  });
  return table(['', ...scenarios], rows);
}

type Cell = (figures: Figures) => string;

function gatewayTitle(name: GatewayName): string {
  return name === 'ours' ? `**${gateways.ours.title}**` : gateways[name].title;
}

function cpuTable(results: Results, scenarios: readonly ScenarioName[]): string {
  const cell: Cell = (figures) =>
    `${number(figures.cpu)}${spreadOf(figures)} (${ratio(cpuRatio(results, figures, 'floor'))})`;
  return rowsOf(results, 'distinct', scenarios, cell);
}

/** Nothing if there was one round. */
function spreadOf({ spread }: Figures): string {
  return spread === 0 ? '' : ` ± ${percent(spread)}`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}

function paceTable(results: Results, series: Series, scenarios: readonly ScenarioName[]): string {
  const cell: Cell = ({ operationsPerSecond, p50, p99 }) =>
    `${number(operationsPerSecond)} (${number(p50)} / ${number(p99)})`;
  return rowsOf(results, series, scenarios, cell);
}

function hotTable(results: Results): string {
  return rowsOf(results, 'hot', basic, ({ cpu, calls }) => `${number(cpu)} (${number(calls)})`);
}

function shares(results: Results, series: Series, scenarios: readonly ScenarioName[]): string {
  const bases = gatewayNames.filter((name) => name !== 'ours');
  const rows = scenarios.map((scenario) => [
    scenario,
    ...bases.map((base) => ratio(cpuRatio(results, { gateway: 'ours', series, scenario }, base))),
  ]);
  return table(['', ...bases], rows);
}

function callTable(calls: CallCounts): string {
  const rows = scenarioNames.map((scenario) => [
    scenario,
    ...gatewayNames.map((name) => `${calls[scenario]?.[name] ?? '–'}`),
  ]);
  return table(['', ...gatewayNames], rows);
}

const coldIntroduction = `A process that has just been started: the time from its start to its first answer, the CPU time until then and the memory
held then; the first S2; and the hundred after it, one by one. This gateway finds the code that an earlier start has compiled.`;

function coldTable(results: Results): string {
  const rows = gatewayNames.map((gateway) => {
    const at = (point: Pick<Sample, 'series' | 'scenario'>): Figures | undefined =>
      figuresAt(results, { gateway, series: point.series, scenario: point.scenario });
    const [start, first, hundred] = [at(started), at(firstRequest), at(firstHundred)];
    const cells = [start?.p50, start && start.cpu / 1000, start?.memory, first?.p50, hundred?.p50, hundred?.p99];
    return [gatewayTitle(gateway), ...cells.map((value) => number(value ?? NaN)), number(hundred?.cpu ?? NaN)];
  });
  const head = [
    'start, ms',
    'its CPU, ms',
    'its MiB',
    'first, ms',
    'half of 100, ms',
    '99 of 100, ms',
    'CPU of each, µs',
  ];
  return table(['', ...head], rows);
}

function memoryTable({ samples }: Results): string {
  const peak = (name: GatewayName): number =>
    Math.max(...samples.filter((sample) => sample.gateway === name && sample.size === 0).map(({ memory }) => memory));
  return table([...gatewayNames], [gatewayNames.map((name) => number(peak(name)))]);
}

function titles(): string {
  return scenarioNames.map((name) => `- \`${name}\`: ${scenarioTitles[name].replace(`${name}: `, '')}`).join('\n');
}

function versions({ machine, samples }: Results): string {
  const ran = new Set(samples.map(({ gateway }) => gateway));
  const note = (name: GatewayName): string => (ran.has(name) ? '' : ' (did not run here)');
  return gatewayNames.map((name) => `- ${gateways[name].title}${note(name)}: ${machine.versions[name]}`).join('\n');
}
