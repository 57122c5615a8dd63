/** The recorded numbers of REST calls, bench/calls.json: by scenario, by gateway. */
import { readFileSync, writeFileSync } from 'node:fs';
import { type GatewayName, gatewayNames } from '../gateways/table.ts';
import { type ScenarioName, scenarioNames } from '../scenarios/names.ts';

/** REST calls of one operation. */
export type CallCounts = Partial<Record<ScenarioName, Partial<Record<GatewayName, number>>>>;

const file = new URL('../calls.json', import.meta.url);

/** The counts that were recorded last. */
export function readCallCounts(): CallCounts {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `writeCallCounts`
  return JSON.parse(readFileSync(file, 'utf8')) as CallCounts;
}

/** Records counts for the next time, gateways in the order of the tables. */
export function writeCallCounts(counts: CallCounts): void {
  const sorted = scenarioNames.map((scenario) => {
    const ofScenario = counts[scenario] ?? {};
    return [scenario, Object.fromEntries(gatewayNames.map((name) => [name, ofScenario[name]]))];
  });
  writeFileSync(file, `${JSON.stringify(Object.fromEntries(sorted), undefined, 2)}\n`);
}
