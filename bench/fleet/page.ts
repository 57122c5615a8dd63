/** The figures of docs/scaling.md and bench/README.md, and bench/fleet.json, which holds them. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { figuresAt } from '../report/lookup.ts';
import type { Machine } from '../report/machine.ts';
import type { Results } from '../report/results.ts';
import { number, table } from '../report/text.ts';
import { scenarioTitles } from '../scenarios/names.ts';
import type { FleetFigures } from './live.ts';
import type { FleetSize, Sharing } from './plan.ts';

/** The measurements of the fleet. */
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

/** The pages with figures. */
export const pages = ['../../docs/scaling.md', '../README.md'].map((page) => new URL(page, import.meta.url));

/** Writes the figures of the pages. */
export function writeFigures(fleet: Fleet, results: Results): void {
  for (const page of pages) writeFileSync(page, withFigures(readFileSync(page, 'utf8'), fleet, results));
}

const titles: Readonly<Record<Sharing, string>> = {
  both: 'budget and cache',
  budget: 'only the budget',
  none: 'nothing',
};

/** The table of all cases. */
export function fleetTable({ size, figures }: Fleet): string {
  const head = [
    'Simulated',
    'Operations',
    'Refused',
    'REST calls',
    `REST calls in the busiest minute (limit ${number(size.limit.calls)})`,
  ];
  return table(
    head,
    figures.map((one) => rowOf(one, size)),
  );
}

function rowOf(one: FleetFigures, { outage }: FleetSize): readonly string[] {
  const away = one.hasOutage ? `. Redis is down for ${outage.to - outage.from} s` : '';
  const title = one.gateways === 1 ? '1 gateway' : `${one.gateways} gateways that share ${titles[one.sharing]}`;
  return [
    `${title}${away}`,
    number(one.operations),
    percent(one.refused / one.operations),
    number(one.calls),
    number(one.mostCalls),
  ];
}

/** The page with the figures of these results in place of those that it had. */
export function withFigures(before: string, fleet: Fleet, results: Results): string {
  const parts = {
    process: processOf(results),
    redis: paceOf(fleet),
    fleet: `${fleetTable(fleet)}\n\n${notesOf(fleet)}`,
  };
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
  return `${table(
    [
      'Operation',
      'Operations a second, if each reads other objects',
      'Operations a second, if all read the same objects',
    ],
    rows,
  )}

Measured on one core of ${machine.processor} at commit ${machine.commit}, over loopback. The REST API of the test answers at once. The
process used at most ${number(memory)} MiB of memory.`;
}

/** The operations a second that one Redis serves. */
function paceOf({ figures }: Fleet): string {
  const largest = figures.findLast(({ sharing, hasOutage }) => sharing === 'both' && !hasOutage);
  if (largest === undefined) throw new Error('expected a case with one Redis');
  const each = (1000 * largest.redisMs) / largest.operations;
  return `One Redis serves about ${number(Math.round(1e4 / each) * 100)} operations a second. Each takes ${number(each)} µs of CPU time in Redis.`;
}

/** The facts beside the table. */
function notesOf(fleet: Fleet): string {
  const { machine, size } = fleet;
  return `- ${outageOf(fleet)}
- Each row is a run of ${number(size.seconds)} seconds, measured on ${machine.date} on ${machine.processor} with ${machine.cores} cores.`;
}

/** The facts of an outage. */
function outageOf({ figures, size }: Fleet): string {
  const one = figures.find(({ hasOutage }) => hasOutage);
  if (one === undefined) throw new Error('expected a case with an outage');
  const refused = percent(one.refusedInOutage / one.operationsInOutage);
  const part = Math.max(1, Math.floor(size.limit.calls / one.gateways));
  return `While Redis was down, the gateways refused ${refused} of all operations. Each could then make only ${part} of the ${size.limit.calls} REST calls
  a minute.`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;
}
