/** The machine that the benchmark runs on. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, release, totalmem, type } from 'node:os';
import { type GatewayName, gatewayNames, gateways, root } from '../gateways/table.ts';

/** The machine, the day, and the versions of what is measured. */
export interface Machine {
  readonly date: string;
  /** The commit of this gateway, with a `+` if its code was changed since. */
  readonly commit: string;
  readonly processor: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly system: string;
  readonly node: string;
  /** True if gateways have a core of their own. */
  readonly pinned: boolean;
  readonly versions: Readonly<Partial<Record<GatewayName, string>>>;
}

/** The machine that this process runs on. */
export function machineHere(pinned: boolean): Machine {
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: commitHere(),
    processor: cpus()[0]?.model ?? 'unknown processor',
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()}`,
    node: process.versions.node,
    pinned,
    versions: Object.fromEntries(gatewayNames.map((name) => [name, versionsOf(name)])),
  };
}

function commitHere(): string {
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  const isChanged = git('status', '--porcelain', '--', 'src', 'schema', 'package-lock.json') !== '';
  return `${git('rev-parse', '--short', 'HEAD')}${isChanged ? '+' : ''}`;
}

/** The packages that a gateway's own package.json names, with their versions. */
function versionsOf(name: GatewayName): string {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- package.json of this repository
  const { dependencies } = JSON.parse(readFileSync(`${gateways[name].folder}/package.json`, 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  const told = name === 'ours' ? ['graphql', 'graphql-yoga', 'graphql-jit'] : Object.keys(dependencies);
  return told.map((dependency) => `${dependency} ${dependencies[dependency]}`).join(', ');
}
