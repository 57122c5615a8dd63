/**
 * Counts the calls of a team's key in a day, with and without gateways: see bench/economy/. A whole run writes
 * bench/economy.json and bench/ECONOMY.md.
 *
 *   node bench/economy.ts                          about 4 minutes for each way to the service
 *   node bench/economy.ts --contenders both,direct a part of it; the others keep what was measured before
 *   node bench/economy.ts --quick                  a few seconds each; printed only
 *   node bench/economy.ts --together 3             so many ways side by side: none needs more than a fifth of a core
 *   node bench/economy.ts --report                 ECONOMY.md once more from economy.json
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type ContenderName, contenderNames, contenders } from './economy/contenders.ts';
import { planDay, smallDay, wholeDay } from './economy/day.ts';
import { economyPageOf, economyTable } from './economy/page.ts';
import { replay } from './economy/replay.ts';
import { type Economy, readEconomy, writeEconomy } from './economy/results.ts';
import { install } from './gateways/running.ts';
import { gateways } from './gateways/table.ts';
import { machineHere } from './report/machine.ts';

const { values } = parseArgs({
  options: {
    contenders: { type: 'string' },
    together: { type: 'string', default: '1' },
    quick: { type: 'boolean', default: false },
    report: { type: 'boolean', default: false },
  },
});
const chosen = values.contenders?.split(',') ?? contenderNames;
const size = values.quick ? smallDay : wholeDay;
const before = values.quick ? undefined : readEconomy();
const economy: Economy = {
  machine: machineHere(false),
  day: size,
  figures: { ...before?.figures },
  missing: { ...before?.missing },
};

if (!values.report) {
  const left = contenderNames.filter((name) => chosen.includes(name));
  const work = async (): Promise<void> => {
    for (let name = left.shift(); name !== undefined; name = left.shift()) await measure(name);
  };
  await Promise.all(Array.from({ length: Number(values.together) }, work));
}
if (!values.quick) {
  if (!values.report) writeEconomy(economy);
  writeFileSync(new URL('ECONOMY.md', import.meta.url), economyPageOf(readEconomy() ?? economy));
}

async function measure(name: ContenderName): Promise<void> {
  try {
    if (name === 'tailcall' || name === 'hive') install(gateways[name]);
    economy.figures[name] = await replay(name, planDay(size));
    delete economy.missing[name];
  } catch (error) {
    // A peer that cannot run here is told of, and left out.
    if (name !== 'tailcall' && name !== 'hive') throw error;
    economy.missing[name] = String(error).split('\n')[0] ?? '';
    console.error(error);
  }
  console.log(`${contenders[name].title}: ${JSON.stringify(economy.figures[name])}`);
  if (!values.quick) writeEconomy(economy);
  else console.log(economyTable(economy));
}
