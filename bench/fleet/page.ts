/** The figures of docs/scaling.md, and bench/fleet.json, which holds them. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { figuresAt } from '../report/lookup.ts';
import type { Machine } from '../report/machine.ts';
import type { Results } from '../report/results.ts';
import { number, table } from '../report/text.ts';
import { scenarioTitles } from '../scenarios/names.ts';
import type { FleetFigures } from './live.ts';
import type { FleetSize, Sharing } from './plan.ts';

/** What was measured. */
export interface Fleet {
  readonly machine: Machine;
  readonly size: FleetSize;
  readonly figures: readonly FleetFigures[];
}

const path = new URL('../fleet.json', import.meta.url);

/** The last results; undefined if there are none. */
export function readFleet(): Fleet | undefined {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `writeFleet`
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Fleet) : undefined;
}

/** Keeps results. */
export function writeFleet(fleet: Fleet): void {
  writeFileSync(path, `${JSON.stringify(fleet, null, 2)}\n`);
}

const page = new URL('../../docs/scaling.md', import.meta.url);

/** Writes the figures of docs/scaling.md. */
export function writeScaling(fleet: Fleet, results: Results): void {
  writeFileSync(page, withFigures(readFileSync(page, 'utf8'), fleet, results));
}

const titles: Readonly<Record<Sharing, string>> = {
  both: 'budget and cache',
  budget: 'the budget',
  none: 'nothing',
};

/** The table of all cases. */
export function fleetTable({ size, figures }: Fleet): string {
  const head = [
    'Gateways and what they share',
    'operations',
    'refused',
    'REST calls',
    `in the busiest minute (limit ${number(size.limit.calls)})`,
    'calls saved by sharing',
    'commands a second',
  ];
  return table(
    head,
    figures.map((one) => rowOf(one, size)),
  );
}

function rowOf(one: FleetFigures, { seconds, outage }: FleetSize): readonly string[] {
  const away = one.hasOutage ? `, Redis is killed for ${outage.to - outage.from} s` : '';
  const inRedis = (text: string): string => (one.sharing === 'none' ? '–' : text);
  return [
    `${one.gateways}: ${titles[one.sharing]}${away}`,
    number(one.operations),
    percent(one.refused / one.operations),
    number(one.calls),
    number(one.mostCalls),
    inRedis(number(one.found)),
    inRedis(number(one.commands / seconds)),
  ];
}

/** The page with the figures of these results in place of those that it had. */
export function withFigures(before: string, fleet: Fleet, results: Results): string {
  const parts = { process: processOf(results), fleet: `${fleetTable(fleet)}\n\n${notesOf(fleet)}` };
  return Object.entries(parts).reduce(
    (text, [name, part]) =>
      text.replace(
        new RegExp(`(<!-- ${name}:[^>]*-->\n).*?(<!-- end -->)`, 's'),
        (_, from: string, to: string) => `${from}${part}\n${to}`,
      ),
    before,
  );
}

/** The operations a second that one process answers, each for other objects than before and all for the same. */
function processOf(results: Results): string {
  const rows = (['S1', 'S2', 'S3', 'S5'] as const).map((scenario) => {
    const pace = (series: 'distinct' | 'hot'): string =>
      number(figuresAt(results, { gateway: 'ours', series, scenario })?.operationsPerSecond ?? Number.NaN);
    const [, asked = ''] = /: (.*)$/.exec(scenarioTitles[scenario]) ?? [];
    return [asked, pace('distinct'), pace('hot')];
  });
  const { machine, samples } = results;
  const own = samples.filter(({ gateway, size }) => gateway === 'ours' && size === 0);
  const memory = Math.max(...own.map((sample) => sample.memory));
  return `${table(['Operation', 'operations a second for different objects', 'operations a second for the same object'], rows)}

One core of ${machine.processor} at commit ${machine.commit}, over loopback, and an upstream that answers at once. The process held at most
${number(memory)} MiB. [RESULTS.md](../bench/RESULTS.md) has the spread.`;
}

/** The facts beside the table. */
function notesOf(fleet: Fleet): string {
  const { machine, figures, size } = fleet;
  const largest = figures.findLast(({ sharing, hasOutage }) => sharing === 'both' && !hasOutage);
  if (largest === undefined) throw new Error('expected a case with one Redis');
  const commands = largest.commands / largest.operations;
  const each = (1000 * largest.redisMs) / largest.operations;
  const kibibytes = Math.max(...figures.map(({ redisBytes }) => redisBytes)) / 1024;
  return `- An operation takes ${number(commands)} commands and ${number(each)} µs of Redis. So one Redis carries some ${number(Math.round(1e4 / each) * 100)} a second.
- Redis held at most ${number(kibibytes)} KiB.
- ${outageOf(fleet)}
- Measured on ${machine.date}: ${machine.processor}, ${machine.cores} cores, ${number(size.seconds)} seconds each. The machine was busy: with
  ${largest.gateways} gateways, Redis answered too late ${number(largest.losses)} times. An operation then counts as during an outage.`;
}

/** The facts of an outage. */
function outageOf({ figures, size }: Fleet): string {
  const one = figures.find(({ hasOutage }) => hasOutage);
  if (one === undefined) throw new Error('expected a case with an outage');
  const { operationsInOutage: asked, refusedInOutage: refused } = one;
  const part = Math.max(1, Math.floor(size.limit.calls / one.gateways));
  return `In the seconds without Redis, ${number(refused)} of ${number(asked)} operations were refused (${percent(refused / asked)}). Each gateway then had
  ${part} of the ${size.limit.calls} calls a minute.`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;
}
