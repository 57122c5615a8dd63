/** bench/economy.json: what was measured. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Machine } from '../report/machine.ts';
import type { ContenderName } from './contenders.ts';
import type { DaySize } from './day.ts';
import type { Figures } from './record.ts';

/** The days that were lived, all of one size. */
export interface Economy {
  readonly machine: Machine;
  readonly day: DaySize;
  readonly figures: Partial<Record<ContenderName, Figures>>;
  /** Why a contender has no figures. */
  readonly missing: Partial<Record<ContenderName, string>>;
}

const path = new URL('../economy.json', import.meta.url);

/** The last results; undefined if there are none. */
export function readEconomy(): Economy | undefined {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `writeEconomy`
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Economy) : undefined;
}

/** Keeps results. */
export function writeEconomy(economy: Economy): void {
  writeFileSync(path, `${JSON.stringify(economy, null, 2)}\n`);
}
