/**
 * Measures the cost of 50 gateways with one budget and one cache, and finds what breaks first: see bench/fleet/. Needs
 * `redis-server`. A whole run writes bench/fleet.json, and the figures of docs/scaling.md and bench/README.md.
 *
 *   npm run bench:fleet               about 9 minutes
 *   npm run bench:fleet -- --quick    some seconds; printed only
 *   npm run bench:fleet -- --report   the tables once more from fleet.json
 */
import { parseArgs } from 'node:util';
import { type FleetFigures, liveFleet } from './fleet/live.ts';
import { type Fleet, fleetTable, readFleet, writeFigures, writeFleet } from './fleet/page.ts';
import { smallFleet, wholeCases, wholeFleet } from './fleet/plan.ts';
import { machineHere } from './report/machine.ts';
import { readResults } from './report/results.ts';

const { values } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, report: { type: 'boolean', default: false } },
});
const size = values.quick ? smallFleet : wholeFleet;
const cases = values.quick ? wholeCases.map((one) => ({ ...one, gateways: Math.min(one.gateways, 3) })) : wholeCases;

if (!values.report) {
  const figures: FleetFigures[] = [];
  for (const one of cases) {
    figures.push(await liveFleet(size, one));
    console.log(JSON.stringify(figures.at(-1)));
  }
  const fleet: Fleet = { machine: machineHere(false), size, figures };
  console.log(fleetTable(fleet));
  if (!values.quick) writeFleet(fleet);
}
if (!values.quick) {
  const [fleet, results] = [readFleet(), readResults()];
  if (fleet === undefined || results === undefined) throw new Error('expected bench/fleet.json and bench/results.json');
  writeFigures(fleet, results);
}
