/** What the benchmark runs on. */
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, release, totalmem, type } from 'node:os';
import { type GatewayName, gatewayNames, gateways } from '../gateways/table.ts';

/** The machine, the day, and the versions of what is measured. */
export interface Machine {
  readonly date: string;
  readonly processor: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly system: string;
  readonly node: string;
  /** Whether gateways have a core of their own. */
  readonly pinned: boolean;
  readonly versions: Readonly<Partial<Record<GatewayName, string>>>;
}

/** The machine that this process runs on. */
export function machineHere(pinned: boolean): Machine {
  return {
    date: new Date().toISOString().slice(0, 10),
    processor: cpus()[0]?.model ?? 'unknown processor',
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()}`,
    node: process.versions.node,
    pinned,
    versions: Object.fromEntries(gatewayNames.map((name) => [name, versionsOf(name)])),
  };
}

/** The packages that a gateway's own package.json names, with their versions. */
function versionsOf(name: GatewayName): string {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- package.json of this repository
  const { dependencies } = JSON.parse(readFileSync(`${gateways[name].folder}/package.json`, 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  const told = name === 'ours' ? ['graphql', 'graphql-yoga', 'graphql-jit', 'undici'] : Object.keys(dependencies);
  return told.map((dependency) => `${dependency} ${dependencies[dependency]}`).join(', ');
}
